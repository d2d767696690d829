/** Shared parts of pages: counts, prices, times, badges, empty states, tabs, pagers and tables. */
import { type Content, Html, html } from "./html.ts";

const COUNT = new Intl.NumberFormat("en-US");

/** Formats a count: `12,000`. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

const PRICE = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  // All digits are shown, so that a low price never appears to be free.
  maximumFractionDigits: 100,
});

/** Shown for an unknown value. */
export const UNKNOWN = "–";

/** Formats US dollars per million tokens: `$0.30`. */
export function formatPrice(usd: number | `${number}` | null | undefined): string {
  return usd === null || usd === undefined ? UNKNOWN : PRICE.format(usd);
}

/** Returns a text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns `Did you mean a, b?` with a link for each name; empty without names. */
export function didYouMean(names: readonly string[], addressOf: (name: string) => string): Content {
  const links = names.map(
    (name, index) => html`${index > 0 && ", "}<a href="${addressOf(name)}">${name}</a>`,
  );
  return links.length > 0 && html` Did you mean ${links}?`;
}

/** Returns a count with its noun: `1 row`, `12,000 rows`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats an ISO 8601 instant to the minute, in UTC. Without a script, a page does not know its reader's time zone. */
export function formatInstant(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;
}

export function renderInstant(instant: string): Html {
  return html`<time datetime="${instant}">${formatInstant(instant)}</time>`;
}

/** Returns the UTC day of an ISO 8601 instant: `2026-11-20`. */
export function formatDay(instant: string): string {
  return instant.slice(0, 10);
}

export function renderDay(instant: string): Html {
  return html`<time datetime="${instant}">${formatDay(instant)}</time>`;
}

/** Renders a short label. `look` is its class: `good`, `busy`, `bad`, or `kind` with the type of a definition. */
export function badge(text: Content, look = ""): Html {
  return html`<span class="badge${look !== "" && ` ${look}`}">${text}</span>`;
}

/** Renders a text in place of an empty list. */
export function emptyState(text: Content): Html {
  return html`<p class="empty">${text}</p>`;
}

/** A link to a part of the same subject: [address, label, whether it is the current page]. */
type Tab = readonly [href: string, label: Content, isCurrent: boolean];

export function tabBar(label: string, tabs: readonly Tab[]): Html {
  const links = tabs.map(
    ([href, text, isCurrent]) => html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a>
`,
  );
  return html`<nav class="tabs" aria-label="${label}">
${links}</nav>`;
}

interface PageOfList {
  offset: number;
  limit: number;
  total: number;
  /** The number of entries on this page. */
  shown: number;
}

/** Reads the offset of a list from the address; 0 if the offset is missing or invalid. */
export function readOffset({ searchParams }: URL, name = "offset"): number {
  const text = searchParams.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Renders links to the previous and the next page; null for a list of one page. `linkTo` gets null for the first page. */
export function pager(
  { offset, limit, total, shown }: PageOfList,
  linkTo: (offset: number | null) => string,
  label = "Pages",
): Content {
  const hasMore = shown > 0 && offset + shown < total;
  if (offset === 0 && !hasMore) return null;
  const range =
    shown === 0
      ? `${formatCount(total)} in all`
      : `${formatCount(offset + 1)}–${formatCount(offset + shown)} of ${formatCount(total)}`;
  return html`<nav class="pager" aria-label="${label}">
  <span class="quiet">${range}</span>
  <span class="actions">${offset > 0 && html`<a class="button" rel="prev" href="${linkTo(offset > limit ? offset - limit : null)}">Previous</a>`}
  ${hasMore && html`<a class="button" rel="next" href="${linkTo(offset + limit)}">Next</a>`}</span>
</nav>`;
}

/** Renders a table that scrolls inside its own box. A column is the text of its heading or a `th` element. */
export function dataTable(
  label: string,
  columns: readonly (string | Html)[],
  rows: readonly Html[],
  look = "",
): Html {
  const headings = columns.map((column) =>
    column instanceof Html ? column : html`<th scope="col">${column}</th>`,
  );
  return html`<div class="table-box" tabindex="0" role="group" aria-label="${label}"><table class="data-table${look !== "" && ` ${look}`}">
<thead><tr>${headings}</tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}

/**
 * Like `dataTable`, for rows that are wider than a phone. A phone shows a row's cells below each other, with their headings.
 * The first cell is the heading of its row. Numbers are aligned.
 */
export function recordTable(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly Content[])[],
): Html {
  const headings = columns.map((column, index) =>
    typeof rows[0]?.[index] === "number" ? numberHeading(column) : column,
  );
  const lines = rows.map(
    ([name, ...cells]) => html`<tr><th scope="row">${name}</th>
${cells.map((cell, index) => recordCell(cell, columns[index + 1]))}</tr>
`,
  );
  return dataTable(label, headings, lines, "records");
}

function recordCell(cell: Content, label: Content): Html {
  if (typeof cell !== "number") return html`<td data-label="${label}">${cell}</td>\n`;
  return html`<td class="number" data-label="${label}">${formatCount(cell)}</td>\n`;
}

/** Renders the heading of a column of numbers. */
export function numberHeading(label: string): Html {
  return html`<th scope="col" class="number">${label}</th>`;
}
