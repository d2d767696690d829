/** /settings/organizations: the user's organizations, and the form that creates one. */
import { createOrganization } from "../../accounts/organizations/create.ts";
import { orgPath } from "../addresses.ts";
import { idempotencyKeyOf, inputField, onceField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import type { PageOrg } from "../page_session.ts";
import { badge, recordTable, renderInstant } from "../parts.ts";
import { settingsPage } from "./settings_page.ts";

const SLUG_HINT =
  "Used in URLs and definition names. 1 to 63 characters: a-z, 0-9, dot, underscore and hyphen. It cannot be changed later.";

export async function makeOrganization({ form, call }: SignedInPage): Promise<PageResult> {
  const slug = (form.get("slug") ?? "").trim().toLowerCase();
  const body = { name: form.get("name") ?? "", slug };
  await call(createOrganization, { body, idempotencyKey: idempotencyKeyOf(form) });
  return seeOtherWith(orgPath(slug, "projects"), "created");
}

export function showOrganizations(page: SignedInPage): PageResult {
  const { session, deps } = page;
  const form = renderForm(page);
  return settingsPage(page, {
    body: html`<section class="stack" aria-labelledby="list-title">
  <h2 id="list-title">Your organizations</h2>
  ${recordTable("Your organizations", ["Name", "Slug", "Your role", "Subscription"], session.organizations.map(renderRow))}
</section>
<section class="card form-card" aria-labelledby="new-title">
  <h2 id="new-title">New organization</h2>
  ${deps.config.organizationCreation === "users" ? form : renderOperatorsOnly(form)}
</section>`,
  });
}

function renderRow({ slug, name, role, subscriptionTier, isPersonal, deletesAt }: PageOrg): Content[] {
  return [
    html`<a href="${orgPath(slug)}">${name}</a>${isPersonal && html` ${badge("personal")}`}${
      deletesAt !== null && html` ${badge("will be deleted")} ${renderInstant(deletesAt)}`
    }`,
    html`<code>${slug}</code>`,
    role,
    subscriptionTier,
  ];
}

/** Renders the form for platform administrators. Only the API knows who is an administrator, so all users can open the form. */
function renderOperatorsOnly(form: Html): Html {
  return html`<p>Only operators can create organizations here. Ask an operator to create one for you.</p>
  <details><summary>I am a platform administrator</summary>${form}</details>`;
}

function renderForm({ session, form, problems }: SignedInPage): Html {
  return html`<p class="quiet">All members share its projects, definitions and exports. You become its owner. It starts on the free tier.</p>
  <form method="post">${tokenField(session)}${onceField()}
  ${inputField({ name: "name", label: "Name", problems }, html`type="text" maxlength="200" required value="${form.get("name")}"`)}
  ${inputField({ name: "slug", label: "Slug", hint: SLUG_HINT, problems }, html`type="text" maxlength="63" required autocapitalize="none" spellcheck="false" value="${form.get("slug")}"`)}
  <div class="actions"><button type="submit" class="primary">Create organization</button></div>
  </form>`;
}
