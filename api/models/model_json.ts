/** Converts models, providers and aliases to their API form. */
import { MODEL_CAPABILITIES, type ModelCapability } from "../../shared/vocabulary.ts";
import type { CatalogVersion } from "../../sql/models/catalog_syncs.ts";
import type { ModelAliasRow } from "../../sql/models/model_aliases.ts";
import type { ModelProvider } from "../../sql/models/model_providers.ts";
import type { ModelRow } from "../../sql/models/models.ts";
import { presentCost } from "./price_json.ts";
import type { Alias, CatalogOrigin, Model, ModelSummary, Provider } from "./schemas.ts";

/** Capability columns by their names in the API. */
export const CAPABILITY_COLUMNS = {
  vision: "hasVision",
  tools: "hasTools",
  streaming: "hasStreaming",
  reasoning: "hasReasoning",
  structuredOutput: "hasStructuredOutput",
  attachment: "hasAttachment",
} as const satisfies Record<ModelCapability, keyof ModelRow>;

function presentCapabilities(row: ModelRow): ModelSummary["capabilities"] {
  const capabilities = MODEL_CAPABILITIES.map((name) => [name, row[CAPABILITY_COLUMNS[name]]]);
  // `capabilities` contains every name.
  return Object.fromEntries(capabilities) as ModelSummary["capabilities"];
}

/** Returns the known limits, in tokens; `null` if no limit is known. */
function presentLimits({ contextTokens, inputTokens, outputTokens }: ModelRow): ModelSummary["limits"] {
  const limits = { context: contextTokens, input: inputTokens, output: outputTokens };
  const known = Object.entries(limits).filter(([, tokens]) => tokens !== null);
  return known.length === 0 ? null : Object.fromEntries(known);
}

export function presentListItem(row: ModelRow): ModelSummary {
  return {
    provider: row.provider,
    modelId: row.modelId,
    name: row.name,
    family: row.family,
    tier: row.tier,
    status: row.status,
    capabilities: presentCapabilities(row),
    capabilitiesStated: row.capabilitiesStated,
    limits: presentLimits(row),
    cost: presentCost(row.prices),
    releaseDate: row.releaseDate,
    // `goneAt` is set only if the source no longer lists the model.
    ...(row.removedAt === null ? {} : { goneAt: row.removedAt }),
    // `staleSince` is set only if the model's row in the source cannot be read.
    ...(row.staleSince === null ? {} : { staleSince: row.staleSince }),
  };
}

/** Returns the full model without `syncedAt`, which is the same for all models. */
export function presentModel(row: ModelRow): Omit<Model, "syncedAt"> {
  return {
    ...presentListItem(row),
    description: row.description,
    providerModelId: row.modelId,
    modalities: { input: row.inputModalities, output: row.outputModalities },
    knowledgeCutoff: row.knowledgeCutoff,
    openWeights: row.isOpenWeights,
    logoUrl: logoUrl(row.provider),
    pricesKnownSince: row.pricesKnownSince,
  };
}

/** Returns the API form of a provider. `apiUrl` is omitted if unknown. */
export function presentProvider({ id, name, docUrl, apiUrl }: ModelProvider): Provider {
  const provider = { id, name, status: "active" as const, logoUrl: logoUrl(id), docUrl };
  return apiUrl === null ? provider : { ...provider, apiUrl };
}

/** Returns the API form of an alias. The alias of a deprecated model (`target`) is deprecated. */
export function presentAlias(row: ModelAliasRow, target: ModelRow | undefined): Alias {
  const { alias, provider, modelId, scope } = row;
  return { alias, provider, modelId, scope, deprecated: row.deprecated || target?.status === "deprecated" };
}

/**
 * Returns the source and date of the catalog's data. `source` is `bundled`, `file` or the host of a URL, so that paths of this
 * machine stay private.
 */
export function presentOrigin({
  source,
  dataDate,
}: Pick<CatalogVersion, "source" | "dataDate">): CatalogOrigin {
  if (source === null || source === "bundled") return { source, dataDate };
  return { source: URL.parse(source)?.host || "file", dataDate };
}

/** Returns the URL of a logo on models.dev, which has one for every provider. */
function logoUrl(provider: string): string {
  return `https://models.dev/logos/${encodeURIComponent(provider)}.svg`;
}
