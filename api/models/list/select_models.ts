/** Pure functions that filter, sort and count the models of a list. */
import { type Static, Type } from "@sinclair/typebox";
import { modelName } from "../../../shared/models/model_name.ts";
import { Count, each } from "../../../shared/schemas.ts";
import { MODEL_CAPABILITIES } from "../../../shared/vocabulary.ts";
import type { ModelRow } from "../../../sql/models/models.ts";
import { type Catalog, type CatalogEntry, compareTexts } from "../catalog.ts";
import { CAPABILITY_COLUMNS } from "../model_json.ts";
import type { ModelSelection } from "./list_parameters.ts";

/** Sort keys. A `null` key sorts last in both directions. */
const SORT_KEYS: Readonly<
  Record<NonNullable<ModelSelection["sortBy"]>, (entry: CatalogEntry) => string | number | null>
> = {
  name: ({ row }) => row.name.toLowerCase(),
  releaseDate: ({ row }) => row.releaseDate,
  inputCost: ({ row }) => row.prices["input"] ?? null,
  outputCost: ({ row }) => row.prices["output"] ?? null,
  cacheReadCost: ({ row }) => row.prices["cacheRead"] ?? null,
  contextLimit: ({ row }) => row.contextTokens,
};

/** Returns all matching models, not just one page. Models with the same sort key stay in order of provider and id. */
export function selectModels(catalog: Catalog, parameters: ModelSelection): CatalogEntry[] {
  const { sortBy, sortOrder } = parameters;
  const { facets, others } = makeTests(parameters);
  const tests = [others, ...Object.values(facets)];
  const selected = catalog.entries.filter((entry) => tests.every((test) => test(entry)));
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

/** Facets for counting models. Each facet is a filter with its values. */
const FACETS = ["provider", "tier", "status", "capability", "openWeights"] as const;
type Facet = (typeof FACETS)[number];

export const ModelFacets = Type.Object(each(FACETS, Type.Record(Type.String(), Count)), {
  title: "ModelFacets",
  description:
    "Models by value: how many a list with that value has. The filter of the same name does not count, except `capability`, " +
    "which can be added to. Only with `facets=true`; values without a model are omitted",
});
type ModelFacets = Static<typeof ModelFacets>;

type Test = (entry: CatalogEntry) => boolean;

/** Returns the conditions of a list: one per facet, and one for the other filters. */
function makeTests(parameters: ModelSelection): { facets: Record<Facet, Test>; others: Test } {
  const { provider, tier, status, capability: capabilities, search, openWeights } = parameters;
  const { minInputCost, maxInputCost, minContext, includeGone } = parameters;
  return {
    facets: {
      provider: ({ row }) => provider === null || row.provider === provider,
      tier: ({ row }) => tier === null || row.tier === tier,
      status: ({ row }) => status === null || row.status === status,
      capability: ({ row }) => capabilities.every((capability) => row[CAPABILITY_COLUMNS[capability]]),
      openWeights: ({ row }) => openWeights === null || row.isOpenWeights === openWeights,
    },
    others: ({ row, searchText }) =>
      (row.removedAt === null || includeGone) &&
      (search === null || searchText.includes(search) || isPartOfKey(search, row)) &&
      isWithin(row.prices["input"] ?? null, { min: minInputCost, max: maxInputCost }) &&
      isWithin(row.contextTokens, { min: minContext, max: null }),
  };
}

/** Returns whether a text with a slash after its first character is part of `provider/modelId`. */
function isPartOfKey(search: string, row: ModelRow): boolean {
  return search.indexOf("/") > 0 && modelName(row).toLowerCase().includes(search);
}

/**
 * Counts models by the values of each facet, ignoring the facet's own filter. The capability filter is not ignored, because
 * another capability is added to the selected ones and does not replace them.
 */
export function countFacets(catalog: Catalog, parameters: ModelSelection): ModelFacets {
  const { facets, others } = makeTests(parameters);
  const counts = new Map<Facet, Map<string, number>>(FACETS.map((facet) => [facet, new Map()]));
  for (const entry of catalog.entries.filter(others)) {
    const failed = FACETS.filter((facet) => !facets[facet](entry));
    for (const [facet, values] of counts) {
      if (failed.some((name) => name !== facet || name === "capability")) continue;
      for (const value of facetValues(facet, entry)) values.set(value, (values.get(value) ?? 0) + 1);
    }
  }
  // `counts` contains every facet.
  return Object.fromEntries(
    [...counts].map(([facet, values]) => [facet, Object.fromEntries(values)]),
  ) as ModelFacets;
}

function facetValues(facet: Facet, { row }: CatalogEntry): readonly string[] {
  if (facet === "capability") return MODEL_CAPABILITIES.filter((name) => row[CAPABILITY_COLUMNS[name]]);
  return [String(facet === "openWeights" ? row.isOpenWeights : row[facet])];
}

/** Returns whether a value is within the bounds. A `null` bound is open. An unknown value is only within open bounds. */
function isWithin(value: number | null, { min, max }: { min: number | null; max: number | null }): boolean {
  if (min === null && max === null) return true;
  return value !== null && (min === null || value >= min) && (max === null || value <= max);
}

function compareKeys(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : compareTexts(String(a), String(b));
}
