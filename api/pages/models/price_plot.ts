/**
 * Draws prices over time as SVG: a step plot with axes, and a sparkline for a table cell. A page with a step plot also has a
 * table with the numbers.
 */
import { type Html, html } from "../html.ts";
import { countOf, formatDay, formatPrice } from "../parts.ts";
import { type Period, type PriceStep, priceRange } from "./price_steps.ts";

export interface PriceSeries {
  label: string;
  steps: readonly PriceStep[];
}

interface PricePlot {
  /** The prefix for the ids of the plot's elements. Must be unique on the page. */
  id: string;
  title: string;
  series: readonly PriceSeries[];
  period: Period;
}

/** The number of line styles in the stylesheet. Further series repeat the styles. */
const STYLES = 4;
/** The size of the SVG's view box, which fills the available width. */
const WIDTH = 360;
const HEIGHT = 180;
const AREA = { right: WIDTH - 8, top: 12, bottom: HEIGHT - 28 };
/** The space for the price labels: the minimum, and the width of one digit. */
const MIN_LEFT = 56;
const DIGIT_WIDTH = 7.5;
const DOT = 3;

interface Scale {
  /** The x coordinate at which the lines start. */
  left: number;
  x(at: number): number;
  y(price: number): number;
  end: number;
  prices: readonly number[];
}

/** Plots prices over time, on a scale from zero. Each series has its own color and dash. Several series get a legend. */
export function pricePlot({ id, title, series, period }: PricePlot): Html {
  const scale = makeScale(series, period);
  return html`<figure class="price-plot">
<figcaption>${title}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}, in US dollars per million tokens</title>
<desc id="${id}-desc">${series.map(describeSeries).join(" ")}</desc>
${priceAxis(scale)}${timeAxis(scale, period)}
${series.map(({ steps }, index) => drawSeries(steps, scale, index))}
</svg>
${series.length > 1 && legend(series)}
</figure>`;
}

function makeScale(series: readonly PriceSeries[], { from, until }: Period): Scale {
  const prices = priceTicks(Math.max(0, ...series.map(({ steps }) => priceRange(steps).max)));
  const top = prices.at(-1) ?? 1;
  const longest = Math.max(...prices.map((price) => formatPrice(price).length));
  const left = Math.max(MIN_LEFT, round(8 + longest * DIGIT_WIDTH));
  return {
    left,
    x: (at) => left + ((at - from) / (until - from)) * (AREA.right - left),
    y: (price) => AREA.bottom - (price / top) * (AREA.bottom - AREA.top),
    end: until,
    prices,
  };
}

function dayOf(at: number): string {
  return formatDay(new Date(at).toISOString());
}

function priceAxis({ left, y, prices }: Scale): Html[] {
  return prices.map((price) => {
    const at = round(y(price));
    return html`<line class="grid" x1="${left}" x2="${AREA.right}" y1="${at}" y2="${at}"/><text class="tick" x="${left - 8}" y="${at + 4}" text-anchor="end">${formatPrice(price)}</text>`;
  });
}

/** Draws the days at the start, middle and end of the period. */
function timeAxis({ x }: Scale, { from, until }: Period): Html[] {
  const anchors = ["start", "middle", "end"];
  return [from, (from + until) / 2, until].map(
    (at, index) =>
      html`<text class="tick" x="${round(x(at))}" y="${HEIGHT - 8}" text-anchor="${anchors[index]}">${dayOf(at)}</text>`,
  );
}

/** Draws the line, with a dot and a tooltip for each change. A price that has just become known has a dot instead of a line. */
function drawSeries(steps: readonly PriceStep[], scale: Scale, index: number): Html {
  const { x, y, end } = scale;
  const [first] = steps;
  const isPoint = first !== undefined && first.price !== null && round(x(first.at)) === round(x(end));
  const dots = steps.map(({ at, price }, i) => {
    const before = steps[i - 1]?.price ?? null;
    return html`<circle cx="${round(x(at))}" cy="${round(y(price ?? before ?? 0))}" r="${DOT}"><title>${dayOf(at)}: ${formatPrice(before)} → ${formatPrice(price)}</title></circle>`;
  });
  return html`<g class="series series-${(index % STYLES) + 1}"><path d="${stepPath(steps, scale)}"/>${dots.slice(isPoint ? 0 : 1)}</g>`;
}

function legend(series: readonly PriceSeries[]): Html {
  return html`<ul class="legend">${series.map(
    ({ label }, index) =>
      html`<li><svg class="series series-${(index % STYLES) + 1}" viewBox="0 0 24 8" width="24" height="8" aria-hidden="true"><path d="M0 4H24"/></svg> ${label}</li>`,
  )}</ul>`;
}

function describeSeries({ label, steps }: PriceSeries): string {
  const changes = steps.length - 1;
  const current = formatPrice(steps.at(-1)?.price);
  if (changes === 0) return `${label}: unchanged at ${current}.`;
  return `${label}: ${formatPrice(steps[0]?.price)} at first, ${countOf(changes, "change")}, now ${current}.`;
}

/** Returns three to six round values, from 0 to the first value that reaches `max`; 0 and 1 if `max` is 0. */
export function priceTicks(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 2.5, 5].find((factor) => factor * unit >= rough) ?? 10);
  const count = Math.ceil(max / step - 1e-9);
  // Adding up the steps would accumulate rounding errors.
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** The size of a sparkline. The margin keeps the line from being cut off at the edges. */
const SPARK = { width: 64, height: 20, margin: 2 } as const;

/** Draws the steps of a price between its lowest and highest value; null if there was no price. */
export function sparkline(steps: readonly PriceStep[], { from, until }: Period): Html | null {
  const { min, max } = priceRange(steps);
  const x = (at: number) => ((at - from) / (until - from)) * SPARK.width;
  const y = (price: number) =>
    max === min
      ? SPARK.height / 2
      : SPARK.height - SPARK.margin - ((price - min) / (max - min)) * (SPARK.height - 2 * SPARK.margin);
  const path = stepPath(steps, { x, y, end: until });
  if (path === "") return null;
  return html`<svg class="sparkline" viewBox="0 0 ${SPARK.width} ${SPARK.height}" width="${SPARK.width}" height="${SPARK.height}" role="img" aria-label="${describeCourse(steps)}"><path d="${path}"/></svg>`;
}

function describeCourse(steps: readonly PriceStep[]): string {
  const changes = steps.length - 1;
  const last = steps.at(-1)?.price ?? null;
  if (changes === 0) return `unchanged at ${formatPrice(last)}`;
  const first = steps[0]?.price ?? null;
  return `from ${formatPrice(first)} to ${formatPrice(last)} in ${countOf(changes, "change")}`;
}

/**
 * Returns the path data of a step line that ends at `end`. `x` and `y` map a time and a price to coordinates. The line has a
 * gap while there is no price.
 */
export function stepPath(
  steps: readonly PriceStep[],
  { x, y, end }: { x: (at: number) => number; y: (price: number) => number; end: number },
): string {
  let path = "";
  let isDrawing = false;
  for (const [index, { at, price }] of steps.entries()) {
    if (price !== null) {
      path += isDrawing ? `V${round(y(price))}` : `M${round(x(at))} ${round(y(price))}`;
      path += `H${round(x(steps[index + 1]?.at ?? end))}`;
    }
    isDrawing = price !== null;
  }
  return path;
}

/** Rounds to a tenth of a unit, which is less than a pixel. */
function round(coordinate: number): number {
  return Math.round(coordinate * 10) / 10;
}
