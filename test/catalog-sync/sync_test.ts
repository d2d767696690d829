import { expect, setSystemTime, test } from "bun:test";
import { bundledSource, openSource } from "../../catalog-sync/source.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { documentSource, makeDocument, syncFrom } from "../helpers/models/catalog.ts";
import { openCatalogServer } from "../helpers/models/catalog_server.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";

/**
 * Reads models, providers, aliases and price changes. Each row includes `xmin` and `ctid`, which change if the row is rewritten.
 */
async function readEverything(sql: Pool): Promise<unknown[]> {
  return Promise.all(
    ["models", "model_providers", "model_aliases", "model_price_changes"].map(async (table) => [
      ...(await sql`select xmin::text, ctid::text, * from ${sql(table)} order by ctid`),
    ]),
  );
}

async function listRuns(sql: Pool): Promise<Record<string, unknown>[]> {
  return sql`
    select source, etag, outcome, inserted, updated, gone, unchanged, skipped, notes, error
    from catalog_syncs
    order by id`;
}

async function findAlias(sql: Pool, alias: string): Promise<unknown[]> {
  return [
    ...(await sql`
      select origin, provider || '/' || model_id as target, deprecated
      from model_aliases
      where alias = ${alias}
      order by origin`),
  ];
}

test("the first sync from the bundled copy stores the catalog, and the second changes no row", async () => {
  await using db = await openTestDatabase();
  expect(await syncFrom(db.sql, bundledSource())).toMatchObject({
    outcome: "changed",
    counts: { inserted: 5276, updated: 0, gone: 0, unchanged: 0, skipped: 0, held: 0 },
  });
  const before = await readEverything(db.sql);
  expect(await syncFrom(db.sql, bundledSource())).toMatchObject({
    outcome: "unchanged",
    counts: { inserted: 0, updated: 0, gone: 0, unchanged: 5276, skipped: 0, held: 0 },
  });
  expect(await readEverything(db.sql)).toEqual(before);
  const runs = await listRuns(db.sql);
  expect(runs.map(({ source, outcome, error }) => [source, outcome, error])).toEqual([
    ["bundled", "changed", null],
    ["bundled", "unchanged", null],
  ]);
  const [stored] = await db.sql`
    select name, family, has_vision, has_tools, has_streaming, input_modalities, input_usd_per_mtok,
      output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok, context_tokens, output_tokens, tier,
      tier_source, status, release_date, knowledge_cutoff, is_open_weights, removed_at
    from models
    where provider = 'openai' and model_id = 'gpt-5'`;
  expect(stored).toEqual({
    name: "GPT-5",
    family: "gpt",
    hasVision: true,
    hasTools: true,
    hasStreaming: true,
    inputModalities: ["text", "image"],
    inputUsdPerMtok: 1.25,
    outputUsdPerMtok: 10,
    cacheReadUsdPerMtok: 0.125,
    cacheWriteUsdPerMtok: null,
    contextTokens: 400_000,
    outputTokens: 128_000,
    tier: "standard",
    tierSource: "price",
    status: "available",
    releaseDate: "2025-08-07",
    knowledgeCutoff: "2024-09-30",
    isOpenWeights: false,
    removedAt: null,
  });
});

test("a sync uses the database's clock, even if the machine's clock is ahead", async () => {
  await using db = await openTestDatabase();
  setSystemTime(Date.now() + 86_400_000);
  try {
    await syncFrom(db.sql, documentSource(makeDocument({ acme: { only: {} } })));
    await syncFrom(db.sql, documentSource("no catalog"));
  } finally {
    setSystemTime();
  }
  const runs = await db.sql`
    select outcome from catalog_syncs
    where started_at > now() - interval '1 hour' and finished_at between started_at and clock_timestamp()
    order by id`;
  expect(runs.map(({ outcome }) => outcome)).toEqual(["changed", "refused"]);
});

