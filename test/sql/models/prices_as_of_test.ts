import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Cost, presentCost } from "../../../api/models/price_json.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { listModels } from "../../../sql/models/models.ts";
import { findPrices } from "../../../sql/models/prices_as_of.ts";
import { documentSource, loadBundledCatalog, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");
const toText = (time: number) => new Date(time).toISOString();
const MODEL_IDS = ["a", "b", "c"];
/** A model that every document contains, because the sync rejects an empty document. */
const STEADY = { "always-there": {} };

interface SourceCost {
  input: number;
  output: number;
  cache_read?: number | undefined;
  cache_write?: number | undefined;
  reasoning?: number | undefined;
  input_audio?: number | undefined;
  context_over_200k?: { input: number } | undefined;
}

/** The models of a document by id. A model without a price has `cost: null`. */
type Listed = Partial<Record<string, { cost: SourceCost | null }>>;

type Step =
  | { kind: "sync"; elapsedMs: number; models: Listed }
  | { kind: "operator"; elapsedMs: number; id: string; input: number | null };

const price = fc.constantFrom(0, 0.1, 0.3, 1, 2.5);
const maybePrice = fc.option(price, { nil: undefined });
const cost: fc.Arbitrary<SourceCost> = fc.record({
  input: price,
  output: price,
  cache_read: maybePrice,
  cache_write: maybePrice,
  reasoning: maybePrice,
  input_audio: maybePrice,
  context_over_200k: fc.option(fc.record({ input: price }), { nil: undefined }),
});
const listed = fc.option(fc.record({ cost: fc.option(cost) }), { nil: undefined });
/** Milliseconds since the previous step. Two steps may share a millisecond. */
const elapsedMs = fc.constantFrom(0, 0, 1, 1000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("sync" as const),
      elapsedMs,
      models: fc.record(Object.fromEntries(MODEL_IDS.map((id) => [id, listed]))),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("operator" as const),
      elapsedMs,
      id: fc.constantFrom(...MODEL_IDS),
      input: fc.option(price),
    }),
  },
);

/** Returns the cost in a source's document as the API presents it. */
function expectedCost(given: SourceCost | null): Cost | null {
  if (!given) return null;
  const named = {
    input: given.input,
    output: given.output,
    cacheRead: given.cache_read,
    cacheWrite: given.cache_write,
    reasoning: given.reasoning,
    inputAudio: given.input_audio,
    tiers: given.context_over_200k && [{ contextOver: 200_000, ...given.context_over_200k }],
  };
  return Object.fromEntries(
    Object.entries(named).filter(([, value]) => value !== undefined),
  ) as unknown as Cost;
}

type Costs = Readonly<Record<string, Cost | null>>;

/** Applies a step to the database. Returns the expected costs after the step. */
async function apply(sql: Pool, before: Costs, given: Step): Promise<Costs> {
  if (given.kind === "sync") {
    const models = Object.entries(given.models).filter(([, model]) => model !== undefined);
    const rows = models.map(([id, model]) => [id, { cost: model?.cost ?? undefined }]);
    const document = makeDocument({ acme: { ...STEADY, ...Object.fromEntries(rows) } });
    await syncFrom(sql, documentSource(document), { force: true });
    const costs = models.map(([id, model]) => [id, expectedCost(model?.cost ?? null)]);
    return { ...before, ...Object.fromEntries(costs) };
  }
  const { id, input } = given;
  if (!(id in before)) return before;
  if (input === null) {
    await sql`
      update models
      set input_usd_per_mtok = null, output_usd_per_mtok = null, cache_read_usd_per_mtok = null,
        cache_write_usd_per_mtok = null, pricing = null
      where model_id = ${id}`;
    return { ...before, [id]: null };
  }
  await sql`
    update models
    set input_usd_per_mtok = ${input}, output_usd_per_mtok = coalesce(output_usd_per_mtok, 0)
    where model_id = ${id}`;
  return { ...before, [id]: { ...(before[id] ?? { output: 0 }), input } };
}

/** Sets `at` as the recording time of all models and price changes that were added since the previous call. */
async function dateNewRows(sql: Pool, at: string): Promise<void> {
  await sql`update models set created_at = ${at}, prices_known_since = ${at} where created_at > now() - interval '1 hour'`;
  await sql`update model_price_changes set changed_at = ${at} where changed_at > now() - interval '1 hour'`;
}

async function readCosts(sql: Pool, asOf: string): Promise<Costs> {
  const lookups = MODEL_IDS.map((modelId) => ({ provider: "acme", modelId, asOf }));
  const found = await findPrices(sql, lookups);
  const known = found.flatMap(({ model }) => (model && model.knownSince <= asOf ? [model] : []));
  return Object.fromEntries(known.map(({ modelId, prices }) => [modelId, presentCost(prices)]));
}

test("returns the prices of the document that was current at any given time", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      await sql`delete from model_price_changes`;
      await sql`delete from models`;
      const timeline: { time: number; costs: Costs }[] = [];
      let time = START;
      let costs: Costs = {};
      for (const given of steps) {
        time += given.elapsedMs;
        costs = await apply(sql, costs, given);
        await dateNewRows(sql, toText(time));
        timeline.push({ time, costs });
      }
      for (const instant of timeline.flatMap((at) => [at.time - 1, at.time, at.time + 1])) {
        const expected = timeline.findLast((at) => at.time <= instant)?.costs ?? {};
        expect([instant, await readCosts(sql, toText(instant))]).toEqual([instant, expected]);
      }
    }),
    { numRuns: 25 },
  );
});

