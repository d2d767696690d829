import { expect, test } from "bun:test";
import { formatTokens, priceLabel } from "../../../../api/pages/models/format.ts";
import { formatPrice } from "../../../../api/pages/parts.ts";

test("prices have two decimals, or more if necessary", () => {
  const prices = [3, 0.3, 0.075, 0.000_001, 1e-10, 1.234_567_890_12e-8, 0, 1250.5, null, undefined];
  expect(prices.map(formatPrice)).toEqual([
    ...[
      "$3.00",
      "$0.30",
      "$0.075",
      "$0.000001",
      "$0.0000000001",
      "$0.0000000123456789012",
      "$0.00",
      "$1,250.50",
    ],
    ...["–", "–"],
  ]);
});

test("token counts have three significant digits", () => {
  expect([128_000, 200_000, 1_048_576, 8192, null].map(formatTokens)).toEqual([
    ...["128K", "200K", "1.05M", "8.19K", "–"],
  ]);
});

test("the label of a tier's price names the context size at which the tier starts", () => {
  expect(["cacheRead", "tiers.200000.output", "<new>"].map(priceLabel)).toEqual([
    ...["Cache read", "Output, over 200K context", "<new>"],
  ]);
});