test("a sync writes new, changed, removed and returning models, and does not touch unchanged models", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const same = { steady: {}, fading: {}, changing: { name: "Old" } };
  await syncFrom(sql, documentSource(makeDocument({ acme: same, leaving: { only: {} } })));
  const readSteady = async () => [
    ...(await sql`select xmin::text, ctid::text from models where model_id = 'steady'`),
  ];
  const steady = await readSteady();

  const second = makeDocument({ acme: { steady: {}, changing: { name: "New" }, fresh: {} } });
  expect(await syncFrom(sql, documentSource(second))).toMatchObject({
    counts: { inserted: 1, updated: 1, gone: 2, unchanged: 1, skipped: 0, held: 0 },
  });
  const read = () => sql`
    select model_id, name, status, removed_at is not null as is_gone
    from models
    order by model_id`;
  expect([...(await read())]).toEqual([
    { modelId: "changing", name: "New", status: "available", isGone: false },
    { modelId: "fading", name: "fading", status: "deprecated", isGone: true },
    { modelId: "fresh", name: "fresh", status: "available", isGone: false },
    { modelId: "only", name: "only", status: "deprecated", isGone: true },
    { modelId: "steady", name: "steady", status: "available", isGone: false },
  ]);
  expect([...(await sql`select id from model_providers where removed_at is not null`)]).toEqual([
    { id: "leaving" },
  ]);
  expect(await readSteady()).toEqual(steady);
  // A model that is still missing is not counted again.
  expect(await syncFrom(sql, documentSource(second))).toMatchObject({
    outcome: "unchanged",
    counts: { inserted: 0, updated: 0, gone: 0, unchanged: 3, skipped: 0, held: 0 },
  });

  const third = makeDocument({
    acme: { steady: {}, changing: { name: "New" }, fresh: {}, fading: {} },
    leaving: { only: {} },
  });
  expect(await syncFrom(sql, documentSource(third))).toMatchObject({
    counts: { inserted: 0, updated: 2, gone: 0, unchanged: 3, skipped: 0, held: 0 },
  });
  expect((await read()).every(({ isGone, status }) => !isGone && status === "available")).toBe(true);
  expect([...(await sql`select id from model_providers where removed_at is not null`)]).toEqual([]);
});

test("price changes are recorded with their sync, and rounding noise does not count as a change", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const withCost = (cost: unknown) => documentSource(makeDocument({ acme: { "x/Y:z@1": { cost } } }));
  await syncFrom(sql, withCost({ input: 0.05, output: 2, cache_read: 0.1, reasoning: 3 }));
  await syncFrom(sql, withCost({ input: 0.049999999999999996, output: 2, cache_read: 0.1, reasoning: 4 }));
  await syncFrom(sql, withCost({ input: 0.05, output: 1.5, cache_write: 0.2, reasoning: 4 }));
  await syncFrom(sql, withCost(undefined));
  await syncFrom(sql, withCost({ input: 1, output: 1 }));
  const changes = await sql`
    select sync_id, provider, model_id, field, old_value, new_value
    from model_price_changes
    order by id`;
  const key = { provider: "acme", modelId: "x/Y:z@1" };
  expect([...changes]).toEqual([
    { syncId: 2, ...key, field: "reasoning", oldValue: 3, newValue: 4 },
    { syncId: 3, ...key, field: "output", oldValue: 2, newValue: 1.5 },
    { syncId: 3, ...key, field: "cacheRead", oldValue: 0.1, newValue: null },
    { syncId: 3, ...key, field: "cacheWrite", oldValue: null, newValue: 0.2 },
    { syncId: 4, ...key, field: "input", oldValue: 0.05, newValue: null },
    { syncId: 4, ...key, field: "output", oldValue: 1.5, newValue: null },
    { syncId: 4, ...key, field: "reasoning", oldValue: 4, newValue: null },
    { syncId: 4, ...key, field: "cacheWrite", oldValue: 0.2, newValue: null },
    { syncId: 5, ...key, field: "input", oldValue: null, newValue: 1 },
    { syncId: 5, ...key, field: "output", oldValue: null, newValue: 1 },
  ]);
});

