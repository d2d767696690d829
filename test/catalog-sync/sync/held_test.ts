/** Held changes: a sync holds doubtful prices per model, and refuses a document that removes too much. */
import { expect, test } from "bun:test";
import { bundledSource, openSource } from "../../../catalog-sync/source.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { decideRefusedSyncs, listRefusedDoubts } from "../../../sql/models/catalog_syncs.ts";
import { listHeldPrices, rejectHeldPrices, takeHeldPrices } from "../../../sql/models/held_prices.ts";
import { findPrices } from "../../../sql/models/prices_as_of.ts";
import { type DocumentModels, documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openCatalogServer } from "../../helpers/models/catalog_server.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const KEY = { provider: "acme", modelId: "a" };
const FREE = { input: 0, output: 0 };
const PAID = { input: 3, output: 15 };

const priced = (cost: object | undefined, others: DocumentModels = {}) =>
  documentSource(makeDocument({ acme: { a: { cost } }, ...others }));

async function priceNow(sql: Pool): Promise<unknown> {
  return (await findPrices(sql, [{ ...KEY, asOf: null }]))[0]?.model?.prices;
}

async function countChanges(sql: Pool): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from model_price_changes`;
  return row.count;
}

/** Backdates all held prices and syncs by this interval. */
async function wait(sql: Pool, time: string): Promise<void> {
  await sql`update held_prices set first_seen_at = first_seen_at - ${time}::interval`;
  await sql`
    update catalog_syncs
    set started_at = started_at - ${time}::interval, finished_at = finished_at - ${time}::interval`;
}

test("a price that falls to 0 is held, and stored once a sync an hour later finds the same price", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID));
  expect(await syncFrom(sql, priced(FREE))).toMatchObject({
    outcome: "unchanged",
    counts: { updated: 0, unchanged: 1, held: 1 },
  });
  expect(await listHeldPrices(sql)).toMatchObject([
    { ...KEY, prices: FREE, currentPrices: PAID, timesSeen: 1, rejectedAt: null, isDue: false },
  ]);
  await wait(sql, "59 minutes");
  await syncFrom(sql, priced(FREE));
  expect([await priceNow(sql), await countChanges(sql)]).toEqual([PAID, 0]);
  expect(await listHeldPrices(sql)).toMatchObject([{ timesSeen: 2 }]);
  await wait(sql, "1 minute");
  expect(await syncFrom(sql, priced(FREE))).toMatchObject({
    outcome: "changed",
    counts: { updated: 1, held: 0 },
  });
  expect([await priceNow(sql), await countChanges(sql), await listHeldPrices(sql)]).toEqual([FREE, 2, []]);
  const events = await sql`select type from events where type = 'model.price_changed'`;
  expect(events).toHaveLength(2);
});

test("a held price is discarded when the source returns to the stored price", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID));
  await syncFrom(sql, priced(FREE));
  await wait(sql, "2 hours");
  await syncFrom(sql, priced(PAID));
  expect([await priceNow(sql), await countChanges(sql), await listHeldPrices(sql)]).toEqual([PAID, 0, []]);
  // The same doubtful price is held again.
  await syncFrom(sql, priced(FREE));
  expect([await priceNow(sql), (await listHeldPrices(sql)).length]).toEqual([PAID, 1]);
});

test("another doubtful price restarts the hold, and the model's other changes are stored", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID));
  await syncFrom(sql, priced(FREE));
  await wait(sql, "2 hours");
  const dear = documentSource(
    makeDocument({ acme: { a: { cost: { input: 16, output: 16 }, name: "Renamed", status: "deprecated" } } }),
  );
  await syncFrom(sql, dear);
  expect(await listHeldPrices(sql)).toMatchObject([{ prices: { input: 16, output: 16 }, timesSeen: 1 }]);
  const [model] = await sql`select name, status, tier, input_usd_per_mtok, output_usd_per_mtok from models`;
  expect(model).toEqual({
    name: "Renamed",
    status: "deprecated",
    tier: "standard",
    inputUsdPerMtok: 3,
    outputUsdPerMtok: 15,
  });
});

test("a price is held if it changes by more than a factor of five, or to or from 0", async () => {
  await using db = await openTestDatabase();
  const changes = [
    ["five times as much", { input: 1, output: 1 }, { input: 5, output: 1 }, "taken"],
    ["more than five times as much", { input: 1, output: 1 }, { input: 5.01, output: 1 }, "held"],
    ["less than a fifth", { input: 1, output: 1 }, { input: 1, output: 0.19 }, "held"],
    ["no longer free", { input: 0, output: 0 }, { input: 0.1, output: 0.1 }, "held"],
    ["a free cache", { ...PAID, cache_read: 1 }, { ...PAID, cache_read: 0 }, "held"],
    ["a new price of a cache", PAID, { ...PAID, cache_read: 0 }, "taken"],
    ["unknown", PAID, undefined, "taken"],
    ["known", undefined, PAID, "taken"],
  ] as const;
  const sync = (costs: (readonly [string, object | undefined])[]) =>
    syncFrom(
      db.sql,
      documentSource(
        makeDocument({ acme: Object.fromEntries(costs.map(([name, cost]) => [name, { cost }])) }),
      ),
    );
  await sync(changes.map(([name, before]) => [name, before]));
  await sync(changes.map(([name, , after]) => [name, after]));
  const taken = await db.sql<{ modelId: string }[]>`select distinct model_id from model_price_changes`;
  const found = (outcome: string) =>
    changes.flatMap(([name, , , is]) => (is === outcome ? [name] : [])).toSorted();
  expect((await listHeldPrices(db.sql)).map(({ modelId }) => modelId).toSorted()).toEqual(found("held"));
  expect(taken.map(({ modelId }) => modelId).toSorted()).toEqual(found("taken"));
});

test("a rejected price stays held only until the source lists another price", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID));
  await syncFrom(sql, priced(FREE));
  await rejectHeldPrices(sql, [KEY]);
  await wait(sql, "2 days");
  await syncFrom(sql, priced(FREE));
  expect([await priceNow(sql), (await listHeldPrices(sql)).length]).toEqual([PAID, 1]);
  await syncFrom(sql, priced({ input: 0, output: 0.001 }));
  expect(await listHeldPrices(sql)).toMatchObject([{ timesSeen: 1, rejectedAt: null }]);
});

test("a held price that an operator accepts is stored immediately and updates the model's tier", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID));
  const tiers = { ...FREE, reasoning: 1, context_over_200k: { input: 2 } };
  await syncFrom(sql, priced(tiers));
  const changes = await takeHeldPrices(sql, [KEY]);
  expect(changes.toSorted((a, b) => (a.field < b.field ? -1 : 1))).toEqual([
    { ...KEY, field: "input", oldValue: 3, newValue: 0 },
    { ...KEY, field: "output", oldValue: 15, newValue: 0 },
    { ...KEY, field: "reasoning", oldValue: null, newValue: 1 },
    { ...KEY, field: "tiers.200000.input", oldValue: null, newValue: 2 },
  ]);
  const [model] = await sql`select tier, tier_source, pricing from models`;
  expect(model).toEqual({
    tier: "budget",
    tierSource: "free",
    pricing: { reasoning: 1, "tiers.200000.input": 2 },
  });
  expect(await syncFrom(sql, priced(tiers))).toMatchObject({ outcome: "unchanged", counts: { held: 0 } });
});

test("a forced sync and the bundled copy store doubtful prices immediately", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID));
  await syncFrom(sql, priced(FREE), { force: true });
  expect([await priceNow(sql), await listHeldPrices(sql)]).toEqual([FREE, []]);
  await syncFrom(sql, { ...priced(PAID), label: "bundled" });
  expect(await priceNow(sql)).toEqual(PAID);
});

test("a held price survives an unreadable row, and is discarded when its model is removed", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, priced(PAID, { other: { b: {} } }));
  await syncFrom(sql, priced(FREE, { other: { b: {} } }));
  await syncFrom(sql, documentSource(makeDocument({ acme: { a: { cost: "free" } }, other: { b: {} } })));
  expect(await listHeldPrices(sql)).toMatchObject([{ timesSeen: 1 }]);
  await syncFrom(sql, documentSource(makeDocument({ other: { b: {} } })));
  expect(await listHeldPrices(sql)).toEqual([]);
});

/** Serves a model at this cost, and responds with 304 to the current ETag. */
async function openPriceServer(cost: unknown) {
  const state = { cost };
  const server = await openCatalogServer((response, request) => {
    const document = JSON.stringify(makeDocument({ acme: { a: { cost: state.cost }, b: {} } }));
    const etag = `"${Bun.hash(document)}"`;
    if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
    else response.writeHead(200, { etag }).end(document);
  });
  return Object.assign(server, { state });
}

test("an unchanged document confirms its doubtful prices", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await using server = await openPriceServer(PAID);
  const source = openSource(server.url);
  await syncFrom(sql, source);
  server.state.cost = FREE;
  await syncFrom(sql, source);
  expect(await syncFrom(sql, source)).toMatchObject({
    outcome: "unchanged",
    counts: { unchanged: 2, held: 1 },
  });
  expect(await listHeldPrices(sql)).toMatchObject([{ timesSeen: 2 }]);
  await wait(sql, "1 hour");
  expect(await syncFrom(sql, source)).toMatchObject({
    outcome: "changed",
    counts: { updated: 1, unchanged: 1, held: 0 },
  });
  expect(server.requests.at(-1)?.["if-none-match"]).toBeDefined();
  const [change] =
    await sql`select field, new_value, sync_id is not null as by_sync from model_price_changes`;
  expect([await priceNow(sql), change]).toEqual([FREE, { field: "input", newValue: 0, bySync: true }]);
});

test("an unchanged document does not confirm a held price whose row is unreadable", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await using server = await openPriceServer(PAID);
  const source = openSource(server.url);
  for (const cost of [PAID, FREE, "free"]) {
    server.state.cost = cost;
    await syncFrom(sql, source);
  }
  await wait(sql, "2 hours");
  expect(await syncFrom(sql, source)).toMatchObject({
    outcome: "unchanged",
    // The counts repeat those of the sync that could not read the row.
    counts: { updated: 0, unchanged: 1, skipped: 1, held: 1 },
  });
  expect(server.requests.at(-1)?.["if-none-match"]).toBeDefined();
  expect([await priceNow(sql), await countChanges(sql)]).toEqual([PAID, 0]);
  expect(await listHeldPrices(sql)).toMatchObject([{ prices: FREE, timesSeen: 1 }]);
});

const many = (count: number, fields: object = {}) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, { ...fields }]));

const documentOf = (acme: number, other: number, fields: object = {}) =>
  documentSource(makeDocument({ acme: many(acme, fields), other: many(other) }));

for (const [what, after, error] of [
  ["more than a tenth of the models", documentOf(17, 40), "it would remove 7 of 64 models"],
  [
    "more than half of a provider's models",
    documentOf(24, 19),
    "it would remove 21 of 64 models, it would remove 21 of 40 models of other",
  ],
  [
    "the prices of more than a tenth of the models",
    documentOf(24, 40, { cost: undefined }),
    "it would take the price from 24 of 64 models, it would take the price from 24 of 24 models of acme",
  ],
] as const) {
  test(`a document that drops ${what} is refused entirely, and accepted by a sync an hour later`, async () => {
    await using db = await openTestDatabase();
    const { sql } = db;
    await syncFrom(sql, documentOf(24, 40));
    const refused = {
      outcome: "refused",
      error: expect.stringContaining(`the document waits: ${error}. It is taken`),
    };
    expect(await syncFrom(sql, after)).toMatchObject(refused);
    await wait(sql, "59 minutes");
    expect(await syncFrom(sql, after)).toMatchObject(refused);
    await wait(sql, "1 minute");
    expect(await syncFrom(sql, after)).toMatchObject({ outcome: "changed" });
    expect(await syncFrom(sql, after)).toMatchObject({ outcome: "unchanged" });
  });
}

test("a sync may remove a tenth of all models and half of a provider's models, or half of a small catalog", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentOf(10, 40));
  expect(await syncFrom(sql, documentOf(5, 40))).toMatchObject({ counts: { gone: 5 } });
  await syncFrom(sql, documentOf(1, 0), { force: true });
  await syncFrom(sql, documentOf(4, 4));
  const waits = { outcome: "refused", error: expect.stringContaining("it would remove 5 of 8 models.") };
  expect(await syncFrom(sql, documentOf(0, 3))).toMatchObject(waits);
  expect(await syncFrom(sql, documentOf(0, 4))).toMatchObject({ counts: { gone: 4 } });
  expect(await syncFrom(sql, documentOf(4, 0))).toMatchObject({ counts: { gone: 4, inserted: 0 } });
});

test("only a refusal for the same reason and source since the last successful sync confirms a document", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentOf(24, 40));
  await syncFrom(sql, documentOf(1, 40));
  await syncFrom(sql, { ...documentOf(24, 1), label: "elsewhere" });
  await wait(sql, "2 hours");
  // The earlier refusal confirms the doubt "gone", but no refusal confirms "gone other".
  expect(await syncFrom(sql, documentOf(24, 1))).toMatchObject({ outcome: "refused" });
  await syncFrom(sql, documentOf(24, 40));
  await wait(sql, "2 hours");
  expect(await syncFrom(sql, documentOf(24, 1))).toMatchObject({ outcome: "refused" });
});

test("an operator's decision on a refused document applies to later syncs, and the latest decision wins", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentOf(24, 40));
  expect(await decideRefusedSyncs(sql, "accepted")).toBe(0);
  await syncFrom(sql, documentOf(24, 1));
  expect(await decideRefusedSyncs(sql, "rejected")).toBe(1);
  await wait(sql, "2 hours");
  expect(await syncFrom(sql, documentOf(24, 1))).toMatchObject({ outcome: "refused" });
  expect(await decideRefusedSyncs(sql, "accepted")).toBe(2);
  expect(await syncFrom(sql, documentOf(24, 1))).toMatchObject({ outcome: "changed" });
});

test("a document that removes more models than the refused or accepted document is refused again", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const refused = { outcome: "refused" };
  await syncFrom(sql, documentOf(24, 40));
  await syncFrom(sql, documentOf(24, 15));
  await wait(sql, "2 hours");
  expect(await syncFrom(sql, documentOf(24, 14))).toMatchObject(refused);
  await decideRefusedSyncs(sql, "accepted");
  expect(await syncFrom(sql, documentOf(24, 13))).toMatchObject(refused);
  expect(await listRefusedDoubts(sql)).toMatchObject([
    { doubt: "gone", extent: "25 of 64", decision: null, isDue: true },
    { doubt: "gone", extent: "26 of 64", decision: "accepted", isDue: false },
    { doubt: "gone", extent: "27 of 64", decision: null, isDue: false },
    { doubt: "gone other", extent: "25 of 40", decision: null },
    { doubt: "gone other", extent: "26 of 40", decision: "accepted" },
    { doubt: "gone other", extent: "27 of 40", decision: null },
  ]);
  expect(await syncFrom(sql, documentOf(24, 14))).toMatchObject({ outcome: "changed", counts: { gone: 26 } });
});

test("accepting covers only the removals of the last refused document, not those of earlier documents", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentOf(24, 40));
  await syncFrom(sql, documentOf(24, 1));
  await syncFrom(sql, documentOf(24, 15));
  await decideRefusedSyncs(sql, "accepted");
  expect(await syncFrom(sql, documentOf(24, 1))).toMatchObject({ outcome: "refused" });
  expect(await syncFrom(sql, documentOf(24, 15))).toMatchObject({ outcome: "changed", counts: { gone: 25 } });
});

test("a rejected document stays rejected when it removes more or fewer models", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentOf(24, 40));
  await syncFrom(sql, documentOf(24, 15));
  await decideRefusedSyncs(sql, "rejected");
  for (const other of [14, 16]) {
    await syncFrom(sql, documentOf(24, other));
    await wait(sql, "2 hours");
    expect(await syncFrom(sql, documentOf(24, other))).toMatchObject({ outcome: "refused" });
  }
  expect((await listRefusedDoubts(sql)).map(({ decision }) => decision)).toEqual(Array(6).fill("rejected"));
  await decideRefusedSyncs(sql, "accepted");
  expect(await syncFrom(sql, documentOf(24, 14))).toMatchObject({ outcome: "changed" });
});

test("a refusal that an earlier release recorded without an extent does not confirm a document", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentOf(24, 40));
  await syncFrom(sql, documentOf(24, 15));
  await sql`update catalog_syncs set doubt_extents = '{}'`;
  await wait(sql, "2 hours");
  expect(await syncFrom(sql, documentOf(24, 15))).toMatchObject({ outcome: "refused" });
});

test("the first sync after the bundled copy may remove up to half of the models", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, { ...documentOf(24, 40), label: "bundled" });
  expect(await syncFrom(sql, documentOf(0, 31))).toMatchObject({ outcome: "refused" });
  expect(await syncFrom(sql, documentOf(0, 32))).toMatchObject({ outcome: "changed", counts: { gone: 32 } });
  await syncFrom(sql, bundledSource());
  expect(await listHeldPrices(sql)).toEqual([]);
});
