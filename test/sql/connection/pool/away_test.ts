import { expect, test } from "bun:test";
import net from "node:net";
import { withTimeout } from "../../../../shared/process/with_timeout.ts";
import { isConnectionError, openPool } from "../../../../sql/connection/pool.ts";

/** Number of concurrent queries, far more than the pool's connections. */
const WAITING = 200;
/** Encodes a message of PostgreSQL's wire protocol. */
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

/** Starts a server that passes each connection and its number (from 1) to `serve` after the client's startup message. */
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

test("fails all waiting queries after one failed attempt to connect", async () => {
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
  // Each connection makes one attempt, and may start another before the first failure is reported.
  expect(tries).toBeLessThanOrEqual(4);
  await sql.end({ timeout: 1 });
  server.close();
});

/** Starts a server that crashes during the first query of its first connection and never finishes recovery. */
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

// By default, the driver would first query the array types on a new connection, and would not report a failure of that query.
test("rejects a query, without ending the process, if the server crashes during a new connection's first query", async () => {
  const server = await openCrashingServer();
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const ask = () => sql`select 1`.catch((thrown: { code?: string }) => thrown.code);
  expect([await ask(), await ask(), await ask()]).toEqual(["CONNECTION_CLOSED", "57P03", "57P03"]);
  await sql.end({ timeout: 1 });
  server.close();
});

/** Encodes the response to a statement without rows. `state` is the transaction status: I for idle, T for in a transaction. */
function done(command: string, state: "I" | "T"): Buffer {
  return Buffer.concat([
    ...["1", "n", "2"].map((kind) => message(kind, Buffer.alloc(0))),
    message("C", Buffer.from(`${command}\0`)),
    message("Z", Buffer.from(state)),
  ]);
}

/**
 * Starts a server that returns no rows for any statement and adds each statement to `statements`. It resets the first
 * connection at the statement that contains "lost".
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

test("sends no statement of a transaction with a lost connection over the pool's next connection", async () => {
  const statements: string[] = [];
  const server = await openResettingServer(statements);
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const gone = Promise.withResolvers<void>();
  const late: unknown[] = [];
  const transaction = sql.begin(async (tx) => {
    const lost = await tx`select 'lost'`.catch((error: unknown) => error);
    // Simulates code that awaits another operation before its next statement.
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

test("rejects queries on a reserved connection that was lost", async () => {
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

test("rejects only the query whose connection the server closed, with the server's error", async () => {
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

test("uses the first available host", async () => {
  const server = await openResettingServer([]);
  const url = server.url.replace("127.0.0.1", "127.0.0.2,127.0.0.1");
  const sql = openPool(url, { applicationName: "test", max: 1 });
  expect([...(await sql`select 1`)]).toEqual([]);
  await sql.end({ timeout: 1 });
  server.close();
});

test("fails a query at once if all hosts are unavailable", async () => {
  const server = await openResettingServer([]);
  const hosts = "127.0.0.2,127.0.0.3,127.0.0.1";
  const sql = openPool(server.url.replace("127.0.0.1", hosts), { applicationName: "test", max: 1 });
  server.close();
  for (const _ of hosts.split(",")) {
    expect(await sql`select 1`.catch((error: unknown) => isConnectionError(error))).toBe(true);
  }
  await sql.end({ timeout: 1 });
});
