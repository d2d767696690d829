/** A step plot of prices, drawn as SVG. The page that shows it has a table with the same numbers. */
import { type Html, html } from "../html.ts";
import { priceTicks, timeTicks } from "./axis_ticks.ts";
import { formatDay, formatPrice } from "./format.ts";
import { type Period, type PriceStep, priceRange, round, stepPath } from "./price_steps.ts";

export interface PriceSeries {
  label: string;
  steps: readonly PriceStep[];
}

export interface PricePlot {
  /** Unique on the page. */
  id: string;
  title: string;
  series: readonly PriceSeries[];
  period: Period;
}

/** Colors and dashes of the stylesheet; further series repeat them. */
const STYLES = 4;
/** In units of the picture, which is as wide as its place. */
const WIDTH = 360;
const HEIGHT = 180;
const AREA = { right: WIDTH - 8, top: 12, bottom: HEIGHT - 28 };
/** Space for the labels of prices: of a usual one, and of one digit. */
const MIN_LEFT = 56;
const DIGIT_WIDTH = 7.5;
const DOT = 3;

interface Scale {
  /** Begin of the lines. */
  left: number;
  x(at: number): number;
  y(price: number): number;
  end: number;
  prices: readonly number[];
}

/** Draws prices from zero up over the time, each series in its own color and dash, with a legend if there are several. */
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

function priceAxis({ left, y, prices }: Scale): Html[] {
  return prices.map((price) => {
    const at = round(y(price));
    return html`<line class="grid" x1="${left}" x2="${AREA.right}" y1="${at}" y2="${at}"/><text class="tick" x="${left - 8}" y="${at + 4}" text-anchor="end">${formatPrice(price)}</text>`;
  });
}

function timeAxis({ x }: Scale, period: Period): Html[] {
  const anchors = ["start", "middle", "end"];
  return timeTicks(period, anchors.length).map(
    (at, index) =>
      html`<text class="tick" x="${round(x(at))}" y="${HEIGHT - 8}" text-anchor="${anchors[index]}">${formatDay(at)}</text>`,
  );
}

/** The line, and a dot with a tooltip at every change. */
function drawSeries(steps: readonly PriceStep[], scale: Scale, index: number): Html {
  const { x, y } = scale;
  const dots = steps.slice(1).map(({ at, price }, i) => {
    const before = steps[i]?.price ?? null;
    return html`<circle cx="${round(x(at))}" cy="${round(y(price ?? before ?? 0))}" r="${DOT}"><title>${formatDay(at)}: ${formatPrice(before)} → ${formatPrice(price)}</title></circle>`;
  });
  return html`<g class="series series-${(index % STYLES) + 1}"><path d="${stepPath(steps, scale)}"/>${dots}</g>`;
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
  return `${label}: ${formatPrice(steps[0]?.price)} at first, ${changes} ${changes === 1 ? "change" : "changes"}, now ${current}.`;
}
