import { expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import {
  type DocumentModels,
  documentSource,
  loadBundledCatalog,
  makeDocument,
  syncFrom,
} from "../../helpers/models/catalog.ts";

const USAGE = { inputTokens: 1000, outputTokens: 500 };

// biome-ignore lint/suspicious/noExplicitAny: results and errors
async function post(app: TestApp, items: readonly object[], status = 200): Promise<any> {
  const response = await app.request("/api/v1/models/cost", { method: "POST", body: { items } });
  const body = await response.json();
  expect([response.status, status === 200 ? "" : body]).toEqual([status, status === 200 ? "" : body]);
  return body;
}

async function openWithModels(): Promise<TestApp> {
  const app = await openTestApp();
  const models = {
    openai: {
      "gpt-5": { cost: { input: 1.25, output: 10, cache_read: 0.125 } },
      free: { cost: { input: 0, output: 0 } },
      unpriced: { cost: undefined },
      tiny: { cost: { input: 0.1, output: 0.2 } },
    },
  };
  await syncFrom(app.db.sql, documentSource(makeDocument(models)));
  return app;
}

test("each item is priced, by model or alias, and the total is exact", async () => {
  await using app = await openWithModels();
  const [model] = await app.db.sql`select created_at from models where model_id = 'gpt-5'`;
  const priced = {
    currency: "USD",
    prices: { input: 1.25, output: 10, cacheRead: 0.125 },
    pricesFrom: model?.["createdAt"],
  };
  const { data } = await post(app, [
    { provider: "openai", modelId: "gpt-5", ...USAGE },
    { alias: "gpt", ...USAGE, cacheReadTokens: 8, asOf: new Date().toISOString() },
    { provider: "openai", modelId: "free", ...USAGE },
    { provider: "openai", modelId: "tiny", inputTokens: 1, outputTokens: 1 },
  ]);
  expect(data.items[0]).toEqual({ cost: "0.00625", ...priced });
  expect(data.items[1]).toEqual({ cost: "0.006251", ...priced });
  expect(data.items[2]).toMatchObject({ cost: "0", prices: { input: 0, output: 0 } });
  expect(data.items[3]).toMatchObject({ cost: "0.0000003" });
  expect(data.total).toBe("0.0125013");
});

test("an item that cannot be priced has an error, and the others are priced", async () => {
  await using app = await openWithModels();
  const { data } = await post(app, [
    { provider: "openai", modelId: "nothing", ...USAGE },
    { alias: "nothing", ...USAGE },
    { provider: "openai", modelId: "unpriced", ...USAGE },
    { provider: "openai", modelId: "gpt-5", ...USAGE, asOf: "2020-03-01T00:00:00Z" },
    { alias: "gpt", ...USAGE, asOf: "2020-03-01T00:00:00Z" },
    { provider: "openai", modelId: "gpt-5", ...USAGE },
  ]);
  const errors = data.items
    .slice(0, 5)
    .map(({ error }: { error: { code: string; details: object } }) => error);
  expect(errors.map(({ code }: { code: string }) => code)).toEqual(Array(5).fill("NOT_FOUND"));
  expect(errors.map(({ details }: { details: { reason: string } }) => details.reason)).toEqual([
    "model",
    "alias",
    "price",
    "unknown_at",
    "unknown_at",
  ]);
  expect(errors[3].details.pricesKnownSince).toMatch(/^\d{4}-.*Z$/);
  expect(data.items[5].cost).toBe("0.00625");
  expect(data.total).toBe("0.00625");
});

const DATED: DocumentModels = {
  openai: {
    ...{ "gpt-5": {}, "gpt-5-pro": {}, "gpt-5-2025-08-06-mini": {}, "gpt-5.2": {}, "gpt-4": {} },
    "gpt-4o": { cost: { input: 2.5, output: 10 } },
    "gpt-4o-2024-05-13": { cost: { input: 5, output: 15 } },
  },
  anthropic: { "claude-sonnet-4": {}, "claude-sonnet-4-5": {} },
  google: { "gemini-2.5-pro-preview": {}, "gemini-2.5-flash-preview": {} },
};

test("an id with a date gets the model without it as first suggestion, and its price with resolveDated", async () => {
  await using app = await openTestApp();
  await syncFrom(app.db.sql, documentSource(makeDocument(DATED)));
  for (const [dated, undated] of [
    ["openai/gpt-5-2025-08-07", "openai/gpt-5"],
    ["openai/gpt-4-0613", "openai/gpt-4"],
    ["anthropic/claude-sonnet-4-20250514", "anthropic/claude-sonnet-4"],
    ["anthropic/claude-sonnet-4@20250514", "anthropic/claude-sonnet-4"],
    ["anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"],
    ["google/gemini-2.5-pro-preview-05-06", "google/gemini-2.5-pro-preview"],
    ["google/gemini-2.5-flash-preview-09-2025", "google/gemini-2.5-flash-preview"],
  ] as const) {
    const [provider = "", modelId = ""] = dated.split("/");
    const { data } = await post(app, [
      { provider, modelId, ...USAGE },
      { provider, modelId, ...USAGE, resolveDated: true },
      { alias: modelId, ...USAGE },
      { alias: modelId, ...USAGE, resolveDated: true },
    ]);
    const [byKey, resolved, byAlias, resolvedAlias] = data.items;
    expect([dated, byKey.error.details.suggestions[0]]).toEqual([dated, undated]);
    expect(byKey.error.message).toStartWith(`Model "${dated}" not found. Did you mean "${undated}"`);
    expect(resolved).toMatchObject({ cost: "0.002", resolvedTo: undated });
    expect([dated, byAlias.error.details.suggestions[0]]).toEqual([dated, undated.split("/")[1]]);
    expect(resolvedAlias).toMatchObject({ cost: "0.002", resolvedTo: undated });
    const one = await app.request(`/api/v1/models/${provider}/${encodeURIComponent(modelId)}`);
    const { error } = (await one.json()) as { error: { details: { suggestions: string[] } } };
    expect(error.details.suggestions[0]).toBe(undated);
  }
  const { data } = await post(app, [
    { provider: "openai", modelId: "gpt-4o-2024-05-13", ...USAGE, resolveDated: true },
    { provider: "openai", modelId: "gpt-5", ...USAGE, resolveDated: true },
    { provider: "openai", modelId: "o3-2025-04-16", ...USAGE, resolveDated: true },
    { provider: "nobody", modelId: "gpt-5-2025-08-07", ...USAGE },
  ]);
  // An id of the catalog is priced as itself.
  expect(data.items[0]).toMatchObject({ cost: "0.0125" });
  for (const item of data.items.slice(0, 2)) expect(item).not.toHaveProperty("resolvedTo");
  expect(data.items[2].error.details.reason).toBe("model");
  expect(data.items[3].error.details.suggestions).toEqual(["openai/gpt-5"]);
});

test("a kind of token that is used and has no price is an error of its item", async () => {
  await using app = await openWithModels();
  const item = { provider: "openai", modelId: "gpt-5", ...USAGE };
  const { data } = await post(app, [
    { ...item, cacheWriteTokens: 1 },
    { ...item, inputAudioTokens: 1 },
    { ...item, outputAudioTokens: 1 },
    { ...item, cacheWriteTokens: 0, cacheReadTokens: 1, reasoningTokens: 500 },
  ]);
  expect(data.items[0].error).toEqual({
    code: "NOT_FOUND",
    message:
      'Model "openai/gpt-5" has no price for cacheWriteTokens. If the provider charges them as input, add them to inputTokens.',
    details: { reason: "price", kind: "cacheWrite" },
  });
  expect(data.items[1].error.details).toEqual({ reason: "price", kind: "inputAudio" });
  expect(data.items[2].error.details).toEqual({ reason: "price", kind: "outputAudio" });
  expect(data.items[3].cost).toBe("0.011250125");
  expect(data.total).toBe("0.011250125");
});

test("on the bundled catalog, ids as providers return them and tiers without a reasoning price are priced", async () => {
  await using app = await openTestApp();
  await loadBundledCatalog(app.db.sql);
  const { data } = await post(app, [
    {
      ...{ provider: "openrouter", modelId: "google/gemini-3.1-pro-preview" },
      ...{ inputTokens: 300_000, outputTokens: 1000, reasoningTokens: 9000 },
    },
    { provider: "openai", modelId: "gpt-5-2025-08-07", ...USAGE },
    { provider: "openai", modelId: "gpt-5-2025-08-07", ...USAGE, resolveDated: true },
    { alias: "gpt-5-mini-2025-08-07", ...USAGE, resolveDated: true },
  ]);
  expect(data.items[0]).toMatchObject({ cost: "1.38", prices: { reasoning: 18, contextOver: 200_000 } });
  expect(data.items[1].error.details.suggestions[0]).toBe("openai/gpt-5");
  expect(data.items[2]).toMatchObject({ cost: "0.00625", resolvedTo: "openai/gpt-5" });
  expect(data.items[3]).toMatchObject({ cost: "0.00125", resolvedTo: "openai/gpt-5-mini" });
});

test("1,000 unknown names are answered with suggestions", async () => {
  await using app = await openTestApp();
  const ids = Array.from({ length: 600 }, (_, n) => [`model-${n}`, {}] as const);
  await syncFrom(app.db.sql, documentSource(makeDocument({ openai: Object.fromEntries(ids) })));
  const items = Array.from({ length: 1000 }, (_, n) => ({
    ...(n % 2 ? { alias: `model-${n}x` } : { provider: "openai", modelId: `model-${n}x` }),
    ...USAGE,
  }));
  const { data } = await post(app, items);
  expect(
    data.items.every(
      ({ error }: { error: { details: { suggestions: string[] } } }) => error.details.suggestions.length > 0,
    ),
  ).toBe(true);
});

test("an alias that was unknown at that time is told from a model whose prices were", async () => {
  await using app = await openWithModels();
  const { data } = await post(app, [{ alias: "gpt", ...USAGE, asOf: "2020-03-01T00:00:00Z" }]);
  expect(data.items[0].error.message).toMatch(
    /^Alias "gpt" is known since .*Z\. Choose a later asOf, or name the model, such as "openai\/gpt-5"\.$/,
  );
});

test("an invalid request names every problem", async () => {
  await using app = await openWithModels();
  const { error } = await post(
    app,
    [
      { ...USAGE },
      { alias: "gpt", provider: "openai", modelId: "gpt-5", ...USAGE },
      { provider: "openai", ...USAGE },
      { alias: "gpt", ...USAGE, asOf: "2999-01-01T00:00:00Z" },
      { alias: "gpt", ...USAGE, asOf: "yesterday" },
    ],
    400,
  );
  expect(error.details.errors.map(({ path }: { path: string }) => path)).toEqual([
    "items.0",
    "items.1",
    "items.2",
    "items.3.asOf",
    "items.4.asOf",
  ]);
  const item = { alias: "gpt", ...USAGE };
  for (const bad of [
    { ...item, inputTokens: -1 },
    { ...item, inputTokens: 1.5 },
    { ...item, outputTokens: 1e13 },
    { ...item, cacheTokens: 1 },
    { alias: "gpt", inputTokens: 1 },
    { ...item, alias: "" },
    { ...item, alias: "gpt\0" },
    { provider: "openai", modelId: "\ud800", ...USAGE },
  ]) {
    await post(app, [bad], 400);
  }
  await post(app, [], 400);
  await post(app, Array(1001).fill(item), 400);
  expect((await app.request("/api/v1/models/cost")).status).toBe(405);
});

test("a number of tokens that is not a whole number is named by its path; text is not a number", async () => {
  await using app = await openWithModels();
  const item = { alias: "gpt", ...USAGE };
  for (const [field, value, message] of [
    ["inputTokens", 1.5, "is not valid: expected integer"],
    ["inputTokens", "1", "is not valid: expected integer"],
    ["outputTokens", null, "is not valid: expected integer"],
    ["cacheReadTokens", "1", "is not valid: expected integer"],
    ["contextTokens", -1, "is not valid: expected integer to be greater or equal to 0"],
  ]) {
    const { error } = await post(app, [item, { ...item, [`${field}`]: value }], 400);
    expect(error.details.errors).toEqual([{ path: `items.1.${field}`, message }]);
    expect(error.message).toBe(`Invalid request: items.1.${field} ${message}`);
  }
});

test("1,000 items are one query", async () => {
  await using app = await openWithModels();
  await post(app, [{ alias: "gpt", ...USAGE }]);
  const calls: unknown[] = [];
  const { catalog } = app.deps;
  const read = catalog.read.bind(catalog);
  catalog.read = async (query) => {
    calls.push(query);
    return read(query);
  };
  const items = Array.from({ length: 1000 }, (_, n) => ({
    ...(n % 2 ? { alias: "gpt" } : { provider: "openai", modelId: "gpt-5" }),
    inputTokens: n,
    outputTokens: 1,
    asOf: new Date().toISOString(),
  }));
  const { data } = await post(app, items);
  expect(data.items.length).toBe(1000);
  expect(data.items[999].cost).toBe("0.00125875");
  expect(data.total).toBe("0.634375");
  expect(calls.length).toBe(1);
});
