import { expect, test } from "bun:test";
import { readDocument } from "../../catalog-sync/document.ts";
import { makeDocument, sourceRow } from "../helpers/models/catalog.ts";

for (const [what, value, reason] of [
  ["an array", [], "the document is not a JSON object of providers"],
  ["null", null, "the document is not a JSON object of providers"],
  ["a text", "models", "the document is not a JSON object of providers"],
  ["an error's envelope", { error: "overloaded" }, "the document has no provider: error: expected object"],
  [
    "providers without models",
    { acme: { id: "acme", name: "Acme" } },
    "the document has no provider: acme: models: expected required property",
  ],
] as const) {
  test(`readDocument() refuses ${what}`, () => expect(readDocument(value)).toEqual({ ok: false, reason }));
}

test("readDocument() skips bad rows, each with its reason, and keeps the good ones", () => {
  const bad: Record<string, unknown> = {
    number: 42,
    list: [],
    nameless: sourceRow("nameless", { name: undefined }),
    blank: sourceRow("blank", { name: "  " }),
    formless: sourceRow("formless", { modalities: { input: "text", output: ["text"] } }),
    negative: sourceRow("negative", { cost: { input: -1, output: 2 } }),
    worded: sourceRow("worded", { cost: { input: "free", output: 0 } }),
    halved: sourceRow("halved", { cost: { input: 1 } }),
    fraction: sourceRow("fraction", { limit: { context: 0.5, output: 1 } }),
    other: sourceRow("another"),
    nul: sourceRow("nul", { family: "a\0b" }),
    half: sourceRow("half", { name: "a\ud83d" }),
    "": sourceRow("", { name: "nobody" }),
    "line\nbreak": sourceRow("line\nbreak"),
    ["x".repeat(501)]: sourceRow("x".repeat(501)),
  };
  const document = makeDocument({
    acme: { good: { name: 'back\\u0000slash "\ud83d\ude00"', unknown: { key: 1 } } },
  });
  Object.assign((document["acme"] as { models: object }).models, bad);
  const result = readDocument({ ...document, broken: 1, worse: { id: "worse", name: 3, models: {} } });
  if (!result.ok) throw new Error(result.reason);
  expect(result.document.models.map(({ id }) => id)).toEqual(["good"]);
  const reasons = result.document.skipped.map(({ modelId, reason }) => [
    modelId?.slice(0, 10) ?? null,
    reason,
  ]);
  expect(Object.fromEntries(reasons.filter(([id]) => id !== null))).toMatchObject({
    number: "expected object",
    nameless: "name: must be a text of at most 1000 characters, and not blank",
    blank: "name: must be a text of at most 1000 characters, and not blank",
    formless: "modalities.input: expected array",
    negative: "cost.input: expected number to be greater or equal to 0",
    worded: "cost.input: expected number",
    halved: "cost.output: expected required property",
    fraction: "limit.context: expected integer",
    other: "id: differs from its key",
    nul: "text: contains NUL or malformed Unicode",
    half: "text: contains NUL or malformed Unicode",
    "": "id: is empty",
    "line\nbreak": "id: contains a control character",
    xxxxxxxxxx: "id: must have at most 500 characters",
  });
  expect(result.document.skipped).toHaveLength(Object.keys(bad).length + 2);
  expect(result.document.skipped.filter(({ modelId }) => modelId === null)).toEqual([
    { provider: "broken", modelId: null, reason: "expected object" },
    {
      provider: "worse",
      modelId: null,
      reason: "name: must be a text of at most 1000 characters, and not blank",
    },
  ]);
});

test("readDocument() takes the keys of every object's prototype for ids like others", () => {
  const value = JSON.parse(
    JSON.stringify(makeDocument({ acme: { constructor: {} } })).replaceAll("acme", "__proto__"),
  );
  const result = readDocument(value);
  expect(result.ok && result.document.models.map(({ provider, id }) => [provider, id])).toEqual([
    ["__proto__", "constructor"],
  ]);
});

test("readDocument() checks prices of tiers, and a null among them means that there is none", () => {
  const tier = { type: "context", size: 200_000 };
  const rows = {
    nulls: { cost: { input: 1, output: 2, reasoning: null, tiers: [{ input: null, output: 3, tier }] } },
    none: { cost: { input: 1, output: 2, tiers: null, context_over_200k: { input: 4, output: null } } },
    negative: { cost: { input: 1, output: 2, tiers: [{ input: -1, tier }] } },
    worded: { cost: { input: 1, output: 2, context_over_200k: "double" } },
  };
  const result = readDocument(makeDocument({ acme: rows }));
  if (!result.ok) throw new Error(result.reason);
  const { models, skipped } = result.document;
  expect(models.map(({ cost }) => cost)).toEqual([
    { input: 1, output: 2, tiers: [{ output: 3, tier }] },
    { input: 1, output: 2, context_over_200k: { input: 4 } },
  ]);
  expect(skipped.map(({ modelId, reason }) => [modelId, reason])).toEqual([
    ["negative", "cost.tiers.0.input: expected number to be greater or equal to 0"],
    ["worded", "cost.context_over_200k: expected object"],
  ]);
});
