/** Suggests catalog names that resemble an unknown name, and resolves ids that end with a date. */
import { modelName } from "../../shared/models/model_name.ts";
import { createSuggester, type Suggest, suggestNames } from "../../shared/suggestions.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import type { Catalog } from "./catalog.ts";

const MAX_SUGGESTIONS = 3;

const YEAR = "20\\d\\d";
const MONTH = "(?:0[1-9]|1[0-2])";
const DAY = "(?:0[1-9]|[12]\\d|3[01])";
/** Dates at the end of ids: 2025-08-07, 20250807, 250807, 08-2025, 08-07, 0807 and 2508. */
const DATE = new RegExp(
  `[-@:](?:${YEAR}-${MONTH}-${DAY}|(?:20)?\\d\\d${MONTH}${DAY}|${MONTH}-${YEAR}|${MONTH}-?${DAY}|2\\d${MONTH})$`,
);

/** Returns an id or alias without its final date, such as gpt-5 for gpt-5-2025-08-07; `null` if there is no date. */
function undatedId(id: string): string | null {
  const undated = id.replace(DATE, "");
  return undated === id || undated === "" ? null : undated;
}

/** Returns the key or alias without its final date if the catalog has only that form; `null` otherwise. */
export function findUndated(
  catalog: Catalog,
  options: ModelKey | { alias: string },
): ModelKey | { alias: string } | null {
  const undated = undatedId("alias" in options ? options.alias : options.modelId);
  if (undated === null) return null;
  if ("alias" in options) {
    const { aliases } = catalog;
    return !aliases.has(options.alias) && aliases.has(undated) ? { alias: undated } : null;
  }
  const key = { provider: options.provider, modelId: undated };
  return !catalog.find(options) && catalog.find(key) ? key : null;
}

export interface NameIndex {
  /** Names of usable aliases, then of live models. */
  names: readonly string[];
  /** Ids of all models without their providers, including gone models. */
  modelIds: ReadonlySet<string>;
  /** Suggests up to three models of the provider. For an unknown provider, suggests other providers' models with that id. */
  suggestModels(key: ModelKey): string[];
  /** Suggests up to three aliases. */
  suggestAliases(alias: string): string[];
}

const indexes = new WeakMap<Catalog, NameIndex>();

/** Returns the index of a catalog's names, which is built on first use. */
export function namesOf(catalog: Catalog): NameIndex {
  const index = indexes.get(catalog) ?? indexNames(catalog);
  indexes.set(catalog, index);
  return index;
}

/** Indexes the names of live models and usable aliases. */
function indexNames(catalog: Catalog): NameIndex {
  const live = catalog.entries.flatMap(({ row }) => (row.removedAt === null ? row : []));
  const byProvider = Map.groupBy(live, ({ provider }) => provider);
  const ofProvider = new Map<string, Suggest>();
  const usable = [...catalog.aliases.values()].filter(({ row, entry }) => entry && !row.deprecated);
  const aliases = new Set(usable.map(({ row }) => row.alias));
  let ofAliases: Suggest | null = null;
  return {
    names: [...aliases, ...live.map(modelName)],
    modelIds: new Set(catalog.entries.map(({ row }) => row.modelId)),
    suggestModels(key) {
      const { provider, modelId } = key;
      const undated = undatedId(modelId);
      const own = byProvider.get(provider);
      if (!own) {
        const others = live.filter((row) => row.modelId === modelId || row.modelId === undated);
        return suggestNames(modelName(key), others.map(modelName), { minSimilarity: 0 });
      }
      const suggest = ofProvider.get(provider) ?? createSuggester(own.map(modelName));
      ofProvider.set(provider, suggest);
      const first = own.find((row) => row.modelId === undated);
      return withFirst(first ? modelName(first) : null, suggest(modelName(key)));
    },
    suggestAliases(alias) {
      const undated = undatedId(alias);
      ofAliases ??= createSuggester(aliases);
      return withFirst(undated !== null && aliases.has(undated) ? undated : null, ofAliases(alias));
    },
  };
}

/** Puts the undated name first. The caller means this one, even if another name is more similar. */
function withFirst(first: string | null, names: readonly string[]): string[] {
  if (first === null) return [...names];
  return [first, ...names.filter((name) => name !== first)].slice(0, MAX_SUGGESTIONS);
}
