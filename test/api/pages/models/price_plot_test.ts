import { expect, test } from "bun:test";
import { type PriceSeries, pricePlot, stepPath } from "../../../../api/pages/models/price_plot.ts";

const DAY = 86_400_000;
const from = Date.parse("2026-09-01T00:00:00Z");
const period = { from, until: from + 60 * DAY };

function plot(...series: PriceSeries[]): string {
  return pricePlot({ id: "p", title: "Input", series, period }).text;
}

function pathsOf(text: string): string[] {
  return [...text.matchAll(/<path d="([^"]*)"/g)].map(([, path = ""]) => path);
}

test("a single change is drawn as a step down with a dot, and the description states the same prices", () => {
  const text = plot({
    label: "GPT-5",
    steps: [
      { at: from, price: 4 },
      { at: from + 30 * DAY, price: 2 },
    ],
  });
  expect(pathsOf(text)).toEqual(["M56 12H204V82H352"]);
  expect(text).toContain("<title>2026-10-01: $4.00 → $2.00</title></circle>");
  expect(text).toContain('<desc id="p-desc">GPT-5: $4.00 at first, 1 change, now $2.00.</desc>');
  expect(text).toContain('<title id="p-title">Input, in US dollars per million tokens</title>');
  for (const tick of ["$0.00", "$2.00", "$4.00", "2026-09-01", "2026-10-01", "2026-10-31"]) {
    expect(text).toContain(`>${tick}</text>`);
  }
});

test("a price that has just become known is drawn as a dot, because its line has no length", () => {
  const text = plot({ label: "a", steps: [{ at: period.until, price: 3 }] });
  expect(text).toContain(`<circle cx="352" cy="12" r="3"><title>2026-10-31: – → $3.00</title></circle>`);
  expect(plot({ label: "a", steps: [{ at: period.until, price: null }] })).not.toContain("<circle");
});

test("a constant price is a horizontal line, at the bottom if the price is 0", () => {
  expect(pathsOf(plot({ label: "a", steps: [{ at: from, price: 3 }] }))).toEqual(["M56 12H352"]);
  const free = plot({ label: "a", steps: [{ at: from, price: 0 }] });
  expect(pathsOf(free)).toEqual(["M56 152H352"]);
  expect(free).toContain("a: unchanged at $0.00.");
  expect(free).not.toContain("<circle");
});

test("several series share a scale, have different styles and a legend, and their labels are escaped", () => {
  const text = plot(
    { label: "<b>a</b>", steps: [{ at: from, price: 10 }] },
    { label: "b", steps: [{ at: from, price: null }] },
    { label: "c", steps: [{ at: from, price: 5 }] },
  );
  expect(pathsOf(text).slice(0, 3)).toEqual(["M56 12H352", "", "M56 82H352"]);
  expect([...text.matchAll(/<g class="series (series-\d)">/g)].map(([, name]) => name)).toEqual([
    ...["series-1", "series-2", "series-3"],
  ]);
  expect(text).toContain("&lt;b&gt;a&lt;/b&gt;</li>");
  expect(text).not.toContain("<b>");
  expect(text).not.toMatch(/NaN|Infinity/);
});

test("the path goes right, then up or down, with gaps where there is no price", () => {
  const x = (at: number) => at;
  const y = (price: number) => 10 - price;
  const path = (...prices: (number | null)[]) =>
    stepPath(
      prices.map((price, at) => ({ at: at * 10, price })),
      { x, y, end: 50 },
    );
  expect(path(3)).toBe("M0 7H50");
  expect(path(3, 1)).toBe("M0 7H10V9H50");
  expect(path(3, null, 0)).toBe("M0 7H10M20 10H50");
  expect(path(null)).toBe("");
});
