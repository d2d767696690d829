/**
 * `bun run bench http`: a read of one row with a key, against a server on Fastify and node-postgres that does the same:
 * looks the key up, asks for the row, writes JSON. Needs Node.js.
 */
import type { Command } from "../../shared/stack/bootstrap.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { createFactory } from "../helpers/factory.ts";
import { formatTable } from "./measure.ts";
import { COMPARE_HEADER, CONNECTIONS, compareLoads, compareRow, startOurs, startPeer } from "./peers.ts";

export async function benchHttp({ root }: Command, serverUrl: string): Promise<void> {
  process.env["TEST_DATABASE_URL"] = serverUrl;
  await using db = await openTestDatabase();
  const { user, key } = await createFactory(db.sql).person();
  await db.sql`vacuum analyze users, api_keys`;
  await using api = await startOurs(db.url);
  await using peer = await startPeer(root, {
    script: "http_peer.ts",
    databaseUrl: db.url,
    readyPath: "/health/ready",
  });
  const path = `/api/v1/users/${user.id}`;
  const results = await compareLoads([`${api.url}${path}`, `${peer.url}${path}`], {
    Authorization: `Bearer ${key}`,
  });
  const table = formatTable(COMPARE_HEADER, [compareRow("a user, with a key", results)]);
  process.stdout.write(
    `\n${CONNECTIONS} connections, against Fastify and node-postgres on Node.js\n\n${table}\n`,
  );
}
