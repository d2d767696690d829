/** Reads prices in the format of models.dev. Pure. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { each } from "../schemas.ts";
import { PRICE_FIELDS, type PriceField } from "../vocabulary.ts";

/** The maximum price, far above any real price. A higher price is a mistake. */
export const MAX_USD_PER_MTOK = 1e9;

/** The number of significant digits. Further digits are rounding errors of binary fractions, such as 0.04999999999999996. */
const PRICE_DIGITS = 12;

/** The names of prices in the source, by their names in the API. */
const SOURCE_NAMES = {
  input: "input",
  output: "output",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  reasoning: "reasoning",
  inputAudio: "input_audio",
  outputAudio: "output_audio",
} as const satisfies Record<PriceField, string>;

const Price = Type.Optional(Type.Number({ minimum: 0, maximum: MAX_USD_PER_MTOK }));
const SourcePrices = each(Object.values(SOURCE_NAMES), Price);
type SourcePrices = Static<TObject<typeof SourcePrices>>;

/**
 * The `cost` of a model in the source's document, in USD per million tokens. Unknown keys are allowed, because the source may
 * add keys.
 */
export const SourceCost = Type.Object({
  ...SourcePrices,
  context_over_200k: Type.Optional(Type.Object(SourcePrices)),
  tiers: Type.Optional(
    Type.Array(
      Type.Object({ ...SourcePrices, tier: Type.Object({ type: Type.String(), size: Type.Number() }) }),
    ),
  ),
});
export type SourceCost = Static<typeof SourceCost>;

/**
 * Returns the rounded prices by their name in the API, such as `input` and `tiers.200000.input`. Returns none if the model
 * has no cost.
 */
export function readPrices(cost: SourceCost | null | undefined): Record<string, number> {
  if (!cost) return {};
  const tiers = listTiers(cost).flatMap(({ size, prices }) =>
    listPrices(prices).map(([field, price]): [string, number] => [`tiers.${size}.${field}`, price]),
  );
  return Object.fromEntries([...listPrices(cost), ...tiers]);
}

/** Returns the price tiers by context size. `context_over_200k` is an older form of a tier, which newer documents repeat. */
function listTiers({ tiers, context_over_200k: above200k }: SourceCost) {
  const known: { size: number; prices: SourcePrices }[] = (tiers ?? [])
    .filter(({ tier: { type, size } }) => type === "context" && Number.isSafeInteger(size) && size > 0)
    .map(({ tier, ...prices }) => ({ size: tier.size, prices }));
  return known.length === 0 && above200k ? [{ size: 200_000, prices: above200k }] : known;
}

function listPrices(prices: SourcePrices): [PriceField, number][] {
  return PRICE_FIELDS.flatMap((field): [PriceField, number][] => {
    const price = prices[SOURCE_NAMES[field]];
    return price === undefined ? [] : [[field, Number(price.toPrecision(PRICE_DIGITS))]];
  });
}
