import { describe, expect, test } from "bun:test";
import { mapCatalog, toDate } from "../../catalog-sync/map_catalog.ts";
import { readDocument, type SourceDocument } from "../../catalog-sync/source_document.ts";
import { normalizeModelId } from "../../shared/models/model_id.ts";
import type { Model } from "../../sql/models/models.ts";
import { type DocumentModels, type DocumentRow, makeDocument } from "../helpers/models/catalog.ts";

function read(value: unknown): SourceDocument {
  const result = readDocument(value);
  if (!result.ok) throw new Error(result.reason);
  return result.document;
}

function mapAll(models: DocumentModels): Model[] {
  return mapCatalog(read(makeDocument(models))).models;
}

/** Maps a document with a single model, which has these fields, and returns the model. */
function mapOne(fields: DocumentRow, id = "model-1"): Model {
  const [model] = mapAll({ acme: { [id]: fields } });
  if (!model) throw new Error("the row was skipped");
  return model;
}

test("ids are kept as they are, whatever characters they contain", () => {
  const ids = ["openai/GPT-5", "us.nova:0", "claude@20250219", "~latest", "Hermes 2/(3.1v3)+x", "a/b/c"];
  const models = mapAll({ "wafer.ai": Object.fromEntries(ids.map((id) => [id, {}])) });
  expect(models.map(({ provider, modelId }) => [provider, modelId])).toEqual(
    ids.map((id) => ["wafer.ai", id]),
  );
});

for (const [id, normalized] of [
  ["gpt-5", "gpt-5"],
  ["OpenAI/GPT-4.1", "gpt-4-1"],
  ["@cf/meta/llama-3_1-8b", "llama-3-1-8b"],
  ["deepseek/deepseek-r1:free", "deepseek-r1"],
  ["claude-3-7-sonnet@20250219", "claude-3-7-sonnet"],
  ["amazon.nova-pro-v1:0", "amazon-nova-pro-v1"],
] as const) {
  test(`${id} is normalized to ${normalized}`, () => expect(normalizeModelId(id)).toBe(normalized));
}

test("names and descriptions are trimmed, and a missing description is null", () => {
  expect(mapOne({ name: "Model One  ", description: " For long documents.\n" })).toMatchObject({
    name: "Model One",
    description: "For long documents.",
  });
  for (const description of [undefined, null, " "]) expect(mapOne({ description }).description).toBeNull();
});

describe("capabilities", () => {
  for (const [what, fields, expected] of [
    [
      "image input means vision",
      { modalities: { input: ["text", "image"], output: ["text"] } },
      { hasVision: true },
    ],
    ["video input means vision", { modalities: { input: ["video"], output: ["text"] } }, { hasVision: true }],
    [
      "image output means neither vision nor streaming",
      { modalities: { input: ["text"], output: ["image"] } },
      { hasVision: false, hasStreaming: false },
    ],
    ["tool_call means tools", { tool_call: true }, { hasTools: true }],
    ["missing structured_output is false", { structured_output: undefined }, { hasStructuredOutput: false }],
    [
      "attachment and reasoning are copied",
      { attachment: true, reasoning: true },
      { hasAttachment: true, hasReasoning: true },
    ],
    [
      "missing capabilities are false",
      { attachment: undefined, reasoning: undefined, tool_call: undefined, open_weights: undefined },
      { hasAttachment: false, hasReasoning: false, hasTools: false, isOpenWeights: false },
    ],
  ] as const) {
    test(what, () => expect(mapOne(fields)).toMatchObject(expected));
  }

  test("a capability counts as stated if the source says true or false, but derived streaming never counts", () => {
    const none = {
      attachment: undefined,
      reasoning: null,
      tool_call: undefined,
      structured_output: undefined,
    };
    const modalities = { input: [], output: ["text"] };
    expect(mapOne({ ...none, modalities })).toMatchObject({ hasStreaming: true, capabilitiesStated: [] });
    expect(mapOne(none).capabilitiesStated).toEqual(["vision"]);
    const no = { attachment: false, reasoning: false, tool_call: false, structured_output: false };
    expect(mapOne(no)).toMatchObject({
      hasStructuredOutput: false,
      capabilitiesStated: ["vision", "tools", "reasoning", "structuredOutput", "attachment"],
    });
  });

  for (const [id, hasStreaming] of [
    ["gpt-5", true],
    ["text-embedding-3-large", false],
    ["gemini-embedding-001", false],
    ["cohere/rerank-v3.5", false],
    ["omni-moderation-latest", false],
    ["whisper-large-v3", false],
    ["gpt-4o-mini-transcribe", false],
    ["gemini-2.5-flash-preview-tts", false],
    ["speech-02-hd", false],
    ["embedded-coder", true],
  ] as const) {
    test(`${id} ${hasStreaming ? "streams" : "does not stream"}`, () =>
      expect(mapOne({}, id).hasStreaming).toBe(hasStreaming));
  }
});

