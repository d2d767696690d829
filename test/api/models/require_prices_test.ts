import { expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

const BEFORE = "2026-01-01T00:00:00.000Z";
const FIRST = "2026-02-01T00:00:00.000Z";
const SECOND = "2026-03-01T00:00:00.000Z";
const LATER = "2026-04-01T00:00:00.000Z";

/** Syncs these models and backdates their changes to `at`. */
async function syncAt(
  app: TestApp,
  at: string,
  models: Record<string, { cost?: unknown; release_date?: string }>,
): Promise<void> {
  await syncFrom(app.db.sql, documentSource(makeDocument({ openai: models })), { force: true });
  const { sql } = app.db;
  await sql`update models set created_at = ${at}, prices_known_since = ${at} where created_at > ${LATER}`;
  await sql`update model_price_changes set changed_at = ${at} where changed_at > ${LATER}`;
  await sql`update model_alias_targets set valid_from = ${at} where valid_from > ${LATER}`;
  await app.deps.catalog.refresh();
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
async function get(app: TestApp, path: string, status = 200): Promise<any> {
  const response = await app.request(`/api/v1/models${path}`);
  expect([path, response.status]).toEqual([path, status]);
  return await response.json();
}

const TIERED = {
  input: 3,
  output: 15,
  cache_read: 0.3,
  reasoning: 12,
  input_audio: 40,
  output_audio: 80,
  context_over_200k: { input: 6, output: 22.5 },
};

test("asOf returns all prices as of that instant", async () => {
  await using app = await openTestApp();
  await syncAt(app, FIRST, { "gpt-5": { cost: TIERED } });
  await syncAt(app, SECOND, { "gpt-5": { cost: { input: 2, output: 10 } } });

  const current = await get(app, "/openai/gpt-5");
  expect(current).toMatchObject({ cost: { input: 2, output: 10 }, pricesKnownSince: FIRST });
  expect(current).not.toHaveProperty("pricesFrom");

  const { cost, pricesKnownSince, pricesFrom, ...rest } = await get(app, `/openai/gpt-5?asOf=${FIRST}`);
  expect({ cost, pricesKnownSince, pricesFrom }).toEqual({
    cost: {
      input: 3,
      output: 15,
      cacheRead: 0.3,
      reasoning: 12,
      inputAudio: 40,
      outputAudio: 80,
      tiers: [{ contextOver: 200_000, input: 6, output: 22.5 }],
    },
    pricesKnownSince: FIRST,
    pricesFrom: FIRST,
  });
  expect(current).toMatchObject(rest);

  const justBefore = await get(app, "/openai/gpt-5?asOf=2026-02-28T23:59:59.999Z");
  expect([justBefore.cost.input, justBefore.pricesFrom]).toEqual([3, FIRST]);
  for (const asOf of [SECOND, LATER, "2026-03-01T02:00:00%2B02:00"]) {
    expect(await get(app, `/openai/gpt-5?asOf=${asOf}`)).toMatchObject({
      cost: { input: 2, output: 10 },
      pricesFrom: SECOND,
    });
  }
});

test("a model that had no price at asOf has cost null", async () => {
  await using app = await openTestApp();
  await syncAt(app, FIRST, { "gpt-5": { cost: undefined } });
  await syncAt(app, SECOND, { "gpt-5": { cost: { input: 0, output: 0 } } });
  expect(await get(app, `/openai/gpt-5?asOf=${FIRST}`)).toMatchObject({ cost: null, pricesFrom: FIRST });
  expect(await get(app, `/openai/gpt-5?asOf=${SECOND}`)).toMatchObject({ cost: { input: 0, output: 0 } });
});

test("an asOf before the first sync of the model returns 404", async () => {
  await using app = await openTestApp();
  await syncAt(app, FIRST, { "gpt-5": {} });
  for (const path of ["/openai/gpt-5", "/resolve/gpt-5", "/resolve/gpt"]) {
    for (const [query, parameter] of [
      [`asOf=${BEFORE}`, "asOf"],
      [`asOf=${FIRST}&knownAt=${BEFORE}`, "knownAt"],
    ]) {
      expect(await get(app, `${path}?${query}`, 404)).toMatchObject({
        error: {
          code: "NOT_FOUND",
          message: expect.stringContaining(`Choose a later ${parameter}`),
          details: { reason: "unknown_at", pricesKnownSince: FIRST },
        },
      });
    }
  }
  expect(await get(app, `/openai/gpt-6?asOf=${FIRST}`, 404)).toMatchObject({
    error: { details: { reason: "model" } },
  });
  expect(await get(app, `/resolve/gpt5?asOf=${FIRST}`, 404)).toMatchObject({
    error: { details: { reason: "alias", suggestions: expect.arrayContaining(["gpt-5"]) } },
  });
});

test("an invalid or future asOf returns 400", async () => {
  await using app = await openTestApp();
  await syncAt(app, FIRST, { "gpt-5": {} });
  for (const query of [
    "asOf=2026-03-01",
    "asOf=now",
    "asOf=",
    "asOf=2999-01-01T00:00:00Z",
    "asOf=2026-02-30T00:00:00Z",
    `asOf=${FIRST}&asOf=${FIRST}`,
    `as_of=${FIRST}`,
  ]) {
    for (const path of ["/openai/gpt-5", "/resolve/gpt-5"]) {
      expect(await get(app, `${path}?${query}`, 400)).toMatchObject({ error: { code: "VALIDATION_ERROR" } });
    }
  }
});

test("an alias resolves to its target at asOf", async () => {
  await using app = await openTestApp();
  const old = { "gpt-4": { release_date: "2025-01-01", cost: { input: 30, output: 60 } } };
  await syncAt(app, FIRST, old);
  await syncAt(app, SECOND, { ...old, "gpt-5": { release_date: "2026-01-01" } });
  expect(await get(app, "/resolve/gpt")).toMatchObject({ data: { target: "openai/gpt-5" } });
  expect(await get(app, `/resolve/gpt?asOf=${FIRST}`)).toMatchObject({
    data: { alias: "gpt", target: "openai/gpt-4", model: { modelId: "gpt-4", cost: { input: 30 } } },
  });
  expect(await get(app, `/resolve/gpt?asOf=${SECOND}`)).toMatchObject({
    data: { target: "openai/gpt-5" },
  });
});

test("an operator's alias resolves only for times when it existed, even after the alias is deleted", async () => {
  await using app = await openTestApp();
  const { sql } = app.db;
  await syncAt(app, FIRST, { "gpt-5": {}, "gpt-4": {} });
  await sql`insert into model_aliases (alias, provider, model_id)
    values ('gpt-5', 'openai', 'gpt-4'), ('ours', 'openai', 'gpt-4'), ('later', 'openai', 'gpt-6')`;
  await sql`update model_alias_targets set valid_from = ${SECOND} where valid_from > ${LATER}`;
  await sql`delete from model_aliases where origin = 'manual'`;
  await sql`update model_alias_targets set valid_from = ${LATER} where valid_from > ${LATER}`;
  await app.deps.catalog.refresh();
  const targets = await Promise.all(
    [FIRST, SECOND, LATER].map(
      async (asOf) => (await get(app, `/resolve/gpt-5?asOf=${asOf}`)).data.target as string,
    ),
  );
  expect(targets).toEqual(["openai/gpt-5", "openai/gpt-4", "openai/gpt-5"]);
  await get(app, "/resolve/ours", 404);
  expect(await get(app, `/resolve/ours?asOf=${SECOND}`)).toMatchObject({ data: { target: "openai/gpt-4" } });
  expect(await get(app, `/resolve/ours?asOf=${LATER}`, 404)).toMatchObject({
    error: { details: { reason: "alias" } },
  });
  expect(await get(app, `/resolve/later?asOf=${SECOND}`, 404)).toMatchObject({
    error: { details: { reason: "alias" } },
  });
});

test("the ETag of an asOf response changes with its prices and with syncedAt", async () => {
  await using app = await openTestApp();
  await syncAt(app, FIRST, { "gpt-5": { cost: { input: 3, output: 15 } } });
  await syncAt(app, SECOND, { "gpt-5": { cost: { input: 2, output: 15 } } });
  for (const path of ["/openai/gpt-5", "/resolve/gpt-5"]) {
    const tagOf = async (asOf: string) => {
      const response = await app.request(`/api/v1/models${path}?asOf=${asOf}`);
      expect(response.headers.get("cache-control")).toBe("public, no-cache");
      return response.headers.get("etag") ?? "";
    };
    const first = await tagOf(FIRST);
    expect(first).toMatch(/^"[0-9a-f]{32}"$/);
    expect(await tagOf(SECOND)).not.toBe(first);
    const request = { headers: { "if-none-match": first } };
    expect((await app.request(`/api/v1/models${path}?asOf=${FIRST}`, request)).status).toBe(304);
    expect((await app.request(`/api/v1/models${path}?asOf=${SECOND}`, request)).status).toBe(200);
    // Another sync of the same document changes only `syncedAt`.
    await syncAt(app, LATER, { "gpt-5": { cost: { input: 2, output: 15 } } });
    expect((await app.request(`/api/v1/models${path}?asOf=${FIRST}`, request)).status).toBe(200);
  }
});
