import { expect, test } from "bun:test";
import fc from "fast-check";
import { pricePlot, priceTicks } from "../../../../../api/pages/models/price_plot.ts";

test.each([
  [0, [0, 1]],
  [3, [0, 1, 2, 3]],
  [15, [0, 5, 10, 15]],
  [0.3, [0, 0.1, 0.2, 0.3]],
  [0.075, [0, 0.02, 0.04, 0.06, 0.08]],
  [75, [0, 20, 40, 60, 80]],
] as const)("the ticks of an axis for prices up to %p are %p", (max, ticks) => {
  expect(priceTicks(max)).toEqual([...ticks]);
});

test("there are few ticks, which start at 0 and include every price", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (max) => {
      const ticks = priceTicks(max);
      expect(ticks.length).toBeWithin(3, 7);
      expect(ticks[0]).toBe(0);
      expect((ticks.at(-1) ?? 0) * (1 + 1e-9)).toBeGreaterThanOrEqual(max);
      expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b));
    }),
  );
});

test("the time axis is labeled with the first, the middle and the last day", () => {
  const period = { from: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 0, 31) };
  const series = [{ label: "Input", steps: [{ at: period.from, price: 1 }] }];
  const { text } = pricePlot({ id: "plot", title: "Input", series, period });
  const days = [...text.matchAll(/text-anchor="(\w+)">(\d{4}-\d\d-\d\d)</g)];
  expect(days.map(([, ...label]) => label)).toEqual([
    ["start", "2026-01-01"],
    ["middle", "2026-01-16"],
    ["end", "2026-01-31"],
  ]);
});
