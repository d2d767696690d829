import { expect, test } from "bun:test";
import { readDocument } from "../../catalog-sync/source_document.ts";
import { makeDocument, sourceRow } from "../helpers/models/catalog.ts";

for (const [what, value, reason] of [
  ["an array", [], "the document is not a JSON object of providers"],
  ["null", null, "the document is not a JSON object of providers"],
  ["a string", "models", "the document is not a JSON object of providers"],
  ["an error envelope", { error: "overloaded" }, "the document has no provider: error: expected object"],
  [
    "providers without models",
    { acme: { id: "acme", name: "Acme" } },
    "the document has no provider: acme: models: expected object",
  ],
] as const) {
  test(`readDocument() refuses ${what}`, () => expect(readDocument(value)).toEqual({ ok: false, reason }));
}

function read(models: Record<string, unknown>, provider: Record<string, unknown> = {}) {
  const result = readDocument({ acme: { id: "acme", name: "Acme", models, ...provider } });
  if (!result.ok) throw new Error(result.reason);
  return result.document;
}

test("readDocument() skips rows with an unreadable id or price, and gives the reason for each", () => {
  const bad: Record<string, unknown> = {
    number: 42,
    list: [],
    negative: sourceRow("negative", { cost: { input: -1, output: 2 } }),
    worded: sourceRow("worded", { cost: { input: "free", output: 0 } }),
    free: sourceRow("free", { cost: "free" }),
    endless: sourceRow("endless", { cost: { input: 1e10 } }),
    other: sourceRow("another"),
    "": sourceRow("", { name: "nobody" }),
    "lab/": sourceRow("lab/"),
    "line\nbreak": sourceRow("line\nbreak"),
    "half\ud83d": sourceRow("half\ud83d"),
    ["x".repeat(241)]: sourceRow("x".repeat(241)),
  };
  const { models, skipped, unknown } = read({
    good: sourceRow("good", { name: 'back\\u0000slash "\ud83d\ude00"', unknown: { key: 1 } }),
    ...bad,
  });
  expect([models.map(({ id }) => id), unknown]).toEqual([["good"], []]);
  expect(Object.fromEntries(skipped.map(({ modelId, reason }) => [modelId?.slice(0, 10), reason]))).toEqual({
    number: "expected object",
    list: "expected object",
    negative: "cost.input: expected number to be greater or equal to 0",
    worded: "cost.input: expected number",
    free: "cost: expected object",
    endless: "cost.input: expected number to be less or equal to 1000000000",
    other: "id: differs from its key",
    "": "id: is empty",
    "lab/": "id: has no name after its last slash",
    "line\nbreak": "id: contains a control character",
    "half\ud83d": "id: is malformed Unicode",
    xxxxxxxxxx: "id: must have at most 240 characters",
  });
});

test("readDocument() skips providers without models or with an invalid id", () => {
  const result = readDocument({
    ...makeDocument({ acme: { a: {} } }),
    broken: 1,
    empty: { name: "Empty" },
    other: { id: "another", models: {} },
    ...makeDocument({ "acme/eu": { a: {} } }),
  });
  expect(result.ok && result.document.skipped).toEqual([
    { provider: "broken", modelId: null, reason: "expected object" },
    { provider: "empty", modelId: null, reason: "models: expected object" },
    { provider: "other", modelId: null, reason: "id: differs from its key" },
    { provider: "acme/eu", modelId: null, reason: "id: contains a slash" },
  ]);
});

test("readDocument() notes fields that cannot be read, and keeps the rest of the row", () => {
  const fields: Record<string, unknown> = {
    name: " ",
    description: "x".repeat(10_001),
    family: "a\0b",
    attachment: "yes",
    reasoning: 1,
    tool_call: [],
    structured_output: "true",
    open_weights: {},
    status: 7,
    release_date: 2025,
    knowledge: "x".repeat(101),
    modalities: { input: "text", output: ["text", ""] },
    limit: { context: -1, input: 0.5, output: 8192 },
  };
  const { models, skipped, unknown } = read(
    { a: { ...fields, id: "a", cost: { input: 1, output: 2 } }, b: { modalities: 1, limit: [] } },
    { name: 3, doc: {}, api: "half\ud83d" },
  );
  expect(skipped).toEqual([]);
  const nothing = { provider: "acme", modalities: { input: [], output: [] } };
  expect(models).toEqual([
    { ...nothing, id: "a", name: "a", limit: { output: 8192 }, cost: { input: 1, output: 2 } },
    { ...nothing, id: "b", name: "b", limit: {} },
  ]);
  const noted = unknown.map(({ modelId, reason }) => `${modelId ?? "acme"} ${reason.split(":")[0]}`);
  expect(noted.toSorted()).toEqual(
    [
      ...["acme name", "acme doc", "acme api", "b modalities", "b limit"],
      ...Object.keys(fields)
        .filter((name) => name !== "modalities" && name !== "limit")
        .map((name) => `a ${name}`),
      ...["a modalities.input", "a modalities.output.1", "a limit.context", "a limit.input"],
    ].toSorted(),
  );
  expect(unknown).toContainEqual({
    provider: "acme",
    modelId: "a",
    reason: "name: must be a text of at most 1000 characters, and not blank",
  });
});

test("readDocument() accepts a cost with only an input price, and drops a cost without an input price", () => {
  const { models, unknown } = read({
    embedding: sourceRow("embedding", { cost: { input: 0.02 } }),
    output: sourceRow("output", { cost: { output: 3 } }),
    empty: sourceRow("empty", { cost: {} }),
    none: sourceRow("none", { cost: null }),
  });
  expect(models.map(({ cost }) => cost)).toEqual([{ input: 0.02 }, undefined, undefined, undefined]);
  expect(unknown).toEqual([{ provider: "acme", modelId: "output", reason: "cost: has no input price" }]);
});

test("readDocument() treats names of prototype properties as ordinary ids", () => {
  const value = JSON.parse(
    JSON.stringify(makeDocument({ acme: { constructor: {} } })).replaceAll("acme", "__proto__"),
  );
  const result = readDocument(value);
  expect(result.ok && result.document.models.map(({ provider, id }) => [provider, id])).toEqual([
    ["__proto__", "constructor"],
  ]);
});

test("readDocument() checks the prices of tiers, and treats null as no price", () => {
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
