/** Maps the source's prices to ours. Pure. */
import { PRICE_FIELDS, type PriceField } from "../shared/vocabulary.ts";
import type { Model } from "../sql/models/models.ts";
import type { SourceModel } from "./document.ts";

/** Beyond these digits, prices have the noise of binary fractions, such as 0.04999999999999996. */
const PRICE_DIGITS = 12;

const SOURCE_NAMES = {
  input: "input",
  output: "output",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  reasoning: "reasoning",
  inputAudio: "input_audio",
  outputAudio: "output_audio",
} as const satisfies Record<PriceField, string>;

const COLUMN_FIELDS: ReadonlySet<PriceField> = new Set(["input", "output", "cacheRead", "cacheWrite"]);

type SourceCost = NonNullable<SourceModel["cost"]>;
type SourcePrices = Partial<Record<(typeof SOURCE_NAMES)[PriceField], number>>;
type ModelPrices = Pick<
  Model,
  "inputUsdPerMtok" | "outputUsdPerMtok" | "cacheReadUsdPerMtok" | "cacheWriteUsdPerMtok" | "pricing"
>;

/** Returns a model's prices, rounded. */
export function mapPrices(cost: SourceModel["cost"]): ModelPrices {
  return {
    inputUsdPerMtok: roundPrice(cost?.input),
    outputUsdPerMtok: roundPrice(cost?.output),
    cacheReadUsdPerMtok: roundPrice(cost?.cache_read),
    cacheWriteUsdPerMtok: roundPrice(cost?.cache_write),
    pricing: cost ? otherPrices(cost) : null,
  };
}

/** Returns the prices without a column; `null` if there are none. */
function otherPrices(cost: SourceCost): Model["pricing"] {
  const base = listPrices(cost).filter(([field]) => !COLUMN_FIELDS.has(field));
  const tiers = listTiers(cost).flatMap(({ size, prices }) =>
    listPrices(prices).map(([field, price]): [string, number] => [`tiers.${size}.${field}`, price]),
  );
  const others = [...base, ...tiers];
  return others.length === 0 ? null : Object.fromEntries(others);
}

/** Lists the tiers by context. `context_over_200k` is an older form of them, which newer documents repeat. */
function listTiers({ tiers, context_over_200k: above200k }: SourceCost) {
  const known: { size: number; prices: SourcePrices }[] = (tiers ?? [])
    .filter(({ tier: { type, size } }) => type === "context" && Number.isSafeInteger(size) && size > 0)
    .map(({ tier, ...prices }) => ({ size: tier.size, prices }));
  return known.length === 0 && above200k ? [{ size: 200_000, prices: above200k }] : known;
}

function listPrices(prices: SourcePrices): [PriceField, number][] {
  return PRICE_FIELDS.flatMap((field): [PriceField, number][] => {
    const price = roundPrice(prices[SOURCE_NAMES[field]]);
    return price === null ? [] : [[field, price]];
  });
}

/** Rounds a price to its significant digits; `null` without a price. */
function roundPrice(price: number | undefined): number | null {
  return price === undefined ? null : Number(price.toPrecision(PRICE_DIGITS));
}
