/** Converts prices to their API form, with tiers as a list. */
import { type Static, Type } from "@sinclair/typebox";
import { each, listOf } from "../../shared/schemas.ts";
import { PRICE_FIELDS, type PriceField } from "../../shared/vocabulary.ts";
import type { Prices } from "../../sql/models/models.ts";

/** Optional prices by kind of token. */
const PriceParts = each(PRICE_FIELDS, Type.Optional(Type.Number({ minimum: 0 })));
type PricesByField = Partial<Record<PriceField, number>>;

const PriceTier = Type.Object(
  {
    /** The tier applies to requests whose context exceeds this number of tokens. */
    contextOver: Type.Integer({ minimum: 1 }),
    ...PriceParts,
  },
  { title: "PriceTier" },
);

/** Prices in USD per million tokens. Unknown prices are omitted. */
export const Cost = Type.Object({
  ...PriceParts,
  input: Type.Number({ minimum: 0 }),
  tiers: Type.Optional(listOf(PriceTier)),
});
export type Cost = Static<typeof Cost>;

/** The prices charged for usage: a model's base prices or the prices of a tier. */
export const ChargedPrices = Type.Object(
  {
    ...PriceParts,
    input: Type.Number({ minimum: 0 }),
    contextOver: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  {
    description:
      "The prices that were charged, in USD per million tokens. `contextOver` is the price tier, if one applied",
  },
);
export type ChargedPrices = Static<typeof ChargedPrices>;

const TIER_PREFIX = /^tiers\.(\d+)\./;

/** Returns the API form of a model's prices; `null` without an input price. */
export function presentCost(prices: Prices): Cost | null {
  const { input } = prices;
  if (input === undefined) return null;
  const sizes = new Set(Object.keys(prices).flatMap((name) => TIER_PREFIX.exec(name)?.[1] ?? []));
  const tiers = [...sizes]
    .map((size) => ({ contextOver: Number(size), ...pickPrices(prices, `tiers.${size}.`) }))
    .sort((a, b) => a.contextOver - b.contextOver);
  return { ...pickPrices(prices, ""), input, ...(tiers.length === 0 ? {} : { tiers }) };
}

function pickPrices(prices: Prices, prefix: string): PricesByField {
  const known = PRICE_FIELDS.filter((field) => prices[prefix + field] !== undefined);
  return Object.fromEntries(known.map((field) => [field, prices[prefix + field]]));
}
