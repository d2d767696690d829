/** Generates aliases from the catalog: bare ids of the labs' own models, and family names. Pure. */
import type { ModelAlias } from "../sql/models/model_aliases.ts";
import type { Model } from "../sql/models/models.ts";
import { chooseFamilyModel } from "./choose_family_model.ts";

interface FirstParty {
  provider: string;
  /** Matches the ids of the lab's own models. If omitted, all of the provider's models are its own. */
  ids?: RegExp;
  /** The part of a model's id before the bare id. */
  prefix?: string;
}

/** The labs' own providers. If two providers have the same bare id, the first one listed gets the alias. */
const FIRST_PARTIES: readonly FirstParty[] = [
  { provider: "openai" },
  { provider: "anthropic" },
  { provider: "google" },
  { provider: "mistral" },
  { provider: "xai" },
  { provider: "deepseek" },
  { provider: "meta" },
  { provider: "llama" },
  { provider: "alibaba", ids: /^(?:qwen|qwq|qvq)/ },
  { provider: "cohere" },
  { provider: "moonshotai" },
  { provider: "zai" },
  { provider: "minimax" },
  { provider: "nvidia", ids: /^nvidia\//, prefix: "nvidia/" },
  { provider: "amazon-bedrock", ids: /^amazon\.nova/ },
];

interface FamilyName {
  aliases: readonly string[];
  provider: string;
  /** Matches the ids of the family's models. */
  ids: RegExp;
}

/**
 * Common names of model families. The source's family names become aliases too, but an entry here takes precedence over the same
 * name.
 */
const FAMILY_NAMES: readonly FamilyName[] = [
  { aliases: ["gpt"], provider: "openai", ids: /^gpt-[\d.]+o?$/ },
  { aliases: ["gpt-mini"], provider: "openai", ids: /^gpt-[\d.]+o?-mini$/ },
  { aliases: ["gpt-nano"], provider: "openai", ids: /^gpt-[\d.]+-nano$/ },
  { aliases: ["gpt-codex"], provider: "openai", ids: /^gpt-[\d.]+-codex$/ },
  { aliases: ["gpt-codex-mini"], provider: "openai", ids: /^gpt-[\d.]+-codex-mini$/ },
  { aliases: ["claude-sonnet", "sonnet"], provider: "anthropic", ids: /sonnet/ },
  { aliases: ["claude-opus", "opus"], provider: "anthropic", ids: /opus/ },
  { aliases: ["claude-haiku", "haiku"], provider: "anthropic", ids: /haiku/ },
  { aliases: ["claude-fable", "fable"], provider: "anthropic", ids: /fable/ },
  { aliases: ["gemini"], provider: "google", ids: /^gemini-[\d.]+-(?:pro|flash)$/ },
  { aliases: ["gemini-pro"], provider: "google", ids: /^gemini-(?:[\d.]+-pro|pro-latest)$/ },
  { aliases: ["gemini-flash"], provider: "google", ids: /^gemini-(?:[\d.]+-flash|flash-latest)$/ },
  {
    aliases: ["gemini-flash-lite"],
    provider: "google",
    ids: /^gemini-(?:[\d.]+-flash-lite|flash-lite-latest)$/,
  },
  { aliases: ["gemma"], provider: "google", ids: /^gemma-/ },
  { aliases: ["grok"], provider: "xai", ids: /^grok-\d/ },
  { aliases: ["mistral-large", "mistral"], provider: "mistral", ids: /^mistral-large/ },
  { aliases: ["mistral-medium"], provider: "mistral", ids: /^mistral-medium/ },
  { aliases: ["mistral-small"], provider: "mistral", ids: /^mistral-small/ },
  { aliases: ["codestral"], provider: "mistral", ids: /^codestral/ },
  { aliases: ["devstral"], provider: "mistral", ids: /devstral/ },
  { aliases: ["magistral-medium", "magistral"], provider: "mistral", ids: /^magistral-medium/ },
  { aliases: ["pixtral-large", "pixtral"], provider: "mistral", ids: /^pixtral-large/ },
  { aliases: ["deepseek"], provider: "deepseek", ids: /^deepseek-chat/ },
  { aliases: ["llama"], provider: "llama", ids: /^llama-/ },
  { aliases: ["qwen"], provider: "alibaba", ids: /^qwen[\d.]*-max$/ },
  { aliases: ["qwen3.6"], provider: "alibaba", ids: /^qwen3\.6-plus$/ },
  { aliases: ["command-a", "command"], provider: "cohere", ids: /^command-a-/ },
  { aliases: ["kimi"], provider: "moonshotai", ids: /^kimi-/ },
  { aliases: ["glm"], provider: "zai", ids: /^glm-[\d.]+$/ },
  { aliases: ["minimax"], provider: "minimax", ids: /^minimax-/i },
  // Nemotron 4 was released in 2024, before Nemotron 3.
  { aliases: ["nemotron"], provider: "nvidia", ids: /^nvidia\/nemotron-(?!4-340b)\d/ },
  { aliases: ["nova"], provider: "amazon-bedrock", ids: /^amazon\.nova-/ },
  { aliases: ["nova-lite"], provider: "amazon-bedrock", ids: /^amazon\.nova-(?:\d-)?lite/ },
];

/**
 * Returns the aliases of live models, sorted by alias. A bare id takes precedence over a family name. A family name from the
 * table above takes precedence over the same name from the source. `today` is an ISO 8601 day.
 */
export function generateAliases(models: readonly Model[], today: string): ModelAlias[] {
  const byProvider = Map.groupBy(models, (model) => model.provider);
  const own = FIRST_PARTIES.flatMap((party) =>
    (byProvider.get(party.provider) ?? [])
      .filter((model) => party.ids?.test(model.modelId) ?? true)
      .map((model) => ({ bareId: model.modelId.slice(party.prefix?.length ?? 0), model })),
  );
  const targets = new Map<string, Model>();
  const add = (alias: string, model: Model | undefined): void => {
    if (model && !targets.has(alias)) targets.set(alias, model);
  };
  for (const { bareId, model } of own) add(bareId, model);
  for (const { aliases, provider, ids } of FAMILY_NAMES) {
    const family = (byProvider.get(provider) ?? []).filter((model) => ids.test(model.modelId));
    for (const alias of aliases) add(alias, chooseFamilyModel(aliases, family, today));
  }
  const families = Map.groupBy(
    own.map(({ model }) => model).filter((model) => model.family !== null),
    (model) => model.family ?? "",
  );
  for (const [family, members] of families) add(family, chooseFamilyModel([family], members, today));
  return [...targets]
    .map(([alias, { provider, modelId, status }]) => ({
      alias,
      provider,
      modelId,
      deprecated: status === "deprecated",
    }))
    .sort((a, b) => (a.alias < b.alias ? -1 : 1));
}
