/** …/usage: executions over time, by source and by version. */
import { getExecutionStatistics } from "../../definitions/executions.ts";
import { definitionPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { type Bar, barTable, renderBarPlot } from "../bar_plot.ts";
import { type Html, html } from "../html.ts";
import type { Page, PageResult } from "../page.ts";
import { countOf, emptyState, formatCount, formatInstant } from "../parts.ts";
import { frameTab, loadDefinition } from "./definition_frame.ts";
import { apiParams, type PageAddress } from "./page_address.ts";

type Executions = ResponseOf<typeof getExecutionStatistics>["data"];

interface Window {
  label: string;
  minutes: number;
  bucket: "hour" | "day";
}

/** Time windows by the value of the `window` parameter. */
const WINDOWS: Readonly<Record<string, Window>> = {
  "30d": { label: "Last 30 days", minutes: 43_200, bucket: "day" },
  "7d": { label: "Last 7 days", minutes: 10_080, bucket: "day" },
  "24h": { label: "Last 24 hours", minutes: 1_440, bucket: "hour" },
};
const DEFAULT_WINDOW = "30d";

/** Shows the executions of all versions in the chosen window. */
export async function showUsage(page: Page, address: PageAddress): Promise<PageResult> {
  const given = page.url.searchParams.get("window") ?? "";
  const chosen = Object.hasOwn(WINDOWS, given) ? given : DEFAULT_WINDOW;
  const window = WINDOWS[chosen] as Window;
  const [definition, { data }] = await Promise.all([
    loadDefinition(page, address),
    page.call(getExecutionStatistics, {
      params: apiParams(address),
      query: { window: window.minutes, include: "byTime,bySource,byVersion", timeBucket: window.bucket },
    }),
  ]);
  const windows = Object.entries(WINDOWS).map(
    ([name, { label }]) =>
      html`<a class="button" href="${definitionPath(address, "usage")}?window=${name}"${name === chosen && html` aria-current="true"`}>${label}</a>`,
  );
  return frameTab(definition, {
    tab: "usage",
    body: html`<nav class="actions" aria-label="Window">${windows}</nav>
<p class="quiet">Platform administrators record executions through the API.</p>
${renderCounts(data, window)}`,
  });
}

function renderCounts(
  { totalCount, recentCount, byTime = [], bySource = [], byVersion = [] }: Executions,
  window: Window,
): Html {
  const heading = html`<h2 id="over-time">${countOf(recentCount, "execution")} <small>${formatCount(totalCount)} since the first version</small></h2>`;
  if (recentCount === 0) {
    return html`${heading}
${emptyState(`No executions in the ${window.label.toLowerCase()}.`)}`;
  }
  const plot = {
    title: `Executions by ${window.bucket} (UTC)`,
    columns: { label: window.bucket === "day" ? "Day" : "Hour", value: "Executions" },
    bars: byTime.map(({ time, count }) => ({ label: formatTime(time), value: count })),
  };
  const sources = bySource.map(({ source, count }) => ({ label: source, value: count }));
  const versions = byVersion.map(({ version, count }) => ({ label: version, value: count }));
  return html`<section class="card stack" aria-labelledby="over-time">
${heading}
${renderBarPlot(plot)}
</section>
<div class="pair">
${renderTable("Sources", sources)}
${renderTable("Versions", versions)}
</div>`;
}

/** Formats the start of a bucket in UTC, the API's time zone. */
function formatTime(instant: string): string {
  return instant.endsWith("T00:00:00.000Z") ? instant.slice(0, 10) : formatInstant(instant);
}

/** The maximum number of rows. Sources are free text, so there may be many. */
const MAX_ROWS = 100;

function renderTable(title: string, counts: readonly Bar[]): Html {
  const columns = { label: title, value: "Executions" };
  return html`<div>${barTable({ title, columns, bars: counts.slice(0, MAX_ROWS) })}
${counts.length > MAX_ROWS && html`<p class="quiet">and ${counts.length - MAX_ROWS} more</p>`}</div>`;
}
