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
async function post(app: TestApp, items: readonly unknown[], status = 200): Promise<any> {
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

test("each item is priced by model or alias, and the total is exact", async () => {
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

test("an item that cannot be priced has an error, and the remaining items are priced", async () => {
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

test("an id with a date gets the undated model as its first suggestion, and that model's price with resolveDated", async () => {
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
  // An id that is in the catalog is not resolved to another model.
  expect(data.items[0]).toMatchObject({ cost: "0.0125" });
  for (const item of data.items.slice(0, 2)) expect(item).not.toHaveProperty("resolvedTo");
  expect(data.items[2].error.details.reason).toBe("model");
  expect(data.items[3].error.details.suggestions).toEqual(["openai/gpt-5"]);
});

test("a kind of token that is used but has no price is an error in the item", async () => {
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

test("in the bundled catalog, dated ids resolve, and a tier without a reasoning price uses its output price", async () => {
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

test("1,000 unknown names get suggestions", async () => {
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

test("the error for an alias that is unknown at asOf suggests a later asOf or the model", async () => {
  await using app = await openWithModels();
  const { data } = await post(app, [{ alias: "gpt", ...USAGE, asOf: "2020-03-01T00:00:00Z" }]);
  expect(data.items[0].error.message).toMatch(
    /^Alias "gpt" is known since .*Z\. Choose a later asOf, or name the model, such as "openai\/gpt-5"\.$/,
  );
});

test("an invalid item has an error with every problem, and the remaining items are priced", async () => {
  await using app = await openWithModels();
  const item = { alias: "gpt", ...USAGE };
  const name = "must have either provider and modelId, or alias";
  const instant = "must be ISO 8601 with an offset, such as 2026-11-20T10:00:00.000Z";
  const integer = "must be a whole number";
  const cases: readonly [unknown, string, string][] = [
    [USAGE, "", name],
    [{ ...item, provider: "openai", modelId: "gpt-5" }, "", name],
    [{ provider: "openai", ...USAGE }, "", name],
    [{ ...item, asOf: "yesterday" }, "asOf", instant],
    [{ ...item, knownAt: "" }, "knownAt", instant],
    [{ ...item, inputTokens: 1.5 }, "inputTokens", integer],
    [{ ...item, inputTokens: "1" }, "inputTokens", integer],
    [{ ...item, outputTokens: null }, "outputTokens", integer],
    [{ ...item, cacheReadTokens: "1" }, "cacheReadTokens", integer],
    [{ ...item, contextTokens: -1 }, "contextTokens", "must be at least 0"],
    [{ ...item, outputTokens: 1e13 }, "outputTokens", "must be at most 1000000000000"],
    [
      { ...item, cacheReadToken: 1 },
      "cacheReadToken",
      'is not a known field. Did you mean "cacheReadTokens"?',
    ],
    [{ alias: "gpt", inputTokens: 1 }, "outputTokens", "is required"],
    [{ ...item, alias: "gpt\0" }, "alias", "must not contain the character NUL"],
    [{ provider: "openai", modelId: "\ud800", ...USAGE }, "modelId", "must be well-formed Unicode text"],
    [null, "", "must be an object"],
    [[item], "", "must be an object"],
  ];
  const { data } = await post(app, [...cases.map(([given]) => given), item]);
  for (const [index, [given, path, message]] of cases.entries()) {
    expect([given, data.items[index]]).toEqual([
      given,
      {
        error: {
          code: "VALIDATION_ERROR",
          message: `Check the item: ${path === "" ? "" : `${path} `}${message}${message.endsWith("?") ? "" : "."}`,
          details: { errors: [{ path, message }] },
        },
      },
    ]);
  }
  expect(data.items.at(-1).cost).toBe("0.00625");
  expect(data.total).toBe("0.00625");
  const future = await post(app, [
    { alias: "gpt", inputTokens: -1, asOf: "2999-01-01T00:00:00Z", modelID: "" },
  ]);
  const [{ error }] = future.data.items;
  expect(error.details.errors.map(({ path }: { path: string }) => path)).toEqual([
    "outputTokens",
    "modelID",
    "inputTokens",
  ]);
  const late = await post(app, [{ ...item, asOf: "2999-01-01T00:00:00Z" }]);
  expect(late.data.items[0].error.details.errors[0].message).toStartWith("must not be in the future; it is ");
  expect(late.data.total).toBe("0");
});

test("an item reports at most five problems, with short paths", async () => {
  await using app = await openWithModels();
  const fields = Array.from({ length: 15 }, (_, n) => [`${n}${"x".repeat(40)}`, 1]);
  const items = Array.from({ length: 1000 }, () => Object.fromEntries(fields));
  const { data } = await post(app, items);
  for (const { error } of data.items) expect(error.details.errors.length).toBe(5);
  const long = await post(app, [{ ["x".repeat(100_000)]: 1 }]);
  expect(JSON.stringify(long).length).toBeLessThan(2000);
});

test("a body without a list of 1 to 1,000 items returns 400", async () => {
  await using app = await openWithModels();
  const item = { alias: "gpt", ...USAGE };
  await post(app, [], 400);
  await post(app, Array(1001).fill(item), 400);
  for (const [body, path] of [
    [{}, "items"],
    [{ items: item }, "items"],
    [{ items: [item], organisation: "x" }, "organisation"],
  ] as const) {
    const response = await app.request("/api/v1/models/cost", { method: "POST", body });
    const { error } = (await response.json()) as { error: { details: { errors: { path: string }[] } } };
    expect([response.status, error.details.errors.map((problem) => problem.path)]).toEqual([400, [path]]);
  }
  expect((await app.request("/api/v1/models/cost")).status).toBe(405);
});

test("pricing 1,000 items takes one query", async () => {
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