test("records all new prices of a model with the same time", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await loadBundledCatalog(sql);
  await sql`delete from model_price_changes`;
  // With this many models, the writes span several milliseconds.
  await sql`
    update models
    set input_usd_per_mtok = 1001, output_usd_per_mtok = 1002, cache_read_usd_per_mtok = 1003, cache_write_usd_per_mtok = 1004`;
  const [counted] = await sql`
    select count(*)::int as models, max(instants)::int as instants
    from (
      select count(distinct changed_at) as instants from model_price_changes group by provider, model_id
    ) as model`;
  expect(counted).toEqual({ models: 5276, instants: 1 });
});

test("uses the last recorded price after the clock is set back", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  for (const input of [1, 2, 3]) {
    const document = makeDocument({ acme: { a: { cost: { input, output: 1 } } } });
    await syncFrom(sql, documentSource(document));
  }
  await sql`update models set prices_known_since = '2026-01-01'`;
  await sql`update model_price_changes set changed_at = '2026-03-01' where new_value = 2`;
  await sql`update model_price_changes set changed_at = '2026-02-01' where new_value = 3`;
  const days = ["2026-01-15", "2026-02-15", "2026-03-15"].map((day) => `${day}T00:00:00.000Z`);
  const found = await findPrices(
    sql,
    days.map((asOf) => ({ provider: "acme", modelId: "a", asOf })),
  );
  expect(found.map(({ model }) => model?.prices["input"])).toEqual([1, 3, 3]);
});

test("returns the stored prices for the current time", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await loadBundledCatalog(sql);
  const audio = { cost: { input: 1, output: 2, input_audio: 3, context_over_200k: { output: 4 } } };
  await syncFrom(sql, documentSource(makeDocument({ acme: { audio, unpriced: { cost: undefined } } })), {
    force: true,
  });
  const rows = await listModels(sql);
  const found = await findPrices(
    sql,
    rows.map(({ provider, modelId }) => ({ provider, modelId, asOf: null })),
  );
  expect(found.map(({ model }) => model?.prices)).toEqual(rows.map(({ prices }) => prices));
  expect(rows.length).toBe(5278);
});

test("records an operator's alias in the alias history even if the alias is committed during a sync", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const models = { openai: { "gpt-4": { release_date: "2025-01-01" } } };
  await syncFrom(sql, documentSource(makeDocument(models)));
  const newer = { openai: { ...models.openai, "gpt-5": { release_date: "2026-01-01" } } };
  let sync: Promise<unknown> = Promise.resolve();
  await db.owner.begin(async (tx) => {
    await tx`insert into model_aliases (alias, provider, model_id) values ('gpt', 'openai', 'gpt-4')`;
    sync = syncFrom(sql, documentSource(makeDocument(newer)));
    await waitFor(async () => {
      const [blocked] =
        await db.admin`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return blocked !== undefined;
    });
  });
  expect(await sync).toMatchObject({ outcome: "changed" });
  const targets = await sql`select model_id from model_alias_targets where alias = 'gpt' order by id`;
  expect(targets.map(({ modelId }) => modelId)).toEqual(["gpt-4"]);
  await sql`delete from model_aliases where origin = 'manual'`;
  const [found] = await findPrices(sql, [{ alias: "gpt", asOf: null }]);
  expect(found?.model?.modelId).toBe("gpt-5");
});

test("dates a price that applies again after a correction from the end of that correction", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await syncFrom(sql, documentSource(makeDocument({ acme: { a: { cost: { input: 3, output: 9 } } } })));
  await sql`update models set prices_known_since = '2026-01-01'`;
  for (const [field, value, from, to, knownFrom] of [
    ["input", 2, "2026-02-01", "2026-03-01", "2026-08-01"],
    // Overlaps the previous correction and ends after it.
    ["input", 1, "2026-02-15", "2026-04-01", "2026-08-02"],
    ["output", 8, "2026-02-20", "2026-05-01", "2026-08-03"],
    // Lies within the previous correction.
    ["output", 7, "2026-03-10", "2026-03-20", "2026-08-04"],
  ] as const) {
    await sql`
      insert into model_price_corrections (provider, model_id, field, value, valid_from, valid_to, known_from, reason)
      values ('acme', 'a', ${field}, ${value}, ${from}, ${to}, ${knownFrom}, 'a mistake')`;
  }
  const rows = [
    ["2026-01-15", null, 3, 9, "2026-01-01"],
    ["2026-02-10", null, 2, 9, "2026-02-01"],
    ["2026-03-05", null, 1, 8, "2026-02-20"],
    ["2026-03-15", null, 1, 7, "2026-03-10"],
    ["2026-03-25", null, 1, 8, "2026-03-20"],
    ["2026-04-01", null, 3, 8, "2026-04-01"],
    ["2026-05-01", null, 3, 9, "2026-05-01"],
    [null, null, 3, 9, "2026-05-01"],
    ["2026-06-01", "2026-08-01", 3, 9, "2026-03-01"],
    ["2026-06-01", "2026-07-31", 3, 9, "2026-01-01"],
  ] as const;
  const lookups = rows.map(([asOf, knownAt]) => ({ provider: "acme", modelId: "a", asOf, knownAt }));
  const found = (await findPrices(sql, lookups)).map(({ model }, index) => [
    ...(rows[index]?.slice(0, 2) ?? []),
    ...[model?.prices["input"], model?.prices["output"], model?.pricesFrom.slice(0, 10)],
  ]);
  expect(found).toEqual(rows.map((row) => [...row]));
});
