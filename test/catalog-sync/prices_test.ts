import { expect, test } from "bun:test";
import { mapPrices } from "../../catalog-sync/prices.ts";

const NO_CACHE = { cacheReadUsdPerMtok: null, cacheWriteUsdPerMtok: null };

test("prices without a column are kept under their names in the API, without noise", () => {
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
  expect(mapPrices(cost)).toEqual({
    inputUsdPerMtok: 1,
    outputUsdPerMtok: 2,
    cacheReadUsdPerMtok: 0.1,
    cacheWriteUsdPerMtok: null,
    pricing: {
      reasoning: 3,
      inputAudio: 0.3,
      outputAudio: 5,
      "tiers.200000.input": 0.3,
      "tiers.200000.output": 4,
      "tiers.500000.cacheWrite": 7,
    },
  });
});

test("context_over_200k is a tier unless the source lists tiers", () => {
  const prices = { input: 1, output: 2 };
  const above200k = { context_over_200k: { input: 4, cache_read: 0.5 } };
  expect(mapPrices({ ...prices, ...above200k }).pricing).toEqual({
    "tiers.200000.input": 4,
    "tiers.200000.cacheRead": 0.5,
  });
  const tiers = [{ input: 4, tier: { type: "context", size: 256_000 } }];
  expect(mapPrices({ ...prices, ...above200k, tiers }).pricing).toEqual({ "tiers.256000.input": 4 });
});

test("tiers by anything but context are not prices of a context", () => {
  const tiers = [
    { input: 4, tier: { type: "batch", size: 200_000 } },
    { input: 4, tier: { type: "context", size: 0 } },
    { input: 4, tier: { type: "context", size: 0.5 } },
  ];
  expect(mapPrices({ input: 1, output: 2, tiers }).pricing).toBeNull();
});

test("no cost means no prices", () => {
  expect(mapPrices(undefined)).toEqual({
    inputUsdPerMtok: null,
    outputUsdPerMtok: null,
    ...NO_CACHE,
    pricing: null,
  });
});
