/** What a usage of tokens costs, computed with exact decimals. Pure. */
import Big from "big.js";
import { PRICE_FIELDS, type PriceField } from "../../shared/vocabulary.ts";
import type { Cost } from "./price_json.ts";

/** Numbers of tokens. Every token counts in one field only. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  inputAudioTokens?: number;
  outputAudioTokens?: number;
  /** Selects the tier; all tokens of the prompt when omitted. */
  contextTokens?: number;
}

/** A kind of tokens that was used, and for which the model has no price. */
export class UnpricedKind extends Error {
  override readonly name = "UnpricedKind";
  readonly kind: PriceField;

  constructor(kind: PriceField) {
    super(`the model has no price for ${kind}`);
    this.kind = kind;
  }
}

interface ChargedPrices extends Omit<Cost, "tiers"> {
  /** The tier they come from; omitted for the base prices. */
  contextOver?: number;
}

const USD_PER_TOKEN = new Big("0.000001");

/** Fields of the usage by the price they are charged at. */
export const USAGE_FIELDS = {
  input: "inputTokens",
  output: "outputTokens",
  cacheRead: "cacheReadTokens",
  cacheWrite: "cacheWriteTokens",
  reasoning: "reasoningTokens",
  inputAudio: "inputAudioTokens",
  outputAudio: "outputAudioTokens",
} as const satisfies Record<PriceField, keyof TokenUsage>;

/** The price of the tokens that each special kind is a part of. */
export const GENERAL_PRICES: Partial<Record<PriceField, "input" | "output">> = {
  cacheRead: "input",
  cacheWrite: "input",
  inputAudio: "input",
  reasoning: "output",
  outputAudio: "output",
};

/** Returns the exact cost in USD and the prices that lead to it. Throws UnpricedKind. */
export function priceUsage(cost: Cost, usage: TokenUsage): { cost: Big; prices: ChargedPrices } {
  const prices = choosePrices(cost, usage);
  let sum = new Big(0);
  for (const kind of PRICE_FIELDS) {
    const tokens = usage[USAGE_FIELDS[kind]];
    if (!tokens) continue;
    // Reasoning is output, which a few models price apart. Caches and audio are cheaper or dearer everywhere.
    const price = prices[kind] ?? (kind === "reasoning" ? prices.output : undefined);
    if (price === undefined) throw new UnpricedKind(kind);
    sum = sum.plus(new Big(price).times(tokens));
  }
  return { cost: sum.times(USD_PER_TOKEN), prices };
}

/** Writes an amount without an exponent and without trailing zeros. */
export function formatAmount(amount: Big): string {
  return amount.toFixed();
}

/**
 * Chooses the prices of the highest tier whose size the context exceeds; they apply to all tokens of a request. A price that
 * it leaves out is that of the next lower tier that has it, then the base's. A special price that equals the general one in
 * the base, such as reasoning and output, stays equal to it.
 */
function choosePrices({ tiers = [], ...base }: Cost, usage: TokenUsage): ChargedPrices {
  const context = usage.contextTokens ?? promptTokens(usage);
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

function promptTokens({
  inputTokens,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
  inputAudioTokens = 0,
}: TokenUsage) {
  return inputTokens + cacheReadTokens + cacheWriteTokens + inputAudioTokens;
}
