/** What was sent to a webhook, and with which outcome. */
import type { DeliveryList } from "../../webhooks/webhook_schemas.ts";
import { type Html, html } from "../html.ts";
import { renderInstant } from "../instant.ts";

type Delivery = (typeof DeliveryList.static)["data"]["deliveries"][number];

const BADGES = { delivered: "good", pending: "busy", failed: "bad" } as const;

/** Renders the table of deliveries, newest first. The service repeats failed ones itself. */
export function renderDeliveries(deliveries: readonly Delivery[]): Html {
  if (deliveries.length === 0) return html`<p class="empty">No deliveries yet.</p>`;
  const rows = deliveries.map(
    (delivery) => html`<tr>
  <td>${renderInstant(delivery.createdAt)}</td>
  <th scope="row">${delivery.type} <small><code>${delivery.id}</code></small></th>
  <td><span class="badge ${BADGES[delivery.status]}">${delivery.status}</span></td>
  <td class="number">${delivery.attempts}</td>
  <td>${renderOutcome(delivery)}</td>
</tr>
`,
  );
  return html`<p class="quiet">The last 100. A failed delivery is repeated with growing pauses, for up to three days.</p>
<div class="table-box" tabindex="0" role="group" aria-label="Deliveries"><table class="data-table">
<thead><tr><th scope="col">Created</th><th scope="col">Event</th><th scope="col">Status</th><th scope="col" class="number">Attempts</th><th scope="col">Last attempt</th></tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}

function renderOutcome({ lastAttemptAt, responseStatus, error, nextAttemptAt }: Delivery): Html {
  return html`${lastAttemptAt !== null && renderInstant(lastAttemptAt)}${
    responseStatus !== null && html` · status ${responseStatus}`
  }${error !== null && html`<br>${error}`}${nextAttemptAt !== null && html`<br><small>next attempt ${renderInstant(nextAttemptAt)}</small>`}`;
}
