/** Table `models`: the language models of the catalog, including models that are gone. */
import type { Tiering } from "../../shared/models/tiers.ts";
import type { ModelCapability, ModelStatus } from "../../shared/vocabulary.ts";
import { columnList, type Fragment, fragment, type Sql, tableRows } from "../connection/pool.ts";

export interface ModelKey {
  provider: string;
  modelId: string;
}

/** Returns a unique key of a model, for maps. Ids never contain control characters, so a newline separates them safely. */
export function modelKeyText({ provider, modelId }: ModelKey): string {
  return `${provider}\n${modelId}`;
}

/**
 * Prices in USD per million tokens, by the price's name in the API. Examples are `input`, and `tiers.200000.input` for requests
 * with more than 200,000 tokens of context. Empty if the model has no prices.
 */
export type Prices = Readonly<Record<string, number>>;

/** A model as a sync writes it. */
export interface Model extends ModelKey, Tiering {
  name: string;
  /** Description from the source; `null` if the source has none. */
  description: string | null;
  family: string | null;
  hasVision: boolean;
  hasTools: boolean;
  hasStreaming: boolean;
  hasReasoning: boolean;
  hasStructuredOutput: boolean;
  hasAttachment: boolean;
  /** Capabilities that the source states as true or false. All other capabilities are unknown and stored as false. */
  capabilitiesStated: readonly ModelCapability[];
  inputModalities: readonly string[];
  outputModalities: readonly string[];
  prices: Prices;
  contextTokens: number | null;
  /** Maximum size of a prompt in tokens; null if the source does not state it. */
  inputTokens: number | null;
  outputTokens: number | null;
  status: ModelStatus;
  /** ISO 8601 date, like `knowledgeCutoff`. */
  releaseDate: string | null;
  knowledgeCutoff: string | null;
  isOpenWeights: boolean;
}

export interface ModelRow extends Model {
  /** Start of the known price history: the first sync of the model, or earlier if the bundled history has the model. */
  pricesKnownSince: string;
  /** Time when the source stopped listing the model; `null` while it lists the model. */
  removedAt: string | null;
  /** Time when the source's row for the model became unreadable; `null` while the row can be read. */
  staleSince: string | null;
}

/** Returns prices as values of the price columns. This is the inverse of the SQL function `model_prices`. */
export function toPriceColumns({ input, output, cacheRead, cacheWrite, ...others }: Prices) {
  return {
    inputUsdPerMtok: input ?? null,
    outputUsdPerMtok: output ?? null,
    cacheReadUsdPerMtok: cacheRead ?? null,
    cacheWriteUsdPerMtok: cacheWrite ?? null,
    pricing: Object.keys(others).length === 0 ? null : others,
  };
}

const COLUMNS = columnList(`
  provider, model_id, name, description, family, has_vision, has_tools, has_streaming, has_reasoning,
  has_structured_output, has_attachment, capabilities_stated, input_modalities, output_modalities,
  context_tokens, input_tokens, output_tokens, tier, tier_source, status, release_date, knowledge_cutoff,
  is_open_weights
`);

const PRICE_COLUMNS = columnList(`
  input_usd_per_mtok, output_usd_per_mtok, cache_read_usd_per_mtok, cache_write_usd_per_mtok, pricing
`);

/** Lists all models by provider and id, including models that are gone. */
export async function listModels(sql: Sql): Promise<ModelRow[]> {
  return sql<ModelRow[]>`
    select ${sql(COLUMNS)}, model_prices(models) as prices, prices_known_since, removed_at, stale_since
    from models
    order by provider collate "C", model_id collate "C"`;
}

/** Inserts or updates models in one statement. Models that were gone become live again. */
export async function upsertModels(sql: Sql, models: readonly Model[]): Promise<void> {
  if (models.length === 0) return;
  const columns = [...COLUMNS, ...PRICE_COLUMNS];
  const rows = models.map(({ prices, ...model }) => ({ ...model, ...toPriceColumns(prices) }));
  // The key is not set, because even an unchanged value would block writes of rows that refer to the model.
  const changes = columns
    .filter((column) => column !== "provider" && column !== "model_id")
    .map((column) => `${column} = excluded.${column}`)
    .join(", ");
  await sql`
    insert into models (${sql(columns)})
    select ${sql(columns)}
    from ${tableRows(sql, "models", rows)} as r
    on conflict (provider, model_id) do update
    set ${sql.unsafe(changes)}, updated_at = now(), removed_at = null, stale_since = null`;
}

/** Returns the condition that a row belongs to one of these models. */
export function isOneOf(sql: Sql, keys: readonly ModelKey[]): Fragment {
  const rows = keys.map(({ provider, modelId }) => ({ provider, modelId }));
  return fragment`(provider, model_id) in (select provider, model_id from ${tableRows(sql, "models", rows)} as r)`;
}

/** Marks models whose source rows can no longer be read. */
export async function markModelsStale(sql: Sql, keys: readonly ModelKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    update models
    set stale_since = now(), updated_at = now()
    where ${isOneOf(sql, keys)} and stale_since is null`;
}

/** Marks models that the source no longer lists as gone, and deprecates them. */
export async function markModelsGone(sql: Sql, keys: readonly ModelKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    update models
    set status = 'deprecated', removed_at = now(), stale_since = null, updated_at = now()
    where ${isOneOf(sql, keys)} and removed_at is null`;
}
