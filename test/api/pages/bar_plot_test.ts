/** Bar plots: the bars, the axis, and the table with the same values. */
import { expect, test } from "bun:test";
import { renderBarPlot } from "../../../api/pages/bar_plot.ts";

const HOSTILE = `"><script>alert(1)</script>`;

function plot(values: readonly number[]): string {
  const bars = values.map((value, index) => ({ label: `day ${index}`, value }));
  return renderBarPlot({ title: "Runs", columns: { label: "Day", value: "Runs" }, bars }).text;
}

function heights(text: string): number[] {
  return [...text.matchAll(/<rect [^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));
}

function axis(text: string): string[] {
  const [, values = ""] = /<div class="plot-values">(.*?)<\/div>/.exec(text) ?? [];
  return [...values.matchAll(/<span>([^<]*)<\/span>/g)].map(([, value]) => value ?? "");
}

test("bar heights are proportional to the values, and the axis ends at a round maximum", () => {
  const text = plot([0, 5, 20, 40]);
  expect(axis(text)).toEqual(["50", "25", "0"]);
  expect(heights(text)).toEqual([0, 20, 80, 160]);
});

test.each([
  [[1], ["1", "0"]],
  [[2], ["2", "1", "0"]],
  [[1234], ["2,000", "1,000", "0"]],
  [
    [0, 0],
    ["1", "0"],
  ],
  [[], ["1", "0"]],
])("the axis for the values %p is %p", (values, expected) => {
  expect(axis(plot(values))).toEqual(expected);
});

test("a small value is visible even next to large values", () => {
  expect(heights(plot([1, 1_000_000]))[0]).toBeGreaterThanOrEqual(2);
});

test("the table contains every value, and the plot is hidden from screen readers", () => {
  const text = plot([3, 1234]);
  expect(text).toContain(`<th scope="row">day 0</th><td class="number">3</td>`);
  expect(text).toContain(`<th scope="row">day 1</th><td class="number">1,234</td>`);
  expect(text).toContain(`<div class="plot-area" aria-hidden="true">`);
});

test("labels are escaped", () => {
  const bars = [{ label: HOSTILE, value: 1 }];
  const { text } = renderBarPlot({ title: HOSTILE, columns: { label: HOSTILE, value: HOSTILE }, bars });
  expect(text).not.toContain("<script>");
});
