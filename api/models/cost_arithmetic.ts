/** Pure functions that compute the cost of token usage with exact decimals. */
import Big from "big.js";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { PRICE_FIELDS, type PriceField } from "../../shared/vocabulary.ts";
import type { TokenUsage } from "./cost_items.ts";
import type { ChargedPrices, Cost } from "./price_json.ts";

const USD_PER_TOKEN = new Big("0.000001");

/** Usage fields by the price that applies to them. */
const USAGE_FIELDS = {
  input: "inputTokens",
  output: "outputTokens",
  cacheRead: "cacheReadTokens",
  cacheWrite: "cacheWriteTokens",
  reasoning: "reasoningTokens",
  inputAudio: "inputAudioTokens",
  outputAudio: "outputAudioTokens",
} as const satisfies Record<PriceField, keyof TokenUsage>;

/** The general price for each special kind of token. */
const GENERAL_PRICES: Partial<Record<PriceField, "input" | "output">> = {
  cacheRead: "input",
  cacheWrite: "input",
  inputAudio: "input",
  reasoning: "output",
  outputAudio: "output",
};

/**
 * Returns the exact cost in USD and the charged prices. If `model` has no price for a kind of token, throws NOT_FOUND with the
 * reason `price` and the kind in `details.kind`.
 */
export function priceUsage(
  cost: Cost,
  usage: TokenUsage,
  model: string,
): { cost: Big; prices: ChargedPrices } {
  const prices = choosePrices(cost, usage);
  let sum = new Big(0);
  for (const kind of PRICE_FIELDS) {
    const tokens = usage[USAGE_FIELDS[kind]];
    if (!tokens) continue;
    // Most models charge reasoning as output. Cache and audio prices always differ from the general price.
    const price = prices[kind] ?? (kind === "reasoning" ? prices.output : undefined);
    if (price === undefined) throw unpricedError(kind, model);
    sum = sum.plus(new Big(price).times(tokens));
  }
  return { cost: sum.times(USD_PER_TOKEN), prices };
}

function unpricedError(kind: PriceField, model: string): ApiError {
  const general = GENERAL_PRICES[kind];
  const message = TEXTS.NOT_FOUND.priceKind({
    model,
    field: USAGE_FIELDS[kind],
    general: general ? { kind: general, field: USAGE_FIELDS[general] } : null,
  });
  return new ApiError("NOT_FOUND", { message, details: { reason: "price", kind } });
}

/** Formats an amount without an exponent or trailing zeros. */
export function formatAmount(amount: Big): string {
  return amount.toFixed();
}

/**
 * Returns the prices of the highest tier whose size the context exceeds. They apply to all tokens of a request. A price missing
 * from the tier is taken from the next lower tier that has it, then from the base prices. A special price that equals the
 * general base price, such as reasoning and output, stays equal to it.
 */
function choosePrices({ tiers = [], ...base }: Cost, usage: TokenUsage): ChargedPrices {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, inputAudioTokens = 0 } = usage;
  const promptTokens = inputTokens + cacheReadTokens + cacheWriteTokens + inputAudioTokens;
  const context = usage.contextTokens ?? promptTokens;
  const reached = tiers.filter(({ contextOver }) => context > contextOver);
  if (reached.length === 0) return base;
  const stated: ChargedPrices = Object.assign({}, ...reached);
  const equal = Object.entries(GENERAL_PRICES).filter(([kind, general]) => {
    const price = base[kind as PriceField];
    return price !== undefined && price === base[general] && stated[general] !== undefined;
  });
  return {
    ...base,
    ...Object.fromEntries(equal.map(([kind, general]) => [kind, stated[general]])),
    ...stated,
  };
}
