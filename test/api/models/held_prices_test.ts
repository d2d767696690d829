import { expect, test } from "bun:test";
import { decideRefusedSyncs } from "../../../sql/models/catalog_syncs.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { type DocumentModels, documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

const sync = (app: TestApp, models: DocumentModels) =>
  syncFrom(app.db.sql, documentSource(makeDocument(models)));

async function readHeld(app: TestApp): Promise<Record<string, unknown>> {
  const response = await app.request("/api/v1/models/held");
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

async function readMetrics(app: TestApp): Promise<string> {
  await app.deps.catalog.refresh();
  return app.deps.metrics.registry.metrics();
}

test("GET /models/held lists held prices with the current and the new price", async () => {
  await using app = await openTestApp();
  expect(await readHeld(app)).toEqual({ prices: [], total: 0, document: null });
  await sync(app, { acme: { "x/a": { cost: { input: 3, output: 15 } }, b: {} } });
  await sync(app, { acme: { "x/a": { cost: { input: 0, output: 15, cache_read: 0 } }, b: {} } });
  const [seen] = await app.db.sql`select first_seen_at, last_seen_at from held_prices`;
  const held = {
    provider: "acme",
    modelId: "x/a",
    changes: [
      { field: "input", oldValue: 3, newValue: 0 },
      { field: "cacheRead", oldValue: null, newValue: 0 },
    ],
    ...seen,
    timesSeen: 1,
    rejected: false,
  };
  expect(await readHeld(app)).toEqual({ prices: [held], total: 1, document: null });
  expect(await readMetrics(app)).toContain("catalog_held_prices 1\n");
  await app.db.sql`update held_prices set rejected_at = now()`;
  expect(await readHeld(app)).toEqual({ prices: [{ ...held, rejected: true }], total: 1, document: null });
  expect(await readMetrics(app)).toContain("catalog_held_prices 0\n");
});

test("GET /models/held returns the reason for holding a whole document", async () => {
  await using app = await openTestApp();
  const models = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m${n}`, {}]));
  await sync(app, { acme: models, other: { a: {} } });
  await sync(app, { other: { a: {} } });
  await sync(app, { other: { a: {} } });
  expect((await readHeld(app))["document"]).toEqual({
    reason:
      "the document waits: it would remove 20 of 21 models, it would remove 20 of 20 models of acme. It is taken if a sync at least an hour later finds the same, or after `bun run admin catalog accept --document`",
    firstSeenAt: expect.any(String),
    lastSeenAt: expect.any(String),
    timesSeen: 2,
    rejected: false,
  });
});

/** Rejects a document, then syncs another document that shares one of its doubts. */
for (const [shared, rejected, next] of [
  ["gone", { acme: 14, other: 30 }, { acme: 30, other: 14 }],
  ["gone acme", { acme: 1, other: 200 }, { acme: 1, other: 20 }],
] as const) {
  test(`a document is rejected if it raises the same doubt as a rejected document: ${shared}`, async () => {
    await using app = await openTestApp();
    const { sql } = app.db;
    const models = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, {}]));
    const syncNumbers = ({ acme, other }: { acme: number; other: number }) =>
      sync(app, { acme: models(acme), other: models(other) });
    await syncNumbers(shared === "gone" ? { acme: 30, other: 30 } : { acme: 20, other: 200 });
    await syncNumbers(rejected);
    await decideRefusedSyncs(sql, "rejected");
    await sql`update catalog_syncs set started_at = '2026-01-01Z', finished_at = '2026-01-01Z'`;
    await syncNumbers(next);
    expect((await readHeld(app))["document"]).toMatchObject({
      firstSeenAt: "2026-01-01T00:00:00.000Z",
      timesSeen: 2,
      rejected: true,
    });
  });
}

test("a model with an invalid entry in the source's document has staleSince, and /metrics counts the model", async () => {
  await using app = await openTestApp();
  await sync(app, { acme: { a: {}, b: {} } });
  await sync(app, { acme: { a: { cost: "free" }, b: {} } });
  await app.deps.catalog.refresh();
  const list = (await (await app.request("/api/v1/models")).json()) as {
    data: { models: Record<string, unknown>[] };
  };
  const { models } = list.data;
  expect(models.map((model) => typeof model["staleSince"])).toEqual(["string", "undefined"]);
  const one = (await (await app.request("/api/v1/models/acme/a")).json()) as Record<string, unknown>;
  expect(one["staleSince"]).toBe(models[0]?.["staleSince"]);
  expect(await readMetrics(app)).toContain("catalog_stale_models 1\n");
});
