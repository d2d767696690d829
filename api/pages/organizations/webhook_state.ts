/** Whether a webhook delivers. */
import { type Html, html } from "../html.ts";
import { renderInstant } from "../instant.ts";

export function renderState({ disabledAt }: { disabledAt: string | null }): Html {
  if (disabledAt === null) return html`<span class="badge good">Enabled</span>`;
  return html`<span class="badge">Paused</span> <small>since ${renderInstant(disabledAt)}</small>`;
}
