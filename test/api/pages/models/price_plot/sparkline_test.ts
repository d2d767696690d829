import { expect, test } from "bun:test";
import { sparkline } from "../../../../../api/pages/models/price_plot.ts";

const period = { from: 0, until: 90 };

function draw(...prices: (number | null)[]): string | null {
  return (
    sparkline(
      prices.map((price, i) => ({ at: i * 30, price })),
      period,
    )?.text ?? null
  );
}

test("the lowest and the highest price are at the edges, and the label describes the trend", () => {
  const text = draw(3, 2, 2.5);
  expect(text).toContain('<path d="M0 2H21.3V18H42.7V10H64"/>');
  expect(text).toContain('aria-label="from $3.00 to $2.50 in 2 changes"');
});

test("a constant price is a horizontal line, and an unknown price has no picture", () => {
  expect(draw(0)).toContain('<path d="M0 10H64"/>');
  expect(draw(0)).toContain('aria-label="unchanged at $0.00"');
  expect(draw(null)).toBeNull();
});
