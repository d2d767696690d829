/** /orgs/{slug}/webhooks: the webhooks of an organization, for its owners and admins. */
import { EVENT_TYPES, type EventType } from "../../../shared/vocabulary.ts";
import * as webhookOperations from "../../webhooks/webhooks.ts";
import { orgPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { choiceGroup, explainUsed, idempotencyKeyOf, inputField, onceField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageResult, SignedInPage } from "../page.ts";
import { badge, emptyState, recordTable, renderDay, renderInstant } from "../parts.ts";
import { COPY_SCRIPT, renderSecret } from "../secret_shown_once.ts";
import { orgPage } from "./org_page.ts";

type Webhook = ResponseOf<typeof webhookOperations.listWebhooks>["data"]["webhooks"][number];
type Created = ResponseOf<typeof webhookOperations.createWebhook>["data"];

/** Creates a webhook and shows its secret. If the form is sent twice, the second response says that the webhook was created. */
export async function createWebhook(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const input = {
    params: { slug },
    body: readWebhookForm(page.form),
    idempotencyKey: idempotencyKeyOf(page.form),
  };
  const { data } = await explainUsed(page.call(webhookOperations.createWebhook, input), SENT_TWICE);
  return showWebhooks(page, { slug }, data);
}

const SENT_TWICE =
  "This form was sent before, and its webhook was created. Its secret cannot be shown again. If you have not copied it, delete the webhook and create another.";

/** Renders the webhooks and the form. After a webhook has been created, shows it above the list instead of the form. */
export async function showWebhooks(
  page: SignedInPage,
  { slug }: { slug: string },
  created: Created | null = null,
): Promise<PageResult> {
  const { data } = await page.call(webhookOperations.listWebhooks, { params: { slug } });
  return orgPage(page, {
    slug,
    tab: "webhooks",
    ...(created && { head: COPY_SCRIPT, status: 201 }),
    notices: { deleted: "Webhook deleted." },
    body: html`${created && renderCreated(created, slug)}
<section class="stack" aria-labelledby="webhooks-title">
  <h2 id="webhooks-title">Webhooks</h2>
  <p class="quiet">Deliver events of the organization, and of models, to your own address, signed as Standard Webhooks.</p>
  ${renderWebhooks(data.webhooks, slug)}
</section>
${
  !created &&
  html`<section class="card form-card" aria-labelledby="new-webhook-title">
  <h2 id="new-webhook-title">New webhook</h2>
  ${webhookForm(page, { url: "", types: [] }, "Create webhook")}
</section>`
}`,
  });
}

function renderCreated({ id, url, secret }: Created, slug: string): Html {
  return html`<section class="card stack" aria-labelledby="created-title">
  <h2 id="created-title">Webhook created</h2>
  <p>Events are delivered to ${url} from now on. Verify them with this secret.</p>
  ${renderSecret({ label: "Secret", secret })}
  <p><a href="${orgPath(slug, "webhooks", id)}">Show the webhook</a></p>
</section>`;
}

function renderWebhooks(webhooks: readonly Webhook[], slug: string): Html {
  if (webhooks.length === 0) return emptyState("No webhooks yet.");
  const rows = webhooks.map((webhook): Content[] => [
    html`<a href="${orgPath(slug, "webhooks", webhook.id)}">${webhook.url}</a>`,
    renderState(webhook),
    webhook.types.join(", "),
    renderDay(webhook.createdAt),
  ]);
  return recordTable("Webhooks", ["Address", "State", "Events", "Created"], rows);
}

const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  "export.ready": "The file of an organization export can be downloaded.",
  "export.failed": "An organization export failed or was canceled.",
  "definition.published": "A version of a definition was published.",
  "definition.deprecated": "A version of a definition was deprecated.",
  "definition.archived": "A version of a definition was archived.",
  "model.added": "The catalog lists a new model, or lists one again.",
  "model.gone": "The catalog no longer lists a model.",
  "model.price_changed": "A price of a model changed.",
};

export interface WebhookForm {
  url: string;
  types: readonly string[];
}

export function readWebhookForm(value: URLSearchParams): WebhookForm {
  return { url: value.get("url")?.trim() ?? "", types: value.getAll("types") };
}

/** Renders the form with the user's input or the current values. `action` is the label of the button. */
export function webhookForm(page: SignedInPage, current: WebhookForm, action: string): Html {
  const { session, problems } = page;
  const form = page.form.has("url") ? readWebhookForm(page.form) : current;
  const problem = problems?.fields.has("types") ? "Choose at least one event." : undefined;
  const types = EVENT_TYPES.map(
    (type) => [type, html`${type} <small>${EVENT_MEANINGS[type]}</small>`] as const,
  );
  return html`<form method="post">${tokenField(session)}${onceField()}<input type="hidden" name="action" value="save">
  ${inputField({ name: "url", label: "Address", hint: "A public https address.", problems }, html`type="url" maxlength="2048" required autocomplete="off" value="${form.url}"`)}
  ${choiceGroup("checkbox", { name: "types", label: "Events", problem }, types, form.types)}
  <div class="actions"><button type="submit" class="primary">${action}</button></div>
</form>`;
}

export function renderState({ disabledAt }: { disabledAt: string | null }): Html {
  if (disabledAt === null) return badge("Enabled", "good");
  return html`${badge("Paused")} <small>since ${renderInstant(disabledAt)}</small>`;
}