test("price changes that an operator makes in SQL are recorded without a sync", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentSource(makeDocument({ acme: { a: {}, b: {} } })));
  await sql`update models set output_usd_per_mtok = 9, name = 'A' where model_id = 'a'`;
  await sql`update models set name = 'B', input_usd_per_mtok = 1.00 where model_id = 'b'`;
  await sql`update models set pricing = '{"tiers.200000.input": 4}' where model_id = 'b'`;
  const changes = await sql`
    select sync_id, model_id, field, old_value, new_value from model_price_changes order by id`;
  expect([...changes]).toEqual([
    { syncId: null, modelId: "a", field: "output", oldValue: 2, newValue: 9 },
    { syncId: null, modelId: "b", field: "tiers.200000.input", oldValue: null, newValue: 4 },
  ]);
  for (const pricing of ['{"input_audio": 1}', '{"reasoning": "1"}', '{"reasoning": -1}', "[]"]) {
    const update = sql`update models set pricing = ${pricing}::text::jsonb where model_id = 'b'`;
    await expect(Promise.resolve(update)).rejects.toThrow(/violates check constraint/);
  }
});

test("an unreadable row is skipped, and its model is marked as stale until the row is readable again", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const good = makeDocument({ openai: { "gpt-5": {}, "gpt-4": {} }, acme: { a: {}, b: {} } });
  await syncFrom(sql, documentSource(good));
  const readModels = async () => [
    ...(await sql`select xmin::text, ctid::text, * from models order by provider, model_id`),
  ];
  const before = await readModels();
  const bad = documentSource({
    ...makeDocument({ openai: { "gpt-5": { cost: { input: "free" } }, "gpt-4": {} } }),
    acme: { models: 1 },
  });
  expect(await syncFrom(sql, bad)).toEqual({
    outcome: "changed",
    dataDate: "2025-06-01",
    counts: { inserted: 0, updated: 0, gone: 0, unchanged: 1, skipped: 2, held: 0 },
    notes: ["skipped openai/gpt-5: cost.input: expected number", "skipped acme: models: expected object"],
  });
  expect((await listRuns(sql)).at(-1)).toMatchObject({
    skipped: 2,
    notes: [expect.any(String), expect.any(String)],
  });
  const stale = await readModels();
  const { staleSince } = stale[0] as { staleSince: string };
  const times = { xmin: expect.any(String), ctid: expect.any(String), updatedAt: expect.any(String) };
  expect(stale).toEqual(
    before.map((row) => (row["modelId"] === "gpt-4" ? row : { ...row, ...times, staleSince })),
  );
  expect(staleSince).toEqual(expect.stringMatching(/^20/));
  // The model stays stale, and its row is not written again.
  expect(await syncFrom(sql, bad)).toMatchObject({ outcome: "unchanged" });
  expect(await readModels()).toEqual(stale);
  expect(await syncFrom(sql, documentSource(good))).toMatchObject({ counts: { updated: 3, unchanged: 1 } });
  expect((await readModels()).map((row) => row["staleSince"])).toEqual([null, null, null, null]);
});

test("an invalid optional field is noted and stored as unknown; the row's prices and status are stored", async () => {
  await using db = await openTestDatabase();
  await syncFrom(db.sql, documentSource(makeDocument({ acme: { a: { limit: { context: 128_000 } } } })));
  const row = { cost: { input: 5, output: 9 }, status: "deprecated", limit: { context: -1 } };
  expect(await syncFrom(db.sql, documentSource(makeDocument({ acme: { a: row } })))).toMatchObject({
    outcome: "changed",
    counts: { updated: 1, skipped: 0 },
    notes: ["unknown acme/a: limit.context: expected integer to be greater or equal to 0"],
  });
  const [stored] = await db.sql`
    select input_usd_per_mtok, output_usd_per_mtok, status, context_tokens, stale_since from models`;
  expect(stored).toEqual({
    inputUsdPerMtok: 5,
    outputUsdPerMtok: 9,
    status: "deprecated",
    contextTokens: null,
    staleSince: null,
  });
});

test("a cost with only an input price is stored", async () => {
  await using db = await openTestDatabase();
  const embedding = { cost: { input: 0.02 } };
  await syncFrom(db.sql, documentSource(makeDocument({ acme: { embedding } })));
  const [stored] = await db.sql`select input_usd_per_mtok, output_usd_per_mtok, tier from models`;
  expect(stored).toEqual({ inputUsdPerMtok: 0.02, outputUsdPerMtok: null, tier: "budget" });
});

