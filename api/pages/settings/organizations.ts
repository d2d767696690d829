/** /settings/organizations: the user's organizations, and the form that creates one. */
import { createOrganization } from "../../accounts/organizations/create.ts";
import { orgPath } from "../addresses.ts";
import {
  type FormProblems,
  findProblems,
  idempotencyKeyOf,
  inputField,
  onceField,
  problemSummary,
  tokenField,
} from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { badge, dataTable, renderDay } from "../parts.ts";
import { settingsPage } from "./settings_page.ts";

const SLUG_HINT =
  "Used in URLs and definition names. 1 to 63 characters: a-z, 0-9, dot, underscore and hyphen. It cannot be changed later.";

interface Typed {
  name: string;
  slug: string;
}

export function showOrganizations(page: SignedInPage): PageResult {
  return renderPage(page, { name: "", slug: "" }, null);
}

export async function makeOrganization(page: SignedInPage): Promise<PageResult> {
  const { form, call } = page;
  const typed = { name: form.get("name") ?? "", slug: (form.get("slug") ?? "").trim().toLowerCase() };
  const problems = await findProblems(() =>
    call(createOrganization, { body: typed, idempotencyKey: idempotencyKeyOf(form) }),
  );
  if (!problems) return seeOtherWith(orgPath(typed.slug, "projects"), "created");
  return renderPage(page, typed, problems);
}

function renderPage(page: SignedInPage, typed: Typed, problems: FormProblems | null): PageResult {
  const { session, deps } = page;
  return settingsPage({
    url: page.url,
    status: problems?.status,
    body: html`${problemSummary(problems)}
<section class="stack" aria-labelledby="list-title">
  <h2 id="list-title">Your organizations</h2>
  ${dataTable("Your organizations", ["Name", "Slug", "Your role", "Subscription"], session.organizations.map(renderRow))}
</section>
<section class="card form-card" aria-labelledby="new-title">
  <h2 id="new-title">New organization</h2>
  ${deps.config.organizationCreation === "users" ? renderForm(page, typed, problems) : renderOperatorsOnly(page, typed, problems)}
</section>`,
  });
}

function renderRow({ slug, name, role, subscriptionTier, isPersonal, deletesAt }: PageOrg): Html {
  return html`<tr>
  <th scope="row"><a href="${orgPath(slug)}">${name}</a>${isPersonal && html` ${badge("personal")}`}${
    deletesAt !== null && html` ${badge(html`will be deleted on ${renderDay(deletesAt)}`)}`
  }</th><td><code>${slug}</code></td><td>${role}</td><td>${subscriptionTier}</td>
</tr>
`;
}

/** The API knows who is a platform administrator. */
function renderOperatorsOnly(page: SignedInPage, typed: Typed, problems: FormProblems | null): Content {
  return html`<p>Only operators can create organizations here. Ask an operator to create one for you.</p>
  <details><summary>I am a platform administrator</summary>${renderForm(page, typed, problems)}</details>`;
}

function renderForm({ session }: SignedInPage, { name, slug }: Typed, problems: FormProblems | null): Html {
  return html`<p class="quiet">All members share its projects, definitions and exports. You become its owner. It starts on the free tier.</p>
  <form method="post">${tokenField(session)}${onceField()}
  ${inputField({ name: "name", label: "Name", problems }, html`type="text" maxlength="200" required value="${name}"`)}
  ${inputField({ name: "slug", label: "Slug", hint: SLUG_HINT, problems }, html`type="text" maxlength="63" required autocapitalize="none" spellcheck="false" value="${slug}"`)}
  <div class="actions"><button type="submit" class="primary">Create organization</button></div>
  </form>`;
}
