/** /settings/keys: the API keys of a user. A new key is shown once, in the response to its form. */
import { ApiError } from "../../../shared/errors.ts";
import * as keyOperations from "../../accounts/keys.ts";
import type { ResponseOf } from "../api_client.ts";
import { confirmPage } from "../confirm.ts";
import { attempt, type FormProblems, problemSummary } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { renderDay, renderInstant } from "../instant.ts";
import { renderNotice } from "../notice.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { COPY_SCRIPT, renderSecret } from "../secret.ts";
import { idempotencyKeyOf } from "../write_once.ts";
import { EMPTY_KEY_FORM, keyForm, readKeyForm } from "./key_form.ts";
import { settingsPage } from "./settings_page.ts";

const PATH = "/settings/keys";

type Key = ResponseOf<typeof keyOperations.listKeys>["data"]["keys"][number];
type Created = ResponseOf<typeof keyOperations.createKey>["data"];

/** Shows the keys and the form for a new one. */
export async function showKeys(page: SignedInPage): Promise<PageResult> {
  return renderPage(page, await loadKeys(page), {});
}

/** Creates a key and shows it. The same form sent twice creates one key: the second response says so. */
export async function createKey(page: SignedInPage): Promise<PageResult> {
  const { form, body } = readKeyForm(page.form);
  const idempotencyKey = idempotencyKeyOf(page.form);
  const outcome = await attempt(() => page.call(keyOperations.createKey, { body, idempotencyKey }));
  const keys = await loadKeys(page);
  return outcome.ok
    ? renderPage(page, keys, { created: outcome.value.data })
    : renderPage(page, keys, { form, problems: explain(outcome.problems) });
}

/** Asks before a key is revoked. */
export async function confirmRevoke(page: SignedInPage, { id }: { id: string }): Promise<PageResult> {
  const key = (await loadKeys(page)).find((candidate) => candidate.id === id);
  if (!key) throw new ApiError("NOT_FOUND", { details: { reason: "key" } });
  return confirmPage(page.session, {
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

/** The response of the first request is not kept, because it holds the key. */
function explain(problems: FormProblems): FormProblems {
  if (problems.code !== "IDEMPOTENCY_KEY_USED") return problems;
  const message =
    "This form was sent before, and its key was created. It cannot be shown again. If you have not copied it, revoke it and create another.";
  return { ...problems, message };
}

interface KeysView {
  created?: Created | null;
  form?: typeof EMPTY_KEY_FORM;
  problems?: FormProblems;
}

function renderPage(
  { url, session, notice }: SignedInPage,
  keys: readonly Key[],
  view: KeysView,
): PageResult {
  const { created, form = EMPTY_KEY_FORM, problems = null } = view;
  return settingsPage({
    url,
    head: created && COPY_SCRIPT,
    status: created ? 201 : problems?.status,
    body: html`${renderNotice(notice, { revoked: "API key revoked." })}${problemSummary(problems)}
${created && renderCreated(created)}
<section class="stack" aria-labelledby="keys-title">
  <h2 id="keys-title">API keys</h2>
  <p class="quiet">Programs send a key as <code>Authorization: Bearer …</code> and act as you.</p>
  ${renderKeys(keys, session.organizations)}
</section>
${!created && keyForm(session, { form, problems })}`,
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

/** Renders the table of keys. */
function renderKeys(keys: readonly Key[], organizations: readonly PageOrg[]): Html {
  if (keys.length === 0) return html`<p class="empty">You have no API keys.</p>`;
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  const rows = keys.map(
    (key) => html`<tr>
  <th scope="row">${nameOf(key)}</th>
  <td><code>${key.prefix}…</code>${key.kind !== "user" && html` <span class="tag">${key.kind}</span>`}</td>
  <td>${key.organizationId === null ? "All" : (names.get(key.organizationId) ?? "An organization you have left")}</td>
  <td>${key.scope}</td>
  <td>${renderDay(key.createdAt)}</td>
  <td>${key.lastUsedAt === null ? "Never" : renderInstant(key.lastUsedAt)}</td>
  <td>${renderExpiry(key.expiresAt)}</td>
  <td><a class="button danger" href="${PATH}/${key.id}/revoke" aria-label="${`Revoke ${nameOf(key)}`}">Revoke</a></td>
</tr>
`,
  );
  return html`<div class="table-box" tabindex="0" role="group" aria-label="API keys"><table class="data-table">
<thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">Organization</th><th scope="col">Scope</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col">Expires</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}

function renderExpiry(expiresAt: string | null): Content {
  if (expiresAt === null) return "Never";
  if (Date.parse(expiresAt) > Date.now()) return renderInstant(expiresAt);
  return html`<span class="badge bad">Expired</span> ${renderDay(expiresAt)}`;
}
