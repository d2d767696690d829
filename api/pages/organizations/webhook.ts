/** /orgs/{slug}/webhooks/{id}: one webhook and its deliveries, for owners and admins. */
import { listWebhookDeliveries, testWebhook } from "../../webhooks/deliveries.ts";
import {
  deleteWebhook as deleteOperation,
  getWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "../../webhooks/webhooks.ts";
import { orgPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { confirmPage } from "../confirm.ts";
import { explainUsed, idempotencyKeyOf, onceField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { badge, emptyState, recordTable, renderInstant } from "../parts.ts";
import { COPY_SCRIPT, renderSecret } from "../secret_shown_once.ts";
import { orgPage } from "./org_page.ts";
import { readWebhookForm, renderState, webhookForm } from "./webhooks.ts";

const NOTICES = {
  save: "Webhook saved.",
  pause: "Webhook paused. Events are not delivered until you enable it.",
  enable: "Webhook enabled. Events are delivered from now on.",
  test: "Test event queued. Reload the page for its outcome.",
};
type Action = keyof typeof NOTICES | "rotate";

type Webhook = ResponseOf<typeof getWebhook>["data"];
type Rotated = ResponseOf<typeof rotateWebhookSecret>["data"];

/** The organization and webhook that an address names. */
interface WebhookAddress {
  slug: string;
  id: string;
}

/** Performs the action in the hidden field `action`. */
export async function changeWebhook(page: SignedInPage, address: WebhookAddress): Promise<PageResult> {
  const { form, call } = page;
  const action = toAction(form.get("action"));
  if (action === "rotate") return rotateSecret(page, address);
  if (action === "test") await call(testWebhook, { params: address, idempotencyKey: idempotencyKeyOf(form) });
  else {
    const body = action === "save" ? readWebhookForm(form) : { enabled: action === "enable" };
    await call(updateWebhook, { params: address, body });
  }
  return seeOtherWith(webhookPath(address), action);
}

/** Replaces the secret and shows the new one. If the form is sent twice, the second response says that the secret was replaced. */
async function rotateSecret(page: SignedInPage, address: WebhookAddress): Promise<PageResult> {
  const input = { params: address, idempotencyKey: idempotencyKeyOf(page.form) };
  const { data } = await explainUsed(page.call(rotateWebhookSecret, input), SENT_TWICE);
  return showWebhook(page, address, data);
}

const SENT_TWICE =
  "This form was already sent, and the secret was replaced. The new secret cannot be shown again. If you did not copy it, replace it again: older secrets sign for 24 hours.";

export async function confirmDelete(page: SignedInPage, address: WebhookAddress): Promise<PageResult> {
  const webhook = await loadWebhook(page, address);
  return confirmPage(page, {
    section: "organization",
    title: "Delete this webhook?",
    text: html`<p><b>${webhook.url}</b></p>
  <p>Pending deliveries are not sent, and the list of deliveries is deleted. This cannot be undone.</p>`,
    action: "Delete webhook",
    cancel: webhookPath(address),
  });
}

export async function deleteWebhook({ call }: SignedInPage, address: WebhookAddress): Promise<PageResult> {
  await call(deleteOperation, { params: address });
  return seeOtherWith(orgPath(address.slug, "webhooks"), "deleted");
}

function toAction(value: string | null): Action {
  return value !== null && (value === "rotate" || Object.hasOwn(NOTICES, value)) ? (value as Action) : "save";
}

function webhookPath({ slug, id }: WebhookAddress): string {
  return orgPath(slug, "webhooks", id);
}

async function loadWebhook({ call }: SignedInPage, address: WebhookAddress): Promise<Webhook> {
  return (await call(getWebhook, { params: address })).data;
}

/** Shows a webhook. `rotated` contains the new secret, if the secret has just been replaced. */
export async function showWebhook(
  page: SignedInPage,
  address: WebhookAddress,
  rotated: Rotated | null = null,
): Promise<PageResult> {
  const webhook = await loadWebhook(page, address);
  const { data } = await page.call(listWebhookDeliveries, { params: address });
  const { slug } = address;
  return orgPage(page, {
    slug,
    tab: "webhooks",
    subject: new URL(webhook.url).host,
    notices: NOTICES,
    head: rotated && COPY_SCRIPT,
    body: html`<p class="crumbs"><a href="${orgPath(slug, "webhooks")}">Webhooks</a></p>
<section class="stack" aria-labelledby="webhook-title">
  <h2 id="webhook-title">${webhook.url}</h2>
  <p>${renderState(webhook)} <span class="quiet">Created ${renderInstant(webhook.createdAt)}</span></p>
  <div class="actions">${renderActions(page, webhook)} <a class="button danger" href="${webhookPath(address)}/delete">Delete</a></div>
</section>
${rotated && renderRotated(rotated)}
<section class="stack" aria-labelledby="deliveries-title">
  <h2 id="deliveries-title">Deliveries</h2>
  ${renderDeliveries(data.deliveries)}
</section>
<section class="card form-card" aria-labelledby="edit-title">
  <h2 id="edit-title">Change</h2>
  ${webhookForm(page, webhook, "Save webhook")}
</section>`,
  });
}

function renderRotated({ secret, previousSecretExpiresAt }: Rotated): Html {
  return html`<section class="card stack" aria-labelledby="rotated-title">
  <h2 id="rotated-title">Secret replaced</h2>
  <p>Give this secret to the receiver. Until ${renderInstant(previousSecretExpiresAt)}, deliveries are signed with the old one too.</p>
  ${renderSecret({ label: "Secret", secret })}
</section>`;
}

/** Renders the webhook's actions. A paused webhook cannot receive a test event. */
function renderActions({ session }: SignedInPage, { enabled }: Webhook): Html {
  const button = (action: Action, label: string) =>
    html`<form method="post">${tokenField(session)}${onceField()}<button type="submit" name="action" value="${action}">${label}</button></form>`;
  const rotate = button("rotate", "Replace secret");
  return enabled
    ? html`${button("test", "Send a test event")} ${button("pause", "Pause")} ${rotate}`
    : html`${button("enable", "Enable")} ${rotate}`;
}

type Delivery = ResponseOf<typeof listWebhookDeliveries>["data"]["deliveries"][number];

const LOOKS = { delivered: "good", pending: "busy", failed: "bad" } as const;

/** Renders the table of deliveries, with unattempted ones last. The service retries failed deliveries itself. */
function renderDeliveries(deliveries: readonly Delivery[]): Html {
  if (deliveries.length === 0) return emptyState("No deliveries yet.");
  const isWaiting = ({ attempts }: Delivery) => Number(attempts === 0);
  const rows = deliveries
    .toSorted((a, b) => isWaiting(a) - isWaiting(b))
    .map((delivery): Content[] => [
      html`${delivery.type} <small><code>${delivery.id}</code></small>`,
      renderInstant(delivery.createdAt),
      badge(delivery.status, LOOKS[delivery.status]),
      delivery.attempts,
      renderOutcome(delivery),
    ]);
  const columns = ["Event", "Created", "Status", "Attempts", "Last attempt"];
  return html`<p class="quiet">The last 100; those that wait for their first attempt are at the end. A failed delivery is repeated with growing pauses, for up to three days.</p>
${recordTable("Deliveries", columns, rows)}`;
}

function renderOutcome({ lastAttemptAt, responseStatus, error, nextAttemptAt }: Delivery): Html {
  return html`${lastAttemptAt !== null && renderInstant(lastAttemptAt)}${
    responseStatus !== null && html` · status ${responseStatus}`
  }${error !== null && html`<div>${error}</div>`}${nextAttemptAt !== null && html`<div><small>next attempt ${renderInstant(nextAttemptAt)}</small></div>`}`;
}