test("a sync's notes are limited in number and length, and contain only characters PostgreSQL can store", async () => {
  await using db = await openTestDatabase();
  const rows = Object.fromEntries(
    Array.from({ length: 150 }, (_, n) => [`bad\0${"x".repeat(400)}-${n}`, {}]),
  );
  const report = await syncFrom(db.sql, documentSource(makeDocument({ acme: { ok: {}, ...rows } })));
  expect(report).toMatchObject({ outcome: "changed", counts: { inserted: 1, skipped: 150 } });
  const [run] = await listRuns(db.sql);
  const notes = run?.["notes"] as string[];
  expect([notes.length, notes[0]?.length, notes.at(-1)]).toEqual([101, 300, "and 50 more"]);
});

test("an operator's alias survives later syncs, alongside the generated alias of the same name", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await sql`insert into model_aliases (alias, provider, model_id) values ('gpt-5', 'acme', 'later'), ('ours', 'openai', 'gpt-5')`;
  await syncFrom(sql, documentSource(makeDocument({ openai: { "gpt-5": {} } })));
  await syncFrom(
    sql,
    documentSource(makeDocument({ openai: { "gpt-5": { name: "GPT-5!" } }, acme: { later: {} } })),
  );
  expect(await findAlias(sql, "gpt-5")).toEqual([
    { origin: "generated", target: "openai/gpt-5", deprecated: false },
    { origin: "manual", target: "acme/later", deprecated: false },
  ]);
  expect(await findAlias(sql, "ours")).toEqual([
    { origin: "manual", target: "openai/gpt-5", deprecated: false },
  ]);
});

test("an alias moves to its family's newest model, and is deprecated when its model is removed or deprecated", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const old = { "claude-sonnet-4": { release_date: "2025-05-01" } };
  const fresh = { "claude-sonnet-5": { release_date: "2026-05-01" } };
  await syncFrom(sql, documentSource(makeDocument({ anthropic: old })));
  await syncFrom(sql, documentSource(makeDocument({ anthropic: { ...old, ...fresh } })));
  expect(await findAlias(sql, "sonnet")).toEqual([
    { origin: "generated", target: "anthropic/claude-sonnet-5", deprecated: false },
  ]);
  await syncFrom(
    sql,
    documentSource(makeDocument({ anthropic: { "claude-sonnet-5": { status: "deprecated" } } })),
  );
  expect(await findAlias(sql, "claude-sonnet-4")).toEqual([
    { origin: "generated", target: "anthropic/claude-sonnet-4", deprecated: true },
  ]);
  expect(await findAlias(sql, "sonnet")).toEqual([
    { origin: "generated", target: "anthropic/claude-sonnet-5", deprecated: true },
  ]);
  await syncFrom(sql, documentSource(makeDocument({ anthropic: { ...old, ...fresh } })));
  expect(await findAlias(sql, "sonnet")).toMatchObject([{ deprecated: false }]);
  expect(await findAlias(sql, "claude-sonnet-4")).toMatchObject([{ deprecated: false }]);
});

test("an alias moves to its family's new model on the release date, even if the document is unchanged", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const anthropic = {
    "claude-sonnet-4": { release_date: "2025-05-01" },
    "claude-sonnet-5": { release_date: "2999-01-01" },
  };
  await using server = await openCatalogServer((response, request) => {
    if (request.headers["if-none-match"] === '"v1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"v1"' }).end(JSON.stringify(makeDocument({ anthropic })));
  });
  const source = openSource(server.url);
  await syncFrom(sql, source);
  expect(await syncFrom(sql, source)).toMatchObject({ outcome: "unchanged" });
  expect(await findAlias(sql, "sonnet")).toMatchObject([{ target: "anthropic/claude-sonnet-4" }]);
  // Makes today the release date.
  await sql`update models set release_date = current_date where model_id = 'claude-sonnet-5'`;
  expect(await syncFrom(sql, source)).toMatchObject({
    outcome: "changed",
    counts: { updated: 0, unchanged: 2 },
  });
  expect(server.requests.at(-1)?.["if-none-match"]).toBe('"v1"');
  expect(await findAlias(sql, "sonnet")).toEqual([
    { origin: "generated", target: "anthropic/claude-sonnet-5", deprecated: false },
  ]);
  expect(await syncFrom(sql, source)).toMatchObject({ outcome: "unchanged" });
});
