/** Plans a sync: the difference between the stored catalog and the source. Pure. */
import type { SyncCounts } from "../sql/models/catalog_syncs.ts";
import type { ModelAlias, ModelAliasRow } from "../sql/models/model_aliases.ts";
import type { PriceChange } from "../sql/models/model_price_changes.ts";
import { modelPrices } from "../sql/models/model_prices.ts";
import type { ModelProvider, ModelProviderRow } from "../sql/models/model_providers.ts";
import { type Model, type ModelKey, type ModelRow, modelKeyText } from "../sql/models/models.ts";
import { generateAliases } from "./aliases.ts";
import type { SkippedRow } from "./document.ts";
import type { MappedCatalog } from "./mapping.ts";

export interface StoredCatalog {
  providers: readonly ModelProviderRow[];
  models: readonly ModelRow[];
  aliases: readonly ModelAliasRow[];
  /** ISO 8601 day, by the database's clock. */
  today: string;
}

export interface SyncPlan {
  /** New, changed or listed again. */
  providers: ModelProvider[];
  goneProviders: string[];
  inserted: Model[];
  updated: Model[];
  gone: ModelKey[];
  /** Inserted, or listed again. */
  added: ModelKey[];
  /** For events and `--dry-run`. A trigger records the changes when the models are written. */
  priceChanges: PriceChange[];
  aliases: ModelAlias[];
  counts: SyncCounts;
}

/** With a smaller share of the live models, something is wrong with the source. */
const MIN_SHARE = 0.5;

/** Returns why a catalog should not replace the stored one; `null` if it may. */
export function findSuspicion(stored: StoredCatalog, mapped: MappedCatalog): string | null {
  if (mapped.providers.length === 0) return "the document has no provider";
  const { length } = mapped.models;
  if (length === 0) return "the document has no model";
  const live = stored.models.filter((model) => model.removedAt === null).length;
  if (length >= live * MIN_SHARE) return null;
  return `the document has ${length} models, fewer than half of the ${live} live ones`;
}

/** Compares both catalogs. Rows that could not be read (`skipped`) are not gone: they stay as they are. */
export function planSync(
  stored: StoredCatalog,
  mapped: MappedCatalog,
  skipped: readonly SkippedRow[],
): SyncPlan {
  const wasSkipped = createSkipTest(skipped);
  const seen = new Set(mapped.models.map(modelKeyText));
  const storedModels = new Map(stored.models.map((model) => [modelKeyText(model), model]));
  const unseen = stored.models.filter((model) => model.removedAt === null && !seen.has(modelKeyText(model)));
  const gone = unseen.filter((model) => !wasSkipped(model));
  const kept = unseen.filter(wasSkipped);
  const inserted = mapped.models.filter((model) => !storedModels.has(modelKeyText(model)));
  const updated = mapped.models.filter((model) => {
    const before = storedModels.get(modelKeyText(model));
    return before !== undefined && !isSame(before, model);
  });
  return {
    ...planProviders(stored, mapped, skipped),
    inserted,
    updated,
    gone: gone.map(({ provider, modelId }) => ({ provider, modelId })),
    added: [
      ...inserted,
      ...updated.filter((model) => storedModels.get(modelKeyText(model))?.removedAt !== null),
    ],
    priceChanges: updated.flatMap((model) => listPriceChanges(storedModels.get(modelKeyText(model)), model)),
    aliases: planAliases(stored.aliases, generateAliases([...mapped.models, ...kept], stored.today)),
    counts: {
      inserted: inserted.length,
      updated: updated.length,
      gone: gone.length,
      unchanged: mapped.models.length - inserted.length - updated.length,
      skipped: skipped.length,
    },
  };
}

/** Whether there is nothing to write. */
export function isEmptyPlan({ counts: _, ...changes }: SyncPlan): boolean {
  return Object.values(changes).every((list) => list.length === 0);
}

function createSkipTest(skipped: readonly SkippedRow[]): (model: ModelKey) => boolean {
  const providers = new Set(skipped.filter((row) => row.modelId === null).map((row) => row.provider));
  const models = new Set(
    skipped.map(({ provider, modelId }) => modelKeyText({ provider, modelId: modelId ?? "" })),
  );
  return (model) => providers.has(model.provider) || models.has(modelKeyText(model));
}

function planProviders(
  stored: StoredCatalog,
  mapped: MappedCatalog,
  skipped: readonly SkippedRow[],
): Pick<SyncPlan, "providers" | "goneProviders"> {
  const before = new Map(stored.providers.map((provider) => [provider.id, provider]));
  const listed = new Set([
    ...mapped.providers.map(({ id }) => id),
    ...skipped.map(({ provider }) => provider),
  ]);
  return {
    providers: mapped.providers.filter((provider) => {
      const row = before.get(provider.id);
      return !row || !isSame(row, provider);
    }),
    goneProviders: stored.providers
      .filter(({ id, removedAt }) => removedAt === null && !listed.has(id))
      .map(({ id }) => id),
  };
}

/** Whether the row is live and has the same values as the source. */
function isSame<Fields extends object>(row: Fields & { removedAt: string | null }, fields: Fields): boolean {
  const names = Object.keys(fields) as (keyof Fields)[];
  return row.removedAt === null && names.every((name) => isEqual(row[name], fields[name]));
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return typeof a === "object" && typeof b === "object" && Bun.deepEquals(a, b, true);
}

function listPriceChanges(before: Model | undefined, after: Model): PriceChange[] {
  if (!before) return [];
  const { provider, modelId } = after;
  const [old, current] = [modelPrices(before), modelPrices(after)];
  return Object.keys({ ...old, ...current })
    .filter((field) => old[field] !== current[field])
    .map((field) => {
      const [oldValue = null, newValue = null] = [old[field], current[field]];
      return { provider, modelId, field, oldValue, newValue };
    });
}

/** Plans the aliases. An alias that is no longer generated stays, deprecated, because clients may use it. */
function planAliases(stored: readonly ModelAliasRow[], generated: readonly ModelAlias[]): ModelAlias[] {
  const before = new Map(
    stored
      .filter((row) => row.origin === "generated")
      .map(({ origin: _, scope: __, ...row }) => [row.alias, row]),
  );
  const changed = generated.filter((alias) => !Bun.deepEquals(before.get(alias.alias), alias, true));
  for (const { alias } of generated) before.delete(alias);
  const left = [...before.values()].filter((alias) => !alias.deprecated);
  return [...changed, ...left.map((alias) => ({ ...alias, deprecated: true }))];
}
