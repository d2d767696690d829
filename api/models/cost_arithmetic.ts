/** What a usage of tokens costs, computed with exact decimals. Pure. */
import Big from "big.js";
import type { Cost, PricesByField } from "./price_json.ts";

/** Numbers of tokens. Every token counts in one field only. */
export interface Usage {
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

/** The prices that were charged. */
export interface ChargedPrices extends PricesByField {
  /** The tier they come from; omitted for the base prices. */
  contextOver?: number;
}

const USD_PER_TOKEN = new Big("0.000001");

/** Returns the exact cost in USD and the prices that lead to it. */
export function computeCost(cost: Cost, usage: Usage): { cost: Big; prices: ChargedPrices } {
  const prices = choosePrices(cost, usage);
  const input = prices.input ?? 0;
  const output = prices.output ?? 0;
  // A kind of token without a price of its own costs as much as the kind it belongs to.
  const lines: [tokens: number | undefined, price: number][] = [
    [usage.inputTokens, input],
    [usage.cacheReadTokens, prices.cacheRead ?? input],
    [usage.cacheWriteTokens, prices.cacheWrite ?? input],
    [usage.inputAudioTokens, prices.inputAudio ?? input],
    [usage.outputTokens, output],
    [usage.reasoningTokens, prices.reasoning ?? output],
    [usage.outputAudioTokens, prices.outputAudio ?? output],
  ];
  let sum = new Big(0);
  for (const [tokens, price] of lines) if (tokens) sum = sum.plus(new Big(price).times(tokens));
  return { cost: sum.times(USD_PER_TOKEN), prices };
}

/** Writes an amount without an exponent and without trailing zeros. */
export function formatAmount(amount: Big): string {
  return amount.toFixed();
}

/** The highest tier whose size the context exceeds applies to all tokens of a request. */
function choosePrices({ tiers = [], ...base }: Cost, usage: Usage): ChargedPrices {
  const context = usage.contextTokens ?? promptTokens(usage);
  const tier = tiers.findLast(({ contextOver }) => context > contextOver);
  return { ...base, ...tier };
}

function promptTokens({
  inputTokens,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
  inputAudioTokens = 0,
}: Usage) {
  return inputTokens + cacheReadTokens + cacheWriteTokens + inputAudioTokens;
}
