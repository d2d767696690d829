/** Maps the source's rows to the catalog's rows. Pure. */

import { idWords, isNeverStreamed, normalizeModelId } from "../shared/models/model_id.ts";
import { readPrices } from "../shared/models/prices.ts";
import { createTiering } from "../shared/models/tiers.ts";
import { isLoopbackHost } from "../shared/network/public_address.ts";
import type { ModelCapability, ModelStatus } from "../shared/vocabulary.ts";
import type { ModelProvider } from "../sql/models/model_providers.ts";
import type { Model } from "../sql/models/models.ts";
import type { SourceDocument, SourceModel, SourceProvider } from "./source_document.ts";

/** Token limits of this size or more mean "unknown", as 0 does. */
const UNKNOWN_TOKENS_FROM = 50_000_000;
/** No model of the catalog is older than this year. Earlier dates mean "unknown". */
const EARLIEST_YEAR = 2018;

export interface MappedCatalog extends Pick<SourceDocument, "skipped"> {
  providers: ModelProvider[];
  models: Model[];
  /** The newest `last_updated` of all models, without future dates; `null` if no model has a date. */
  dataDate: string | null;
}

/**
 * Maps a whole document. If a model's own row has no price or family, its tier or family is derived from the same model at
 * other providers.
 */
export function mapCatalog({ providers, models, skipped }: SourceDocument): MappedCatalog {
  const familyOf = createFamilies(models);
  const tieringOf = createTiering(models);
  return {
    providers: providers.map(mapProvider),
    models: models.map((model) => ({ ...mapModel(model), ...tieringOf(model), family: familyOf(model) })),
    skipped,
    dataDate: findDataDate(models),
  };
}

function findDataDate(models: readonly SourceModel[]): string | null {
  const today = new Date().toISOString().slice(0, 10);
  const dates = models.map(({ last_updated: date }) => (typeof date === "string" ? toDate(date) : null));
  return (
    dates
      .filter((date) => date !== null && date <= today)
      .toSorted()
      .at(-1) ?? null
  );
}

function mapProvider({ id, name, doc, api }: SourceProvider): ModelProvider {
  return { id, name: name.trim(), docUrl: toPublicUrl(doc), apiUrl: toPublicUrl(api) };
}

/** Maps the fields that depend only on the model's own row. */
function mapModel(model: SourceModel): Omit<Model, "tier" | "tierSource" | "family"> {
  const { id, provider, cost, modalities, limit } = model;
  const { input, output } = modalities;
  return {
    provider,
    modelId: id,
    name: model.name.trim(),
    description: model.description?.trim() || null,
    hasVision: input.includes("image") || input.includes("video"),
    hasTools: model.tool_call === true,
    hasStreaming: output.includes("text") && !isNeverStreamed(id),
    hasReasoning: model.reasoning === true,
    hasStructuredOutput: model.structured_output === true,
    hasAttachment: model.attachment === true,
    capabilitiesStated: listStated(model),
    inputModalities: input,
    outputModalities: output,
    prices: readPrices(cost),
    contextTokens: knownTokens(limit.context),
    inputTokens: knownTokens(limit.input),
    outputTokens: knownTokens(limit.output),
    status: statusOf(model),
    releaseDate: toDate(model.release_date),
    knowledgeCutoff: toDate(model.knowledge),
    isOpenWeights: model.open_weights === true,
  };
}

/** Returns the capabilities that the source states, whether true or false. The source never states streaming, which is derived. */
function listStated(model: SourceModel): ModelCapability[] {
  const stated: [ModelCapability, boolean][] = [
    ["vision", model.modalities.input.length > 0],
    ["tools", model.tool_call !== undefined],
    ["reasoning", model.reasoning !== undefined],
    ["structuredOutput", model.structured_output !== undefined],
    ["attachment", model.attachment !== undefined],
  ];
  return stated.filter(([, isStated]) => isStated).map(([name]) => name);
}

/**
 * Returns a function that finds a model's family. It is the model's own family, or the most common family of the same model
 * at other providers, or `null`.
 */
function createFamilies(models: readonly SourceModel[]): (model: SourceModel) => string | null {
  const known = Map.groupBy(
    models.filter((model) => model.family?.trim()),
    (model) => normalizeModelId(model.id),
  );
  return ({ id, provider, family }) => {
    if (family?.trim()) return family.trim();
    const others = (known.get(normalizeModelId(id)) ?? []).filter((peer) => peer.provider !== provider);
    const votes = Map.groupBy(others, (peer) => peer.family?.trim() ?? "");
    const [winner] = [...votes].toSorted(([a, as], [b, bs]) => bs.length - as.length || (a < b ? -1 : 1));
    return winner?.[0] ?? null;
  };
}

function statusOf({ id, name, status }: SourceModel): ModelStatus {
  if (status === "deprecated") return "deprecated";
  const words = idWords(`${id} ${name}`);
  const isPreview = /-(?:preview|beta|alpha|exp|experimental)-/.test(words);
  return status === "alpha" || status === "beta" || isPreview ? "preview" : "available";
}

function knownTokens(tokens: number | undefined): number | null {
  return tokens === undefined || tokens === 0 || tokens >= UNKNOWN_TOKENS_FROM ? null : tokens;
}

/** Parses a date, or a month as its first day. Returns `null` for any other text and for dates before EARLIEST_YEAR. */
export function toDate(text: string | undefined): string | null {
  const [, month, day = "01"] = /^(\d{4}-\d{2})(?:-(\d{2}))?$/.exec(text?.trim() ?? "") ?? [];
  if (!month || Number(month.slice(0, 4)) < EARLIEST_YEAR) return null;
  const date = `${month}-${day}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  // Date.parse accepts some days that do not exist and moves them to the next month.
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date ? null : date;
}

/** Returns the URL if it can be opened from anywhere. Returns `null` for a template or a loopback address. */
function toPublicUrl(text: string | undefined): string | null {
  const url = text === undefined || text.includes("${") ? null : URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || isLoopbackHost(url.hostname)) return null;
  return (text ?? "").trim();
}
