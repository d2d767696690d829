/** Plans a sync: computes the difference between the stored catalog and the source. Pure. */
import type { CatalogRows } from "../sql/models/catalog_snapshot.ts";
import type { SyncCounts } from "../sql/models/catalog_syncs.ts";
import { type HeldPrices, type HeldPricesRow, isDoubtfulChange } from "../sql/models/held_prices.ts";
import type { ModelAlias } from "../sql/models/model_aliases.ts";
import { comparePrices, type PriceChange } from "../sql/models/model_price_changes.ts";
import type { ModelProvider } from "../sql/models/model_providers.ts";
import { type Model, type ModelKey, type ModelRow, modelKeyText, type Prices } from "../sql/models/models.ts";
import { generateAliases } from "./aliases.ts";
import type { MappedCatalog } from "./map_catalog.ts";
import type { RowProblem } from "./source_document.ts";

export interface StoredCatalog extends CatalogRows {
  held: readonly HeldPricesRow[];
  /** The current ISO 8601 day, by the database's clock. */
  today: string;
}

export interface SyncPlan {
  /** Providers that are new, changed or listed again. */
  providers: ModelProvider[];
  goneProviders: string[];
  inserted: Model[];
  updated: Model[];
  gone: ModelKey[];
  /** Models that are new or listed again. */
  added: ModelKey[];
  /** Price changes for events and `--dry-run`. A trigger records the changes when the models are written. */
  priceChanges: PriceChange[];
  aliases: ModelAlias[];
  /** Stored models whose rows in the document have become unreadable. */
  stale: ModelKey[];
  /** Doubtful prices, which are held. The models keep their current prices. */
  held: (HeldPrices & { currentPrices: Prices })[];
  /** Models whose prices are no longer held, because the prices were accepted or the source withdrew them. */
  released: ModelKey[];
  counts: SyncCounts;
}

/**
 * Compares the stored catalog with the source. Rows that could not be read (`skipped`) are not removed: they stay unchanged,
 * and their prices stay held. If `takesAll` is true, doubtful prices are accepted immediately.
 */
export function planSync(
  stored: StoredCatalog,
  mapped: MappedCatalog,
  { takesAll }: { takesAll: boolean },
): SyncPlan {
  const wasSkipped = createSkipTest(mapped.skipped);
  const storedModels = new Map(stored.models.map((model) => [modelKeyText(model), model]));
  const before = (model: Model) => storedModels.get(modelKeyText(model));
  const { models, held } = takesAll
    ? { models: mapped.models, held: [] }
    : holdDoubtful(stored, mapped, before);
  const seen = new Set(models.map(modelKeyText));
  const unseen = stored.models.filter((model) => model.removedAt === null && !seen.has(modelKeyText(model)));
  const gone = unseen.filter((model) => !wasSkipped(model));
  const kept = unseen.filter(wasSkipped);
  const inserted = models.filter((model) => !before(model));
  const changes = models.flatMap((model) => {
    const row = before(model);
    return row && !isSame(row, model) ? { model, row } : [];
  });
  const updated = changes.map(({ model }) => model);
  const waits = new Set(held.map(modelKeyText));
  const relisted = changes.filter(({ row }) => row.removedAt !== null).map(({ model }) => model);
  return {
    ...planProviders(stored, mapped),
    inserted,
    updated,
    gone: gone.map(toKey),
    added: [...inserted, ...relisted],
    priceChanges: changes.flatMap(({ model, row }) => comparePrices(model, row.prices, model.prices)),
    aliases: planAliases(stored, [...models, ...kept]),
    stale: kept.filter((model) => model.staleSince === null).map(toKey),
    held,
    released: stored.held.filter((row) => !waits.has(modelKeyText(row)) && !wasSkipped(row)).map(toKey),
    counts: {
      inserted: inserted.length,
      updated: updated.length,
      gone: gone.length,
      unchanged: models.length - inserted.length - updated.length,
      skipped: mapped.skipped.length,
      held: held.length,
    },
  };
}

/** Returns whether the plan changes nothing in the catalog. */
export function isEmptyPlan({ counts: _, held: __, released: ___, ...changes }: SyncPlan): boolean {
  return Object.values(changes).every((list) => list.length === 0);
}

/** Replaces doubtful prices with the stored prices, unless an earlier sync found the same doubtful prices long enough ago. */
function holdDoubtful(
  stored: StoredCatalog,
  mapped: MappedCatalog,
  before: (model: Model) => ModelRow | undefined,
): Pick<SyncPlan, "held"> & { models: Model[] } {
  const waiting = new Map(stored.held.map((row) => [modelKeyText(row), row]));
  const held: SyncPlan["held"] = [];
  const models = mapped.models.map((model) => {
    const row = before(model);
    if (!row) return model;
    const { prices, tier, tierSource } = model;
    if (!isDoubtfulChange(row.prices, prices)) return model;
    const earlier = waiting.get(modelKeyText(model));
    if (earlier?.isDue && Bun.deepEquals(earlier.prices, prices, true)) return model;
    held.push({ ...toKey(model), prices, tier, tierSource, currentPrices: row.prices });
    return { ...model, prices: row.prices, tier: row.tier, tierSource: row.tierSource };
  });
  return { models, held };
}

function toKey({ provider, modelId }: ModelKey): ModelKey {
  return { provider, modelId };
}

/** Returns a predicate for models that could not be read, on their own or with their whole provider. */
export function createSkipTest(skipped: readonly RowProblem[]): (model: ModelKey) => boolean {
  const providers = new Set(skipped.filter((row) => row.modelId === null).map((row) => row.provider));
  const models = new Set(
    skipped.map(({ provider, modelId }) => modelKeyText({ provider, modelId: modelId ?? "" })),
  );
  return (model) => providers.has(model.provider) || models.has(modelKeyText(model));
}

function planProviders(
  stored: StoredCatalog,
  mapped: MappedCatalog,
): Pick<SyncPlan, "providers" | "goneProviders"> {
  const before = new Map(stored.providers.map((provider) => [provider.id, provider]));
  const listed = new Set([
    ...mapped.providers.map(({ id }) => id),
    ...mapped.skipped.map(({ provider }) => provider),
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

/** Returns whether the row is live and has the same values as the source. */
function isSame<Fields extends object>(
  row: Fields & { removedAt: string | null; staleSince?: string | null },
  fields: Fields,
): boolean {
  const names = Object.keys(fields) as (keyof Fields)[];
  const isCurrent = row.removedAt === null && (row.staleSince ?? null) === null;
  return isCurrent && names.every((name) => Bun.deepEquals(row[name], fields[name], true));
}

/**
 * Plans the aliases of live models for the day `today`. An alias that is no longer generated is kept as deprecated, because
 * clients may use it.
 */
export function planAliases(
  { aliases, today }: Pick<StoredCatalog, "aliases" | "today">,
  models: readonly Model[],
): ModelAlias[] {
  const generated = generateAliases(models, today);
  const before = new Map(
    aliases
      .filter((row) => row.origin === "generated")
      .map(({ origin: _, scope: __, ...row }) => [row.alias, row]),
  );
  const changed = generated.filter((alias) => !Bun.deepEquals(before.get(alias.alias), alias, true));
  for (const { alias } of generated) before.delete(alias);
  const left = [...before.values()].filter((alias) => !alias.deprecated);
  return [...changed, ...left.map((alias) => ({ ...alias, deprecated: true }))];
}
