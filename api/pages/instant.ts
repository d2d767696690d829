/** Times on pages, in UTC: without a script, a page does not know its reader's time zone. */
import { type Html, html } from "./html.ts";

/** Renders an ISO 8601 instant in UTC, to the minute. */
export function renderInstant(instant: string): Html {
  const text = `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;
  return html`<time datetime="${instant}">${text}</time>`;
}

/** Renders the day of an ISO 8601 instant in UTC. */
export function renderDay(instant: string): Html {
  return html`<time datetime="${instant}">${instant.slice(0, 10)}</time>`;
}
