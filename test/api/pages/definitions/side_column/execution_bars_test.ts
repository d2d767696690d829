/** The bar chart of executions. */
import { expect, test } from "bun:test";
import { drawBars } from "../../../../../api/pages/definitions/side_column.ts";

const LABEL = `"runs"`;

test("the highest bar has the full height, and a single execution is visible next to a million executions", () => {
  const counts = [0, 1, 1_000_000].map((count, day) => ({
    time: `2026-11-0${day + 1}T00:00:00.000Z`,
    count,
  }));
  const svg = drawBars(counts, LABEL).text;
  const heights = [...svg.matchAll(/ height="([\d.]+)"/g)].map(([, height]) => Number(height));
  expect(heights).toEqual([1, 2, 48]);
  expect(svg).toContain("<title>2026-11-02: 1</title>");
  expect(svg).toContain(`aria-label="&quot;runs&quot;"`);
});

test("no bar is drawn without buckets, and a bucket without executions has a bar with the class zero", () => {
  expect(drawBars([], LABEL).text).not.toContain("<rect");
  const zero = drawBars([{ time: "2026-11-01T00:00:00.000Z", count: 0 }], LABEL).text;
  expect(zero).toContain(`class="zero"`);
});
