import { expect, test } from "bun:test";
import {
  type PriceChange,
  priceRange,
  priceSteps,
  recentPeriod,
} from "../../../../api/pages/models/price_steps.ts";

const DAY = 86_400_000;
const period = { from: Date.parse("2026-09-01T00:00:00Z"), until: Date.parse("2026-09-11T00:00:00Z") };

function change(day: number, oldValue: number | null, newValue: number | null, field = "input"): PriceChange {
  return { field, oldValue, newValue, changedAt: new Date(period.from + day * DAY).toISOString() };
}

function stepsOf(changes: readonly PriceChange[], current: number | null) {
  return priceSteps(changes, { field: "input", current, period }).map(({ at, price }) => [
    (at - period.from) / DAY,
    price,
  ]);
}

test("a price without changes has one step, even if the price is 0 or unknown", () => {
  for (const price of [3, 0, null]) expect(stepsOf([], price)).toEqual([[0, price]]);
});

test("changes are steps, oldest first, and changes of other price fields are ignored", () => {
  const changes = [change(7, 2, 1), change(5, 9, 8, "output"), change(2, 3, 2)];
  expect(stepsOf(changes, 1)).toEqual([
    [0, 3],
    [2, 2],
    [7, 1],
  ]);
});

test("a change before the period sets the first price, and a change after the period sets the last price", () => {
  expect(stepsOf([change(12, 2, 1), change(4, 3, 2), change(-3, 5, 3), change(-8, 6, 5)], 1)).toEqual([
    [0, 3],
    [4, 2],
    [10, 1],
  ]);
});

test("the last 90 days end now and start at the same midnight all day", () => {
  const [morning, evening] = ["2026-11-25T06:00:00Z", "2026-11-25T21:30:00Z"].map(Date.parse) as [
    number,
    number,
  ];
  const from = Date.parse("2026-08-28T00:00:00Z");
  expect([recentPeriod(morning), recentPeriod(evening)]).toEqual([
    { from, until: morning },
    { from, until: evening },
  ]);
});

test("the first step is at the time when the price became known", () => {
  const knownSince = period.from + 3 * DAY;
  const course = { field: "input", current: 1, period, knownSince };
  expect(
    priceSteps([change(5, 2, 1)], course).map(({ at, price }) => [(at - period.from) / DAY, price]),
  ).toEqual([
    [3, 2],
    [5, 1],
  ]);
});

test("thousands of changes are reduced to a few hundred steps with the lowest, highest and last price", () => {
  const count = 5000;
  const values = Array.from({ length: count + 1 }, (_, i) => (i === 1234 ? 99 : 3 + (i % 7)));
  const changes = values
    .slice(1)
    .map((value, i) => change((10 * (i + 1)) / (count + 1), values[i] ?? null, value))
    .toReversed();
  const steps = priceSteps(changes, { field: "input", current: values.at(-1) ?? null, period });
  expect(steps.length).toBeWithin(200, 304);
  expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).toSorted((a, b) => a - b));
  expect(priceRange(steps)).toEqual({ min: 3, max: 99 });
  expect(steps.at(-1)?.price).toBe(values.at(-1) ?? null);
});
