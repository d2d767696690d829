/** A bar plot with axes, drawn as SVG, and the same numbers as a table. */
import { type Html, html } from "./html.ts";
import { dataTable, formatCount, numberHeading } from "./parts.ts";

interface BarPlot {
  /** What the bars count. Also the name of the picture. */
  title: string;
  /** Headings of the table. */
  columns: { label: string; value: string };
  /** From left to right. */
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  /** Zero or more. */
  value: number;
}

/** In units of the drawing, which is stretched to its place. */
const WIDTH = 1000;
const HEIGHT = 200;
/** The part of a bar's place that it fills. */
const FILL = 0.8;
/** Keeps even the smallest value visible. */
const MIN_HEIGHT = 2;
/** The factors of round numbers: 1, 2, 5, 10, 20, 50. */
const ROUND = [1, 2, 5, 10] as const;

/**
 * Renders the plot. Text is HTML beside the drawing, so it keeps its size on a phone. The table below has every value for
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

/** The labels of the first, the middle and the last bar: there is room for them on a phone. */
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

/** Returns the next round number: 1, 2, 5, 10, 20 and so on. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = ROUND.find((candidate) => candidate * power >= value) ?? 10;
  return factor * power;
}
