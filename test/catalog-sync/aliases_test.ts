import { expect, test } from "bun:test";
import { generateAliases } from "../../catalog-sync/aliases.ts";
import { mapCatalog } from "../../catalog-sync/map_catalog.ts";
import { readDocument } from "../../catalog-sync/source_document.ts";
import { type DocumentModels, makeDocument, readSnapshot, SNAPSHOTS } from "../helpers/models/catalog.ts";

const TODAY = "2026-07-01";

function aliasesOf(value: unknown): Record<string, string> {
  const result = readDocument(value);
  if (!result.ok) throw new Error(result.reason);
  return Object.fromEntries(
    generateAliases(mapCatalog(result.document).models, TODAY).map(
      ({ alias, provider, modelId, deprecated }) => [
        alias,
        `${provider}/${modelId}${deprecated ? " deprecated" : ""}`,
      ],
    ),
  );
}

const aliases = (models: DocumentModels) => aliasesOf(makeDocument(models));

test("a bare model id is an alias for the lab's own model, not for the same model at another provider", () => {
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
    nova: "amazon-bedrock/amazon.nova-pro-v1:0",
  });
});

test("a family name resolves to the newest available model, and to the shorter id if dates are equal", () => {
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

test("families named in the source become aliases, and a model id takes precedence over a family name", () => {
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

/**
 * The model that each family's name resolves to in both snapshots. A person checked each row once (2026-11-25): is this the model
 * that an author would have meant on the day of the snapshot?
 */
const FAMILIES: Readonly<Record<string, readonly [april: string | null, july: string | null]>> = {
  "claude-fable": [null, "anthropic/claude-fable-5"],
  "claude-haiku": ["anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5"],
  "claude-opus": ["anthropic/claude-opus-4-6", "anthropic/claude-opus-4-8"],
  "claude-sonnet": ["anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-5"],
  codestral: ["mistral/codestral-latest", "mistral/codestral-latest"],
  command: ["cohere/command-a-03-2025", "cohere/command-a-03-2025"],
  "command-a": ["cohere/command-a-03-2025", "cohere/command-a-03-2025"],
  "command-r": ["cohere/command-r-08-2024", "cohere/command-r-08-2024"],
  deepseek: ["deepseek/deepseek-chat", "deepseek/deepseek-chat"],
  "deepseek-flash": [null, "deepseek/deepseek-v4-flash"],
  "deepseek-thinking": ["deepseek/deepseek-reasoner", "deepseek/deepseek-v4-pro"],
  devstral: ["mistral/devstral-2512", null],
  fable: [null, "anthropic/claude-fable-5"],
  gemini: ["google/gemini-2.5-pro", "google/gemini-3.5-flash"],
  "gemini-flash": ["google/gemini-flash-latest", "google/gemini-flash-latest"],
  "gemini-flash-lite": ["google/gemini-flash-lite-latest", "google/gemini-flash-lite-latest"],
  "gemini-pro": ["google/gemini-2.5-pro", "google/gemini-2.5-pro"],
  gemma: ["google/gemma-3-27b-it", "google/gemma-4-31b-it"],
  glm: ["zai/glm-5", "zai/glm-5.2"],
  "glm-air": ["zai/glm-4.5-air", "zai/glm-4.5-air"],
  "glm-flash": ["zai/glm-4.7-flash", "zai/glm-4.7-flash"],
  gpt: ["openai/gpt-5.4", "openai/gpt-5.5"],
  "gpt-codex": ["openai/gpt-5.3-codex", "openai/gpt-5.3-codex"],
  "gpt-codex-mini": ["openai/gpt-5.1-codex-mini", "openai/gpt-5.1-codex-mini"],
  "gpt-codex-spark": ["openai/gpt-5.3-codex-spark", "openai/gpt-5.3-codex-spark"],
  "gpt-image": ["openai/gpt-image-1.5", "openai/gpt-image-2"],
  "gpt-mini": ["openai/gpt-5.4-mini", "openai/gpt-5.4-mini"],
  "gpt-nano": ["openai/gpt-5.4-nano", "openai/gpt-5.4-nano"],
  "gpt-pro": ["openai/gpt-5.4-pro", "openai/gpt-5.5-pro"],
  grok: ["xai/grok-4", "xai/grok-4.3"],
  "grok-build": [null, "xai/grok-build-0.1"],
  haiku: ["anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5"],
  kimi: ["moonshotai/kimi-k2.5", "moonshotai/kimi-k2.6"],
  "kimi-k2": [null, "moonshotai/kimi-k2.6"],
  "kimi-thinking": ["moonshotai/kimi-k2-thinking", "moonshotai/kimi-k2-thinking"],
  llama: ["llama/llama-4-maverick-17b-128e-instruct-fp8", "llama/llama-4-maverick-17b-128e-instruct-fp8"],
  magistral: ["mistral/magistral-medium-latest", "mistral/magistral-medium-latest"],
  "magistral-medium": ["mistral/magistral-medium-latest", "mistral/magistral-medium-latest"],
  minimax: ["minimax/MiniMax-M2.7", "minimax/MiniMax-M3"],
  ministral: ["mistral/ministral-8b-latest", "mistral/ministral-8b-latest"],
  mistral: ["mistral/mistral-large-latest", "mistral/mistral-large-latest"],
  "mistral-large": ["mistral/mistral-large-latest", "mistral/mistral-large-latest"],
  "mistral-medium": ["mistral/mistral-medium-latest", "mistral/mistral-medium-latest"],
  "mistral-small": ["mistral/mistral-small-latest", "mistral/mistral-small-latest"],
  mixtral: ["mistral/open-mixtral-8x22b", "mistral/open-mixtral-8x22b"],
  nemoretriever: ["nvidia/nvidia/nemoretriever-ocr-v1", null],
  nemotron: ["nvidia/nvidia/nemotron-3-super-120b-a12b", "nvidia/nvidia/nemotron-3-ultra-550b-a55b"],
  north: [null, "cohere/north-mini-code-1-0"],
  nova: ["amazon-bedrock/amazon.nova-2-lite-v1:0", "amazon-bedrock/amazon.nova-2-lite-v1:0"],
  "nova-lite": ["amazon-bedrock/amazon.nova-2-lite-v1:0", "amazon-bedrock/amazon.nova-2-lite-v1:0"],
  "nova-micro": ["amazon-bedrock/amazon.nova-micro-v1:0", "amazon-bedrock/amazon.nova-micro-v1:0"],
  "nova-pro": ["amazon-bedrock/amazon.nova-pro-v1:0", "amazon-bedrock/amazon.nova-pro-v1:0"],
  o: ["openai/o3", "openai/o3"],
  "o-mini": ["openai/o4-mini", "openai/o4-mini"],
  "o-pro": ["openai/o3-pro", "openai/o3-pro"],
  opus: ["anthropic/claude-opus-4-6", "anthropic/claude-opus-4-8"],
  parakeet: ["nvidia/nvidia/parakeet-tdt-0.6b-v2", null],
  pixtral: ["mistral/pixtral-large-latest", "mistral/pixtral-large-latest"],
  "pixtral-large": ["mistral/pixtral-large-latest", "mistral/pixtral-large-latest"],
  qvq: ["alibaba/qvq-max", "alibaba/qvq-max"],
  qwen: ["alibaba/qwen3-max", "alibaba/qwen3.7-max"],
  "qwen3.6": [null, "alibaba/qwen3.6-plus"],
  sonnet: ["anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-5"],
  "text-embedding": ["openai/text-embedding-3-large", "openai/text-embedding-3-large"],
};

for (const [index, snapshot] of SNAPSHOTS.entries()) {
  test(`every family name resolves to the model an author would mean on ${snapshot.at.slice(0, 10)}`, async () => {
    const { models } = mapCatalog(await readSnapshot(snapshot));
    const found = generateAliases(models, snapshot.at.slice(0, 10))
      .filter(({ alias, provider, modelId }) => !`${provider}/${modelId}`.endsWith(`/${alias}`))
      .map(({ alias, provider, modelId }) => [alias, `${provider}/${modelId}`]);
    const expected = Object.entries(FAMILIES).flatMap(([alias, targets]) =>
      targets[index] === null ? [] : [[alias, targets[index]]],
    );
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });
}
