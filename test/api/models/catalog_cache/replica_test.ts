/** The catalog cache of a process that reads from a streaming replica. */
import { expect, test } from "bun:test";
import { CatalogCache } from "../../../../api/models/catalog_cache.ts";
import type { Pool } from "../../../../sql/connection/pool.ts";
import { readPrimaryPosition } from "../../../../sql/connection/replica.ts";
import { decideRefusedSyncs } from "../../../../sql/models/catalog_syncs.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../../helpers/models/catalog.ts";
import { openReplicatedServer, type ReplicatedServer } from "../../../helpers/postgres/replicated_server.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const PATH = "/api/v1/models/acme/m1";

function priced(input: number) {
  return documentSource(makeDocument({ acme: { m1: { cost: { input, output: 9 } } } }));
}

async function readPrice(app: TestApp): Promise<number> {
  const { cost } = (await (await app.request(PATH)).json()) as { cost: { input: number } };
  return cost.input;
}

async function countChanges(app: TestApp): Promise<number> {
  const { data } = (await (await app.request("/api/v1/models/history/acme/m1")).json()) as {
    data: { total: number };
  };
  return data.total;
}

/**
 * Expects that `read` queries the replica: runs `read` while the table is locked on both servers, and waits until a
 * session on the replica waits for the lock.
 */
async function seenOnReplica<Result>(
  { app, server }: { app: TestApp; server: ReplicatedServer },
  table: string,
  read: () => Promise<Result>,
): Promise<Result> {
  let reading: Promise<Result> | undefined;
  await app.db.sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`;
    const [{ oid } = { oid: 0 }] = await tx<{ oid: number }[]>`select ${table}::regclass::oid as oid`;
    const isOnReplica = async (isGranted: boolean) => {
      const [lock] =
        await server.replica`select 1 from pg_locks where relation = ${oid} and granted = ${isGranted}`;
      return lock !== undefined;
    };
    // Flushes the WAL, so that the replica receives the lock and all earlier writes.
    await readPrimaryPosition(app.db.sql);
    await waitFor(() => isOnReplica(true));
    reading = read();
    await waitFor(() => isOnReplica(false));
  });
  if (!reading) throw new Error("Cannot wait for what was read: nothing was");
  return reading;
}

test("models and prices are read from the replica, but not while the replica is behind", async () => {
  await using server = await openReplicatedServer();
  await using app = await openTestApp({ servers: server });
  const { catalog, log } = app.deps;
  await syncFrom(app.db.sql, priced(1));
  await server.catchUp(app.db.sql);
  const place = { app, server };
  expect(await seenOnReplica(place, "models", () => readPrice(app))).toBe(1);
  expect(await seenOnReplica(place, "model_price_changes", () => countChanges(app))).toBe(0);

  await server.holdReplay(true);
  await syncFrom(app.db.sql, priced(2));
  await catalog.refresh();
  expect([await readPrice(app), await countChanges(app)]).toEqual([2, 1]);
  const etag = (await app.request("/api/v1/models")).headers.get("etag");
  const direct = new CatalogCache({ sql: app.db.sql, replica: null, log });
  expect((await direct.current()).etag).toBe(etag ?? "");

  await server.stopReplica();
  await syncFrom(app.db.sql, priced(3));
  await catalog.refresh();
  expect([await readPrice(app), await countChanges(app)]).toEqual([3, 2]);
});

/** Twenty models of one provider. A document without them is held back. */
const OTHERS = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, {}]));
const whole = documentSource(makeDocument({ acme: { m1: {} }, other: OTHERS }));
const half = documentSource(makeDocument({ acme: { m1: {} } }));

async function readData(app: TestApp, path: string): Promise<Record<string, unknown>> {
  const response = await app.request(`/api/v1/models/${path}`);
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

const CHANGES: readonly {
  of: string;
  path: string;
  table: string;
  before?: (sql: Pool) => Promise<unknown>;
  change: (sql: Pool) => Promise<unknown>;
  shows: object;
}[] = [
  {
    of: "a correction",
    path: "history/acme/m1",
    table: "model_price_corrections",
    change: (sql) => sql`
      insert into model_price_corrections (provider, model_id, field, value, valid_from, valid_to, reason)
      values ('acme', 'm1', 'input', 0.5, '2026-01-01', '2026-02-01', 'a mistake')`,
    shows: { corrections: [{ value: 0.5 }] },
  },
  {
    of: "a price that waits",
    path: "held",
    table: "held_prices",
    change: (sql) => sql`
      insert into held_prices (provider, model_id, prices, tier, tier_source)
      values ('acme', 'm1', '{"input": 0, "output": 2}', 'budget', 'free')`,
    shows: { total: 1 },
  },
  {
    of: "a document that waits",
    path: "held",
    table: "catalog_syncs",
    change: (sql) => syncFrom(sql, half),
    shows: { document: { rejected: false } },
  },
  {
    of: "a decision about a document",
    path: "held",
    table: "catalog_syncs",
    before: (sql) => syncFrom(sql, half),
    change: (sql) => decideRefusedSyncs(sql, "rejected"),
    shows: { document: { rejected: true } },
  },
  {
    of: "the end of a document's wait",
    path: "held",
    table: "catalog_syncs",
    before: (sql) => syncFrom(sql, half),
    change: (sql) => syncFrom(sql, whole),
    shows: { document: null },
  },
];

test("data outside of the catalog cache is never read from a replica that is behind", async () => {
  await using server = await openReplicatedServer();
  for (const { of, path, table, before, change, shows } of CHANGES) {
    await using app = await openTestApp({ servers: server });
    const { sql } = app.db;
    await syncFrom(sql, whole);
    await before?.(sql);
    await server.catchUp(sql);
    await app.deps.catalog.refresh();
    const read = () => readData(app, path);
    expect([of, await seenOnReplica({ app, server }, table, read)]).not.toMatchObject([of, shows]);

    await server.holdReplay(true);
    await change(sql);
    await app.deps.catalog.refresh();
    expect([of, await read()]).toMatchObject([of, shows]);
    await server.holdReplay(false);
  }
});
