import { expect, test } from "bun:test";
import net from "node:net";
import { isDatabaseAway, openPool } from "../../sql/pool.ts";

/** Many more than connections. */
const WAITING = 200;
/** One after the other, with the pause between two tries, they would wait for 100 s. */
const SOON_MS = 10_000;

test("of a database that is away, all who wait are told when one try has failed", async () => {
  // Nobody listens on that port.
  const sql = openPool("postgres://postgres@127.0.0.1:1/none", { applicationName: "test", max: 2 });
  const begun = performance.now();
  const ends = await Promise.allSettled(Array.from({ length: WAITING }, () => sql`select 1`));
  expect(performance.now() - begun).toBeLessThan(SOON_MS);
  expect(ends.filter((end) => end.status === "rejected" && isDatabaseAway(end.reason))).toHaveLength(WAITING);
  await sql.end({ timeout: 1 });
});

/** A message of PostgreSQL's protocol. */
function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const LET_IN = Buffer.concat([message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))]);
const RECOVERING = message("E", Buffer.from("SFATAL\0C57P03\0Mnot yet accepting connections\0\0"));

/** A server that crashes under the first query of its first connection, and then recovers for as long as it is there. */
async function openCrashingServer(): Promise<{ url: string; close(): void }> {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    const isFirst = connections === 1;
    socket.on("error", () => {});
    socket.once("data", () => {
      if (!isFirst) {
        socket.end(RECOVERING);
        return;
      }
      socket.write(LET_IN);
      socket.once("data", () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen");
  return { url: `postgres://postgres@127.0.0.1:${address.port}/none`, close: () => server.close() };
}

// The driver asks a new connection for the types of arrays before anything else, and nobody would hear that this failed.
test("a database that crashes under a new connection ends the query that waits for it, and not the process", async () => {
  const server = await openCrashingServer();
  const sql = openPool(server.url, { applicationName: "test", max: 1 });
  const ask = () => sql`select 1`.catch((thrown: { code?: string }) => thrown.code);
  expect([await ask(), await ask(), await ask()]).toEqual(["CONNECTION_CLOSED", "57P03", "57P03"]);
  await sql.end({ timeout: 1 });
  server.close();
});
