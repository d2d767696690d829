import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatAmount, priceUsage } from "../../../api/models/cost_arithmetic.ts";
import type { Cost } from "../../../api/models/price_json.ts";
import type { ApiError } from "../../../shared/errors.ts";

const BASE: Cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const MILLION = 1_000_000;

function costOf(cost: Cost, usage: Parameters<typeof priceUsage>[1]) {
  const computed = priceUsage(cost, usage, "acme/a");
  return { cost: formatAmount(computed.cost), prices: computed.prices };
}

function findProblem(...given: Parameters<typeof costOf>) {
  try {
    return costOf(...given);
  } catch (error) {
    return (error as ApiError).details;
  }
}

test("each kind of token has its own price", () => {
  const cost: Cost = { ...BASE, reasoning: 12, inputAudio: 40, outputAudio: 80 };
  const kinds = {
    inputTokens: "3",
    outputTokens: "15",
    cacheReadTokens: "0.3",
    cacheWriteTokens: "3.75",
    reasoningTokens: "12",
    inputAudioTokens: "40",
    outputAudioTokens: "80",
  };
  for (const [kind, expected] of Object.entries(kinds)) {
    const usage = { inputTokens: 0, outputTokens: 0, [kind]: MILLION };
    expect([kind, costOf(cost, usage).cost]).toEqual([kind, expected]);
  }
});

test("a kind of token without a price is an error, except for reasoning, which costs the output price", () => {
  const none = { inputTokens: 0, outputTokens: 0 };
  const cost = { input: 2, output: 7 };
  for (const [kind, price] of [
    ["cacheReadTokens", "cacheRead"],
    ["cacheWriteTokens", "cacheWrite"],
    ["inputAudioTokens", "inputAudio"],
    ["outputAudioTokens", "outputAudio"],
  ] as const) {
    expect(findProblem(cost, { ...none, [kind]: 1 })).toEqual({ reason: "price", kind: price });
    expect(costOf(cost, { ...none, [kind]: 0 }).cost).toBe("0");
  }
  expect(costOf(cost, { ...none, reasoningTokens: MILLION }).cost).toBe("7");
});

test("the highest tier below the context size applies to all tokens", () => {
  const cost: Cost = {
    ...BASE,
    tiers: [
      { contextOver: 200_000, input: 6, output: 22.5 },
      { contextOver: 500_000, input: 9 },
    ],
  };
  const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 0 });
  expect(costOf(cost, usage(200_000))).toEqual({ cost: "0.6", prices: BASE });
  expect(costOf(cost, usage(200_001))).toEqual({
    cost: "1.200006",
    prices: { ...BASE, input: 6, output: 22.5, contextOver: 200_000 },
  });
  expect(costOf(cost, usage(MILLION)).prices).toEqual({
    ...{ ...BASE, input: 9, output: 22.5 },
    contextOver: 500_000,
  });
  const cached = { inputTokens: 1, cacheReadTokens: 100_000, cacheWriteTokens: 100_000, outputTokens: 0 };
  expect(costOf(cost, cached).prices.contextOver).toBe(200_000);
  // An item may combine many small requests, so `contextTokens` selects the tier.
  expect(costOf(cost, { ...usage(MILLION), contextTokens: 8000 })).toEqual({ cost: "3", prices: BASE });
});

test("amounts are exact and are written without an exponent", () => {
  expect(costOf({ input: 0.000_000_01, output: 0 }, { inputTokens: 1, outputTokens: 0 }).cost).toBe(
    "0.00000000000001",
  );
  const large = { inputTokens: 1e12, outputTokens: 1e12 };
  expect(costOf({ input: 123_456.123_456, output: 999_999.999_999 }, large).cost).toBe("1123456123455");
  const digits = fc.integer({ min: 0, max: 999_999_999_999 });
  const scale = fc.integer({ min: 0, max: 9 });
  const tokens = fc.integer({ min: 0, max: 1e12 });
  fc.assert(
    fc.property(digits, scale, tokens, tokens, (price, places, inputTokens, outputTokens) => {
      const input = Number(`${price}e-${places}`);
      const { cost } = costOf({ input, output: 0 }, { inputTokens, outputTokens });
      const exact = (BigInt(price) * BigInt(inputTokens)).toString().padStart(places + 7, "0");
      const [whole, fraction] = [exact.slice(0, -places - 6), exact.slice(-places - 6)];
      const trimmed = fraction.replace(/0+$/, "");
      expect(cost).toBe(trimmed === "" ? whole : `${whole}.${trimmed}`);
    }),
  );
});

test("a price missing from a tier comes from the next lower tier, or else from the base", () => {
  const cost: Cost = {
    ...BASE,
    tiers: [
      { contextOver: 100_000, input: 4, cacheRead: 0.4 },
      { contextOver: 200_000, input: 6, output: 22.5 },
    ],
  };
  const usage = { inputTokens: 200_001, outputTokens: 0 };
  expect(costOf(cost, usage).prices).toEqual({
    ...{ input: 6, output: 22.5, cacheRead: 0.4, cacheWrite: 3.75 },
    contextOver: 200_000,
  });
});

test("a special price that equals the general price stays equal in a tier that sets only the general price", () => {
  const cost: Cost = {
    ...{ input: 2, output: 12, cacheRead: 0.2, cacheWrite: 0.375, reasoning: 12 },
    tiers: [{ contextOver: 200_000, input: 4, output: 18, cacheRead: 0.4 }],
  };
  const usage = { inputTokens: 300_000, outputTokens: 1000, reasoningTokens: 9000 };
  expect(costOf(cost, usage)).toEqual({
    cost: "1.38",
    prices: { input: 4, output: 18, cacheRead: 0.4, cacheWrite: 0.375, reasoning: 18, contextOver: 200_000 },
  });
  // A reasoning price that differs from the output price is kept. An equal one is kept if the tier keeps the output price.
  expect(costOf({ ...cost, reasoning: 13 }, usage).prices.reasoning).toBe(13);
  expect(costOf({ ...cost, tiers: [{ contextOver: 1, input: 4 }] }, usage).prices.reasoning).toBe(12);
});
