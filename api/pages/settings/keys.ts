/** /settings/keys: the API keys of a user. A new key is shown once, in the response to its form. */
import { KEY_SCOPES } from "../../../shared/vocabulary.ts";
import * as keyOperations from "../../accounts/keys.ts";
import { notFound } from "../../http/require_visible.ts";
import type { ResponseOf } from "../api_client.ts";
import { confirmPage } from "../confirm.ts";
import {
  choiceGroup,
  explainUsed,
  idempotencyKeyOf,
  inputField,
  onceField,
  selectField,
  tokenField,
} from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { badge, emptyState, recordTable, renderDay, renderInstant } from "../parts.ts";
import { COPY_SCRIPT, renderSecret } from "../secret_shown_once.ts";
import { settingsPage } from "./settings_page.ts";

const PATH = "/settings/keys";

/** The fields of the form, as the API names them. */
const FIELDS = ["name", "organization", "scope", "expiresAt"] as const;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const SCOPE_HINTS = {
  read: "Reads and exports.",
  write: "Also publishes definitions, starts exports and manages webhooks, as far as your role allows.",
};

type Key = ResponseOf<typeof keyOperations.listKeys>["data"]["keys"][number];
type Created = ResponseOf<typeof keyOperations.createKey>["data"];

export function showKeys(page: SignedInPage): Promise<PageResult> {
  return renderPage(page, null);
}

/** Creates a key and shows it. If the form is sent twice, the second response says that the key was created. */
export async function createKey(page: SignedInPage): Promise<PageResult> {
  const input = { body: readKeyForm(page.form), idempotencyKey: idempotencyKeyOf(page.form) };
  const { data } = await explainUsed(page.call(keyOperations.createKey, input), SENT_TWICE);
  return renderPage(page, data);
}

export async function confirmRevoke(page: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  const key = (await loadKeys(page)).find((candidate) => candidate.id === id);
  if (!key) throw notFound("key");
  return confirmPage(page, {
    section: "settings",
    title: "Revoke this API key?",
    text: html`<p><b>${nameOf(key)}</b> <code>${key.prefix}…</code></p>
  <p>Programs that use the key stop working within a second. This cannot be undone.</p>`,
    action: "Revoke key",
    cancel: PATH,
  });
}

export async function revokeKey({ call }: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  await call(keyOperations.revokeKey, { params: { id } });
  return seeOtherWith(PATH, "revoked");
}

async function loadKeys({ call }: SignedInPage): Promise<readonly Key[]> {
  return (await call(keyOperations.listKeys)).data.keys;
}

/** Returns the API's body with the fields that are filled in. A day becomes its last second in UTC. */
function readKeyForm(form: URLSearchParams): Partial<Record<(typeof FIELDS)[number], string>> {
  const filled = FIELDS.map((name) => [name, form.get(name)?.trim() ?? ""]).filter(([, text]) => text !== "");
  const body = Object.fromEntries(filled);
  return DAY.test(body.expiresAt) ? { ...body, expiresAt: `${body.expiresAt}T23:59:59Z` } : body;
}

const SENT_TWICE =
  "This form was sent before, and its key was created. It cannot be shown again. If you have not copied it, revoke it and create another.";

/** Renders the keys and the form. After a key has been created, shows it above the list instead of the form. */
async function renderPage(page: SignedInPage, created: Created | null): Promise<PageResult> {
  const keys = await loadKeys(page);
  return settingsPage(page, {
    ...(created && { head: COPY_SCRIPT, status: 201 }),
    notices: { revoked: "API key revoked." },
    body: html`${created && renderCreated(created)}
<section class="stack" aria-labelledby="keys-title">
  <h2 id="keys-title">API keys</h2>
  <p class="quiet">Programs send a key as <code>Authorization: Bearer …</code> and act as you.</p>
  ${renderKeys(keys, page.session.organizations)}
</section>
${!created && keyForm(page)}`,
  });
}

function renderCreated({ key, apiKey }: Created): Html {
  return html`<section class="card stack" aria-labelledby="created-title">
  <h2 id="created-title">API key created</h2>
  ${renderSecret({ label: nameOf(apiKey), secret: key })}
  <p><a href="${PATH}">Done</a></p>
</section>`;
}

function nameOf({ name }: Pick<Key, "name">): string {
  return name ?? "Unnamed key";
}

function renderKeys(keys: readonly Key[], organizations: readonly PageOrg[]): Html {
  if (keys.length === 0) return emptyState("You have no API keys.");
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  const rows = keys.map((key): Content[] => [
    html`${nameOf(key)}<div class="actions"><a class="button danger" href="${PATH}/${key.id}/revoke" aria-label="Revoke ${nameOf(key)}">Revoke</a></div>`,
    html`<code>${key.prefix}…</code>${key.kind !== "user" && html` <span class="tag">${key.kind}</span>`}`,
    key.organizationId === null ? "All" : (names.get(key.organizationId) ?? "An organization you have left"),
    key.scope,
    renderDay(key.createdAt),
    key.lastUsedAt === null ? "Never" : renderInstant(key.lastUsedAt),
    renderExpiry(key.expiresAt),
  ]);
  const columns = ["Name", "Key", "Organization", "Scope", "Created", "Last used", "Expires"];
  return recordTable("API keys", columns, rows);
}

function renderExpiry(expiresAt: string | null): Content {
  if (expiresAt === null) return "Never";
  if (Date.parse(expiresAt) > Date.now()) return renderInstant(expiresAt);
  return html`${badge("Expired", "bad")} ${renderDay(expiresAt)}`;
}

/** Renders the form with the user's input. */
function keyForm({ session, form, problems }: SignedInPage): Html {
  const organizations = session.organizations.map(({ slug, name }) => [slug, name] as const);
  const scopes = KEY_SCOPES.map(
    (scope) => [scope, html`<b>${scope}</b> <small>${SCOPE_HINTS[scope]}</small>`] as const,
  );
  const whose = "A key for one organization does less harm if it leaks.";
  const until = "In UTC. Empty: the key does not expire.";
  return html`<section class="card form-card" aria-labelledby="new-key-title">
  <h2 id="new-key-title">New API key</h2>
  <form method="post">${tokenField(session)}${onceField()}
    ${inputField({ name: "name", label: "Name", hint: "What the key is for.", problems }, html`type="text" maxlength="200" required autocomplete="off" value="${form.get("name")}"`)}
    ${selectField({ name: "organization", label: "Organization", hint: whose, problems }, [["", "All my organizations"], ...organizations], form.get("organization"))}
    ${choiceGroup("radio", { name: "scope", label: "Scope", problem: problems?.fields.get("scope") }, scopes, [form.get("scope") ?? "read"])}
    ${inputField({ name: "expiresAt", label: "Last day", hint: until, problems }, html`type="date" value="${form.get("expiresAt")}"`)}
    <div class="actions"><button type="submit" class="primary">Create key</button></div>
  </form>
</section>`;
}
