import { expect, test } from "bun:test";
import { presentCost } from "../../../api/models/price_json.ts";
import { bundledSource } from "../../../catalog-sync/source.ts";
import { readPrices } from "../../../shared/models/prices.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { addBundledHistory } from "../../../sql/models/bundled_history.ts";
import { findPrices } from "../../../sql/models/prices_as_of.ts";
import {
  documentSource,
  loadBundledCatalog,
  makeDocument,
  readSnapshot,
  SNAPSHOTS,
  syncFrom,
} from "../../helpers/models/catalog.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const SONNET = { provider: "anthropic", modelId: "claude-sonnet-4-20250514" };

/** Reads all tables that the bundled history may change. */
async function readCatalog(sql: Pool): Promise<unknown[]> {
  return Promise.all(
    ["models", "model_providers", "model_price_changes"].map(async (table) => [
      ...(await sql`select * from ${sql(table)} order by 1, 2`),
    ]),
  );
}

test("returns the exact prices of each snapshot after adding the bundled history", async () => {
  await using db = await openTestDatabase();
  await loadBundledCatalog(db.sql);
  expect(await addBundledHistory(db.sql)).toEqual({
    changes: 4462,
    models: 7497,
    gone: 2221,
    since: "2025-06-04T22:41:51.000Z",
  });
  for (const snapshot of SNAPSHOTS) {
    const { models } = await readSnapshot(snapshot);
    const found = await findPrices(
      db.sql,
      models.map(({ provider, id }) => ({ provider, modelId: id, asOf: snapshot.at })),
    );
    const wrong = models.filter(({ cost }, index) => {
      const model = found[index]?.model;
      return (
        model == null || model.knownSince > snapshot.at || !Bun.deepEquals(model.prices, readPrices(cost))
      );
    });
    expect([models.length, wrong.length]).toEqual([snapshot.models, 0]);
  }
  const stored = await readCatalog(db.sql);
  expect(await addBundledHistory(db.sql)).toBeNull();
  expect(await readCatalog(db.sql)).toEqual(stored);
});

test("adds the history of removed models, and no prices before the first event", async () => {
  await using db = await openTestDatabase();
  await loadBundledCatalog(db.sql);
  await addBundledHistory(db.sql);
  const haiku = { provider: "anthropic", modelId: "claude-3-5-haiku-20241022" };
  const [gone] = await db.sql`
    select status, removed_at, prices_known_since
    from models
    where provider = ${haiku.provider} and model_id = ${haiku.modelId}`;
  expect(gone).toEqual({
    status: "deprecated",
    removedAt: "2026-06-27T01:59:13.000Z",
    pricesKnownSince: "2025-06-05T20:08:05.000Z",
  });
  const [found] = await findPrices(db.sql, [{ ...haiku, asOf: "2025-06-06T00:00:00.000Z" }]);
  expect(found?.model).toMatchObject({
    prices: { input: 0.8, output: 4 },
    knownSince: "2025-06-05T20:08:05.000Z",
    pricesFrom: "2025-06-05T20:08:05.000Z",
  });
});

test("keeps the price records of an older installation, and adds earlier prices", async () => {
  await using db = await openTestDatabase();
  const price = (input: number) =>
    documentSource(
      makeDocument({
        [SONNET.provider]: { [SONNET.modelId]: { cost: { input, output: 15 } } },
        acme: { a: {} },
      }),
    );
  await syncFrom(db.sql, { ...price(4), label: "https://models.dev/api.json" });
  await syncFrom(db.sql, { ...price(5), label: "https://models.dev/api.json" });
  const [recorded] = await db.sql<{ changedAt: string; createdAt: string }[]>`
    select change.changed_at, models.created_at
    from model_price_changes as change
    join models using (provider, model_id)`;
  expect(await addBundledHistory(db.sql)).toMatchObject({ models: 7497, gone: 7496 });
  const at = async (asOf: string | null) => {
    const [found] = await findPrices(db.sql, [{ ...SONNET, asOf }]);
    return found?.model && { cost: presentCost(found.model.prices), since: found.model.knownSince };
  };
  const since = "2025-06-04T22:41:51.000Z";
  expect(await at(since)).toMatchObject({ cost: { input: 3, output: 15 }, since });
  expect(await at(recorded?.createdAt ?? "")).toEqual({ cost: { input: 4, output: 15 }, since });
  expect(await at(recorded?.changedAt ?? "")).toEqual({ cost: { input: 5, output: 15 }, since });
  expect(await at(null)).toEqual({ cost: { input: 5, output: 15 }, since });
  // A model that the source lists again keeps its history.
  await syncFrom(db.sql, bundledSource(), { force: true });
  const [late] = await findPrices(db.sql, [
    { provider: "openai", modelId: "gpt-5", asOf: "2026-01-01T00:00:00.000Z" },
  ]);
  expect(late?.model).toMatchObject({ prices: { input: 1.25, output: 10, cacheRead: 0.13 } });
});

test("adds no history to a catalog from another source or to an empty catalog", async () => {
  await using db = await openTestDatabase();
  expect(await addBundledHistory(db.sql)).toBeNull();
  await syncFrom(db.sql, documentSource(makeDocument({ openai: { "gpt-5": {} } })));
  const stored = await readCatalog(db.sql);
  expect(await addBundledHistory(db.sql)).toBeNull();
  expect(await readCatalog(db.sql)).toEqual(stored);
});

test("adds the history in only one of two concurrent calls, and rolls back a failed call", async () => {
  await using db = await openTestDatabase();
  await loadBundledCatalog(db.sql);
  const stored = await readCatalog(db.sql);
  // Makes the last writes fail, which insert the price changes.
  await db.owner`alter table model_price_changes add constraint none_check check (id > -2)`;
  const failure = await addBundledHistory(db.sql).catch((error: unknown) => error);
  expect(String(failure)).toContain("none_check");
  expect(await readCatalog(db.sql)).toEqual(stored);
  await db.owner`alter table model_price_changes drop constraint none_check`;
  const added = await Promise.all([addBundledHistory(db.sql), addBundledHistory(db.sql)]);
  expect(added.filter((past) => past !== null)).toHaveLength(1);
});
