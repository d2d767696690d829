import { expect, test } from "bun:test";
import net from "node:net";
import { withTimeout } from "../../../../shared/process/with_timeout.ts";
import { isConnectionError, openPool } from "../../../../sql/connection/pool.ts";

/** The number of waiting queries, many more than there are connections. */
const WAITING = 200;
/** A message of PostgreSQL's protocol. */
function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const LET_IN = Buffer.concat([message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))]);
const RECOVERING = message("E", Buffer.from("SFATAL\0C57P03\0Mnot yet accepting connections\0\0"));

interface FakeServer {
  url: string;
  close(): void;
}

/** Listens, and passes each connection to `serve` with its number, from 1, after the client's startup message. */
async function openFakeServer(serve: (socket: net.Socket, connection: number) => void): Promise<FakeServer> {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    const connection = connections;
    socket.on("error", () => {});
    socket.once("data", () => serve(socket, connection));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen");
  return {
    url: `postgres://postgres@127.0.0.1:${address.port}/none?sslmode=disable`,
    close: () => server.close(),
  };
}

test("all waiting queries fail when one attempt to connect has failed", async () => {
  let tries = 0;
  const server = await openFakeServer((socket) => {
    tries += 1;
    socket.end(RECOVERING);
  });
  const sql = openPool(server.url, { applicationName: "test", max: 2 });
  const ends = await Promise.allSettled(Array.from({ length: WAITING }, () => sql`select 1`));
  expect(ends.filter((end) => end.status === "rejected" && isConnectionError(end.reason))).toHaveLength(
    WAITING,
  );
  // One per connection, and one that had started meanwhile.
  expect(tries).toBeLessThanOrEqual(4);
  await sql.end({ timeout: 1 });
  server.close();
});

/** A server that crashes during the first query of its first connection and never finishes recovery. */
function openCrashingServer(): Promise<FakeServer> {
  return openFakeServer((socket, connection) => {
    if (connection > 1) {
      socket.end(RECOVERING);
      return;
    }
    socket.write(LET_IN);
    socket.once("data", () => socket.destroy());
  });
}

// The driver first asks a new connection for array types, and would not report that this failed.
test("a database that crashes under a new connection ends the query that waits for it, and not the process", async () => {
  const server = await openCrashingServer();
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const ask = () => sql`select 1`.catch((thrown: { code?: string }) => thrown.code);
  expect([await ask(), await ask(), await ask()]).toEqual(["CONNECTION_CLOSED", "57P03", "57P03"]);
  await sql.end({ timeout: 1 });
  server.close();
});

/** The response to a statement without rows; `state` says whether a transaction is open. */
function done(command: string, state: "I" | "T"): Buffer {
  return Buffer.concat([
    ...["1", "n", "2"].map((kind) => message(kind, Buffer.alloc(0))),
    message("C", Buffer.from(`${command}\0`)),
    message("Z", Buffer.from(state)),
  ]);
}

/**
 * A server that returns no rows for any statement. On its first connection, a transaction begins and the next
 * statement resets the connection. Statements are added to `statements`.
 */
function openResettingServer(statements: string[]): Promise<FakeServer> {
  return openFakeServer((socket, connection) => {
    socket.write(LET_IN);
    socket.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      statements.push(text);
      if (connection === 1 && text.includes("lost")) socket.resetAndDestroy();
      else socket.write(text.includes("begin") ? done("BEGIN", "T") : done("SELECT 0", "I"));
    });
  });
}

test("a transaction whose connection is lost sends nothing through the next one, which works", async () => {
  const statements: string[] = [];
  const server = await openResettingServer(statements);
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const gone = Promise.withResolvers<void>();
  const late: unknown[] = [];
  const transaction = sql.begin(async (tx) => {
    const lost = await tx`select 'lost'`.catch((error: unknown) => error);
    // Like code that waits for something else meanwhile.
    await gone.promise;
    late.push(await tx`select 'late'`.catch((error: { code?: string }) => error.code));
    throw lost;
  });
  await expect(transaction).rejects.toThrow();
  const next = () => withTimeout(Promise.resolve(sql`select 'next'`), 2000);
  await next();
  gone.resolve();
  await next();
  await next();
  expect(late).toEqual(["CONNECTION_CLOSED"]);
  const said = statements.join("\n");
  expect([said.includes("late"), said.includes("rollback"), said.match(/'next'/g)?.length]).toEqual([
    false,
    false,
    3,
  ]);
  await sql.end({ timeout: 1 });
  server.close();
});

test("a reserved connection that has died rejects its queries", async () => {
  const server = await openResettingServer([]);
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const connection = await sql.reserve();
  const ask = (text: string) => connection.unsafe(text).catch((thrown: { code?: string }) => thrown.code);
  expect([await ask("select 'lost'"), await ask("select 'late'")]).toEqual([
    "ECONNRESET",
    "CONNECTION_CLOSED",
  ]);
  await sql.end({ timeout: 1 });
  server.close();
});

test("a query whose server ends throws the server's reason, and the next connection forgets it", async () => {
  const server = await openFakeServer((socket, connection) => {
    socket.write(LET_IN);
    socket.on("data", () =>
      connection === 1 ? socket.end(RECOVERING) : socket.write(done("SELECT 0", "I")),
    );
  });
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const ask = () => sql`select 1`.then(String, (thrown: { code?: string }) => thrown.code);
  expect([await ask(), await ask(), await ask()]).toEqual(["57P03", "", ""]);
  await sql.end({ timeout: 1 });
  server.close();
});

test("the first available host is used", async () => {
  const server = await openResettingServer([]);
  const url = server.url.replace("127.0.0.1", "127.0.0.2,127.0.0.1");
  const sql = openPool(url, { applicationName: "test", max: 1 });
  expect([...(await sql`select 1`)]).toEqual([]);
  await sql.end({ timeout: 1 });
  server.close();
});

test("a query fails at once if all hosts are unavailable", async () => {
  const server = await openResettingServer([]);
  const hosts = "127.0.0.2,127.0.0.3,127.0.0.1";
  const sql = openPool(server.url.replace("127.0.0.1", hosts), { applicationName: "test", max: 1 });
  server.close();
  for (const _ of hosts.split(",")) {
    expect(await sql`select 1`.catch((error: unknown) => isConnectionError(error))).toBe(true);
  }
  await sql.end({ timeout: 1 });
});
