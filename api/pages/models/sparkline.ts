/** A small picture of a price's course, for a cell of a table. */
import { type Html, html } from "../html.ts";
import { formatPrice } from "./format.ts";
import { type Period, type PriceStep, priceRange, stepPath } from "./price_steps.ts";

const WIDTH = 64;
const HEIGHT = 20;
/** Half of the line would be cut off at the edges. */
const MARGIN = 2;

/** Draws the steps of a price between its lowest and highest value; nothing if there was no price. */
export function sparkline(steps: readonly PriceStep[], { from, until }: Period): Html | null {
  const { min, max } = priceRange(steps);
  const x = (at: number) => ((at - from) / (until - from)) * WIDTH;
  const y = (price: number) =>
    max === min ? HEIGHT / 2 : HEIGHT - MARGIN - ((price - min) / (max - min)) * (HEIGHT - 2 * MARGIN);
  const path = stepPath(steps, { x, y, end: until });
  if (path === "") return null;
  return html`<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${describe(steps)}"><path d="${path}"/></svg>`;
}

function describe(steps: readonly PriceStep[]): string {
  const changes = steps.length - 1;
  const last = steps.at(-1)?.price ?? null;
  if (changes === 0) return `unchanged at ${formatPrice(last)}`;
  const first = steps[0]?.price ?? null;
  return `from ${formatPrice(first)} to ${formatPrice(last)} in ${changes} ${changes === 1 ? "change" : "changes"}`;
}
