import { expect, test } from "bun:test";
import { generateAliases } from "../../catalog-sync/aliases.ts";
import { readDocument } from "../../catalog-sync/document.ts";
import { mapCatalog } from "../../catalog-sync/mapping.ts";
import { bundledSource } from "../../catalog-sync/source.ts";
import { type DocumentModels, makeDocument } from "../helpers/models/catalog.ts";

function aliasesOf(value: unknown): Record<string, string> {
  const result = readDocument(value);
  if (!result.ok) throw new Error(result.reason);
  return Object.fromEntries(
    generateAliases(mapCatalog(result.document).models).map(({ alias, provider, modelId, deprecated }) => [
      alias,
      `${provider}/${modelId}${deprecated ? " deprecated" : ""}`,
    ]),
  );
}

const aliases = (models: DocumentModels) => aliasesOf(makeDocument(models));

test("the bare id of a lab's own model is an alias, at other providers it is none", () => {
  expect(
    aliases({
      openai: { "gpt-5": {} },
      openrouter: { "openai/gpt-5": {}, "gpt-5": {}, lonely: {} },
      alibaba: { "qwen3-max": {}, "deepseek-r1": {} },
      nvidia: { "nvidia/nemotron-3": {}, "openai/gpt-oss": {} },
      "amazon-bedrock": { "amazon.nova-pro-v1:0": {}, "anthropic.claude-v2": {} },
    }),
  ).toEqual({
    "gpt-5": "openai/gpt-5",
    gpt: "openai/gpt-5",
    "qwen3-max": "alibaba/qwen3-max",
    qwen: "alibaba/qwen3-max",
    "nemotron-3": "nvidia/nvidia/nemotron-3",
    nemotron: "nvidia/nvidia/nemotron-3",
    "amazon.nova-pro-v1:0": "amazon-bedrock/amazon.nova-pro-v1:0",
  });
});

test("a family's name is its newest available model, and of one date the shorter id", () => {
  const found = aliases({
    anthropic: {
      "claude-sonnet-4-5-20250929": { release_date: "2025-09-29" },
      "claude-sonnet-4-5": { release_date: "2025-09-29" },
      "claude-sonnet-4": { release_date: "2025-05-22" },
      "claude-sonnet-5": { release_date: "2026-01-01", status: "deprecated" },
      "claude-sonnet-6-preview": { release_date: "2026-06-01" },
      "claude-sonnet-undated": { release_date: undefined },
    },
  });
  expect(found).toMatchObject({
    sonnet: "anthropic/claude-sonnet-4-5",
    "claude-sonnet": "anthropic/claude-sonnet-4-5",
    "claude-sonnet-5": "anthropic/claude-sonnet-5 deprecated",
  });
  expect(found["opus"]).toBeUndefined();
});

test("families that the source names are aliases too, and an id is stronger than a family", () => {
  expect(
    aliases({
      mistral: {
        pixtral: { release_date: "2024-01-01" },
        "pixtral-large": { family: "pixtral", release_date: "2025-01-01" },
        "voxtral-2": { family: "voxtral", release_date: "2025-01-01" },
        "voxtral-1": { family: "voxtral", release_date: "2024-01-01" },
      },
    }),
  ).toMatchObject({ pixtral: "mistral/pixtral", voxtral: "mistral/voxtral-2" });
});

test("the bundled catalog has the names people use", async () => {
  const loaded = await bundledSource().load({ etag: null, signal: new AbortController().signal });
  if (loaded.isUnchanged) throw new Error("there is nothing to compare with");
  const found = aliasesOf(loaded.value);
  for (const [alias, target] of [
    ["gpt-5", /^openai\/gpt-5$/],
    ["gpt", /^openai\/gpt-5/],
    ["sonnet", /^anthropic\/claude-sonnet-/],
    ["opus", /^anthropic\/claude-opus-/],
    ["haiku", /^anthropic\/claude.*haiku/],
    ["gemini", /^google\/gemini-/],
    ["grok", /^xai\/grok-4/],
    ["llama", /^llama\/llama-/],
  ] as const) {
    expect([alias, found[alias]]).toEqual([alias, expect.stringMatching(target)]);
  }
});
