/** Renders numbers as an SVG bar plot with axes, and as a table. */
import { type Html, html } from "./html.ts";
import { dataTable, formatCount, numberHeading } from "./parts.ts";

interface BarPlot {
  /** The caption, which says what the bars count. */
  title: string;
  /** The column headings of the table. */
  columns: { label: string; value: string };
  /** The bars from left to right. */
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  /** A value of zero or more. */
  value: number;
}

/** The size of the SVG's view box, which is stretched to the available space. */
const WIDTH = 1000;
const HEIGHT = 200;
/** The width of a bar as a fraction of the distance between bars. */
const FILL = 0.8;
/** The minimum height of a bar, so that even the smallest value is visible. */
const MIN_HEIGHT = 2;
/** A round number is one of these factors times a power of ten. */
const ROUND = [1, 2, 5, 10] as const;

/**
 * Renders the plot. Its labels are HTML outside the SVG, so they keep their size on a phone. The table lists every value for
 * people who cannot see the bars.
 */
export function renderBarPlot(plot: BarPlot): Html {
  const { title, bars } = plot;
  const max = roundUp(Math.max(1, ...bars.map(({ value }) => value)));
  const middle = max % 2 === 0 ? max / 2 : null;
  return html`<figure class="stack">
  <figcaption>${title}</figcaption>
  <div class="plot-area" aria-hidden="true">
    <div class="plot-values"><span>${formatCount(max)}</span>${middle !== null && html`<span>${formatCount(middle)}</span>`}<span>0</span></div>
    <svg class="plot-bars" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" focusable="false">
      ${(middle === null ? [0, max] : [0, middle, max]).map((value) => renderLine(HEIGHT * (1 - value / max)))}
      ${bars.map((bar, index) => renderBar(bar, { index, count: bars.length, max }))}
    </svg>
    <div class="plot-labels">${labelled(bars).map((label) => html`<span>${label}</span>`)}</div>
  </div>
  <details><summary>Show the numbers</summary>${barTable(plot)}</details>
</figure>`;
}

function renderLine(y: number): Html {
  return html`<line x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/>`;
}

function renderBar(
  { label, value }: Bar,
  { index, count, max }: { index: number; count: number; max: number },
): Html {
  const step = WIDTH / count;
  const height = value === 0 ? 0 : Math.max(MIN_HEIGHT, (value / max) * HEIGHT);
  const x = ((index + (1 - FILL) / 2) * step).toFixed(1);
  const y = (HEIGHT - height).toFixed(1);
  return html`<rect x="${x}" y="${y}" width="${(step * FILL).toFixed(1)}" height="${height.toFixed(1)}"><title>${label}: ${formatCount(value)}</title></rect>
`;
}

/** Returns the labels of the first, middle and last bars. A phone has no room for more labels. */
function labelled(bars: readonly Bar[]): string[] {
  const last = bars.length - 1;
  const places = new Set([0, Math.floor(last / 2), last].filter((place) => place >= 0));
  return [...places].flatMap((place) => bars[place]?.label ?? []);
}

/** Renders bars as a table, without the plot. */
export function barTable({ title, columns, bars }: BarPlot): Html {
  const rows = bars.map(
    (bar) => html`<tr><th scope="row">${bar.label}</th><td class="number">${formatCount(bar.value)}</td></tr>
`,
  );
  return dataTable(title, [columns.label, numberHeading(columns.value)], rows);
}

/** Rounds a value up to the next round number: 1, 2, 5, 10, 20 and so on. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = ROUND.find((candidate) => candidate * power >= value) ?? 10;
  return factor * power;
}
