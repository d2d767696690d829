import { expect, test } from "bun:test";
import { readPrices } from "../../../shared/models/prices.ts";

test("readPrices() uses the API's price names and rounds away floating-point noise", () => {
  const cost = {
    input: 1,
    output: 2,
    cache_read: 0.1,
    reasoning: 3,
    input_audio: 0.30000000000000004,
    output_audio: 5,
    tiers: [
      { input: 0.30000000000000004, output: 4, tier: { type: "context", size: 200_000 } },
      { cache_write: 7, tier: { type: "context", size: 500_000 } },
    ],
  };
  expect(readPrices(cost)).toEqual({
    input: 1,
    output: 2,
    cacheRead: 0.1,
    reasoning: 3,
    inputAudio: 0.3,
    outputAudio: 5,
    "tiers.200000.input": 0.3,
    "tiers.200000.output": 4,
    "tiers.500000.cacheWrite": 7,
  });
});

test("readPrices() reads context_over_200k as a tier unless the source lists tiers", () => {
  const prices = { input: 1, output: 2 };
  const above200k = { context_over_200k: { input: 4, cache_read: 0.5 } };
  expect(readPrices({ ...prices, ...above200k })).toEqual({
    ...prices,
    "tiers.200000.input": 4,
    "tiers.200000.cacheRead": 0.5,
  });
  const tiers = [{ input: 4, tier: { type: "context", size: 256_000 } }];
  expect(readPrices({ ...prices, ...above200k, tiers })).toEqual({ ...prices, "tiers.256000.input": 4 });
});

test("readPrices() ignores tiers of other types and context tiers with an invalid size", () => {
  const tiers = [
    { input: 4, tier: { type: "batch", size: 200_000 } },
    { input: 4, tier: { type: "context", size: 0 } },
    { input: 4, tier: { type: "context", size: 0.5 } },
  ];
  expect(readPrices({ input: 1, output: 2, tiers })).toEqual({ input: 1, output: 2 });
});

test("readPrices() returns no prices if the source has no cost", () => {
  expect([readPrices(undefined), readPrices(null)]).toEqual([{}, {}]);
});
