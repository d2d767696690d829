/** Filters and sorts the models of a list. Pure. */
import { type Catalog, type CatalogEntry, compareTexts } from "./catalog.ts";
import type { ListParameters } from "./list_parameters.ts";
import { CAPABILITY_COLUMNS } from "./model_json.ts";

/** Sort keys; `null` comes last in either direction. */
const SORT_KEYS: Readonly<
  Record<NonNullable<ListParameters["sortBy"]>, (entry: CatalogEntry) => string | number | null>
> = {
  name: ({ row }) => row.name.toLowerCase(),
  releaseDate: ({ row }) => row.releaseDate,
  inputCost: ({ row }) => row.inputUsdPerMtok,
  outputCost: ({ row }) => row.outputUsdPerMtok,
  cacheReadCost: ({ row }) => row.cacheReadUsdPerMtok,
  contextLimit: ({ row }) => row.contextTokens,
};

/** Returns all matching models, not only a page. Models with the same sort key stay in order of provider and id. */
export function selectModels(catalog: Catalog, parameters: ListParameters): CatalogEntry[] {
  const { sortBy, sortOrder } = parameters;
  const selected = catalog.entries.filter((entry) => isSelected(entry, parameters));
  if (sortBy === null) return sortOrder === "asc" ? selected : selected.reverse();
  const keyOf = SORT_KEYS[sortBy];
  const sign = sortOrder === "asc" ? 1 : -1;
  return selected
    .map((entry) => ({ entry, key: keyOf(entry) }))
    .sort((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      return sign * compareKeys(a.key, b.key);
    })
    .map(({ entry }) => entry);
}

function isSelected({ row, searchText }: CatalogEntry, parameters: ListParameters): boolean {
  const { provider, tier, status, capability: capabilities, search, openWeights } = parameters;
  if (row.removedAt !== null && !parameters.includeGone) return false;
  if (provider !== null && row.provider !== provider) return false;
  if (tier !== null && row.tier !== tier) return false;
  if (status !== null && row.status !== status) return false;
  if (openWeights !== null && row.isOpenWeights !== openWeights) return false;
  if (search !== null && !searchText.includes(search)) return false;
  if (!isWithin(row.inputUsdPerMtok, { min: parameters.minInputCost, max: parameters.maxInputCost }))
    return false;
  if (!isWithin(row.contextTokens, { min: parameters.minContext, max: null })) return false;
  return capabilities.every((capability) => row[CAPABILITY_COLUMNS[capability]]);
}

/** Whether a value lies between the bounds, which `null` leaves open. An unknown value is within no bound. */
function isWithin(value: number | null, { min, max }: { min: number | null; max: number | null }): boolean {
  if (min === null && max === null) return true;
  return value !== null && (min === null || value >= min) && (max === null || value <= max);
}

function compareKeys(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : compareTexts(String(a), String(b));
}