describe("prices", () => {
  test("are rounded to twelve digits", () => {
    expect(
      mapOne({ cost: { input: 0.049999999999999996, output: 0.1, cache_read: 0.30000000000000004 } }),
    ).toMatchObject({ prices: { input: 0.05, output: 0.1, cacheRead: 0.3 } });
  });

  for (const cost of [undefined, null]) {
    test(`are unknown when cost is ${cost}`, () => expect(mapOne({ cost }).prices).toEqual({}));
  }
});

for (const [limit, contextTokens, outputTokens] of [
  [{ context: 128_000, output: 8192 }, 128_000, 8192],
  [{ context: 128_000, output: 0 }, 128_000, null],
  [{ context: 99_999_999, output: 50_000_000 }, null, null],
  [{ context: 49_999_999 }, 49_999_999, null],
  [{ context: 128_000, output: null }, 128_000, null],
  [undefined, null, null],
] as const) {
  test(`limit ${JSON.stringify(limit)} sets ${contextTokens} context and ${outputTokens} output tokens`, () =>
    expect(mapOne({ limit })).toMatchObject({ contextTokens, outputTokens }));
}

for (const [text, date] of [
  ["2025-08-07", "2025-08-07"],
  ["2024-09", "2024-09-01"],
  ["2025-25-11", null],
  ["2025-02-31", null],
  ["2024-02-29", "2024-02-29"],
  ["1970-01-01", null],
  ["2017-12-31", null],
  ["2018-01", "2018-01-01"],
  ["2025", null],
  ["soon", null],
  ["", null],
] as const) {
  test(`toDate() turns "${text}" into ${date}`, () => expect(toDate(text)).toBe(date));
}

for (const [id, fields, status] of [
  ["gpt-5", {}, "available"],
  ["gpt-5", { status: "deprecated" }, "deprecated"],
  ["gpt-5-preview", { status: "deprecated" }, "deprecated"],
  ["gpt-5", { status: "beta" }, "preview"],
  ["gpt-5", { status: "alpha" }, "preview"],
  ["gemini-3-pro-preview", {}, "preview"],
  ["gemini-2.0-flash-exp", {}, "preview"],
  ["gpt-5", { name: "GPT-5 (Experimental)" }, "preview"],
  ["expert-7b", { name: "Alphabet" }, "available"],
] as const) {
  test(`${id} with ${JSON.stringify(fields)} is ${status}`, () =>
    expect(mapOne(fields, id).status).toBe(status));
}

test("a model keeps its own family, else gets the most common family at other providers, else has none", () => {
  const models = mapAll({
    own: { "gpt-5": { family: "mine" } },
    one: { "openai/gpt-5": {}, other: {} },
    two: { "GPT-5": { family: "gpt" } },
    three: { "gpt-5:free": { family: "gpt" } },
  });
  expect(models.map(({ provider, modelId, family }) => [provider, modelId, family])).toEqual([
    ["own", "gpt-5", "mine"],
    ["one", "openai/gpt-5", "gpt"],
    ["one", "other", null],
    ["two", "GPT-5", "gpt"],
    ["three", "gpt-5:free", "gpt"],
  ]);
});

test("a provider's URLs are omitted if other machines cannot open them", () => {
  const { providers } = mapCatalog(
    read(
      makeDocument(
        { a: {}, b: {}, c: {}, d: { m: {} } },
        {
          a: { name: " A ", api: "https://api.a.example/v1" },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder in the document, for its reader to fill in
          b: { api: "https://${HOST}/v1", doc: "see README" },
          c: { api: "http://127.0.0.1:1234/v1", doc: null },
          d: { api: "http://localhost:8080/v1" },
        },
      ),
    ),
  );
  expect(providers).toEqual([
    { id: "a", name: "A", docUrl: "https://a.example/docs", apiUrl: "https://api.a.example/v1" },
    { id: "b", name: "Provider b", docUrl: null, apiUrl: null },
    { id: "c", name: "Provider c", docUrl: null, apiUrl: null },
    { id: "d", name: "Provider d", docUrl: "https://d.example/docs", apiUrl: null },
  ]);
});
