/** Prices as clients see them: tiers become a list. */
import { PRICE_FIELDS, type PriceField } from "../../shared/vocabulary.ts";
import type { Prices } from "../../sql/models/models.ts";

export type PricesByField = Partial<Record<PriceField, number>>;

export interface PriceTier extends PricesByField {
  /** The tier applies to requests with more tokens of context. */
  contextOver: number;
}

/** USD per million tokens; unknown prices are left out. */
export interface Cost extends PricesByField {
  /** By size; only if there are any. */
  tiers?: PriceTier[];
}

const TIER_PREFIX = /^tiers\.(\d+)\./;

/** Presents the prices of a model; `null` if it has none. */
export function presentCost(prices: Prices): Cost | null {
  if (prices["input"] === undefined) return null;
  const sizes = new Set(Object.keys(prices).flatMap((name) => TIER_PREFIX.exec(name)?.[1] ?? []));
  const tiers = [...sizes]
    .map((size) => ({ contextOver: Number(size), ...pickPrices(prices, `tiers.${size}.`) }))
    .sort((a, b) => a.contextOver - b.contextOver);
  return { ...pickPrices(prices, ""), ...(tiers.length === 0 ? {} : { tiers }) };
}

function pickPrices(prices: Prices, prefix: string): PricesByField {
  const known = PRICE_FIELDS.filter((field) => prices[prefix + field] !== undefined);
  return Object.fromEntries(known.map((field) => [field, prices[prefix + field]]));
}
