import { expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";

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
