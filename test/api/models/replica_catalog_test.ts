/** The catalogue of a process that has a streaming replica to read from. */
import { expect, test } from "bun:test";
import { openCatalogMemory } from "../../../api/models/catalog_memory.ts";
import { openPool, type Pool } from "../../../sql/pool.ts";
import { openTestApp, type TestApp } from "../../helpers/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/catalog.ts";
import { openReplicatedServer } from "../../helpers/replicated_server.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const PATH = "/api/v1/models/acme/m1";

function priced(input: number) {
  return documentSource(makeDocument({ acme: { m1: { cost: { input, output: 9 } } } }));
}

async function readPrice(app: TestApp): Promise<{ etag: string | null; price: number }> {
  const response = await app.request(PATH);
  const { cost } = (await response.json()) as { cost: { input: number } };
  return { etag: response.headers.get("etag"), price: cost.input };
}

async function countChanges(app: TestApp): Promise<number> {
  const { data } = (await (await app.request("/api/v1/models/history/acme/m1")).json()) as {
    data: { total: number };
  };
  return data.total;
}

/** Whether anybody has read the table on this server; a standby counts its own readers only. */
async function isRead(sql: Pool, table: string): Promise<boolean> {
  const [row] = await sql<{ scans: number }[]>`
    select seq_scan + coalesce(idx_scan, 0) as scans from pg_stat_user_tables where relname = ${table}`;
  return (row?.scans ?? 0) > 0;
}

test("models and prices are read from the replica, and never older than they are known to be", async () => {
  await using server = await openReplicatedServer();
  await using app = await openTestApp({ servers: server });
  const { catalog, config, log } = app.deps;
  await syncFrom(app.db.sql, priced(1));
  await server.catchUp(app.db.sql);
  expect(await readPrice(app)).toMatchObject({ price: 1 });
  expect(await countChanges(app)).toBe(0);
  const replica = openPool(config.databaseReplicaUrl ?? "", { applicationName: "test", max: 1 });
  for (const table of ["models", "model_aliases", "model_providers", "model_price_changes"]) {
    await waitFor(() => isRead(replica, table), 20_000);
  }

  await server.holdReplay(true);
  await syncFrom(app.db.sql, priced(2));
  await catalog.refresh();
  const { etag, price } = await readPrice(app);
  expect([price, await countChanges(app)]).toEqual([2, 1]);
  const direct = openCatalogMemory({ sql: app.db.sql, replica: null, log });
  expect((await direct.current()).catalog.etag).toBe(etag ?? "");

  await server.stopReplica();
  await syncFrom(app.db.sql, priced(3));
  await catalog.refresh();
  expect([(await readPrice(app)).price, await countChanges(app)]).toEqual([3, 2]);
  await replica.end({ timeout: 1 });
}, 60_000);
