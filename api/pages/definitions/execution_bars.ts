/** Counts over time as bars, drawn as SVG. */
import { type Html, html } from "../html.ts";

export interface BarsOptions {
  /** In units of the drawing; it is scaled to the width of its place. */
  width: number;
  height: number;
  /** What the bars count, for those who do not see them. */
  label: string;
}

export interface TimeCount {
  /** Start of the bucket, ISO 8601. */
  time: string;
  count: number;
}

/** Draws a bar per bucket. The highest fills the height, and a bucket with any count is visible. */
export function drawBars(counts: readonly TimeCount[], { width, height, label }: BarsOptions): Html {
  const max = Math.max(1, ...counts.map(({ count }) => count));
  const step = width / Math.max(1, counts.length);
  const bars = counts.map(({ time, count }, index) => {
    const barHeight = count === 0 ? 1 : Math.max(2, (count / max) * height);
    const x = (index * step).toFixed(2);
    const y = (height - barHeight).toFixed(2);
    return html`<rect x="${x}" y="${y}" width="${(step * 0.8).toFixed(2)}" height="${barHeight.toFixed(2)}"${
      count === 0 && html` class="zero"`
    }><title>${formatDay(time)}: ${count}</title></rect>`;
  });
  return html`<svg class="bars" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>`;
}

/** The day of an instant, in UTC, as buckets are. */
function formatDay(instant: string): string {
  return instant.slice(0, 10);
}
