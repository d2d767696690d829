/** /orgs/{slug}/edit: the form of an organization's public profile, for owners and admins. */
import { hasOrgRole } from "../../../shared/policy.ts";
import { getOrganization } from "../../accounts/organizations/own_orgs.ts";
import type { OrgDetail } from "../../accounts/organizations/schemas.ts";
import { updateOrganization } from "../../accounts/organizations/update.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { orgPath } from "../addresses.ts";
import { type FormProblems, findProblems, inputField, problemSummary, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { renderNotice } from "../notice.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { profileInputs } from "../profile_inputs.ts";
import { orgPage } from "./org_page.ts";

type Org = (typeof OrgDetail.static)["data"];

type Fields = Record<"name" | "description" | "websiteUrl", string>;

export async function showEdit(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const org = await loadEditable(page, slug);
  return renderPage(page, org, { fields: fieldsOf(org), problems: null });
}

function fieldsOf({ name, description, websiteUrl }: Org): Fields {
  return { name, description: description ?? "", websiteUrl: websiteUrl ?? "" };
}

export async function saveEdit(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const required = page.form.get("requireSecondFactor");
  if (required !== null) return requireFactor(page, slug, required === "true");
  const typed = (name: keyof Fields) => page.form.get(name) ?? "";
  const fields = {
    name: typed("name"),
    description: typed("description"),
    websiteUrl: typed("websiteUrl"),
  };
  const { name, description, websiteUrl } = fields;
  const body = { name, description: nullIfBlank(description), websiteUrl: nullIfBlank(websiteUrl) };
  const problems = await findProblems(() => page.call(updateOrganization, { params: { slug }, body }));
  if (!problems) return seeOtherWith(orgPath(slug, "edit"), "saved");
  return renderPage(page, await loadEditable(page, slug), { fields, problems });
}

async function requireFactor(page: SignedInPage, slug: string, isRequired: boolean): Promise<PageResult> {
  const body = { requireSecondFactor: isRequired };
  const problems = await findProblems(() => page.call(updateOrganization, { params: { slug }, body }));
  if (!problems) return seeOtherWith(orgPath(slug, "edit"), "factor");
  const org = await loadEditable(page, slug);
  return renderPage(page, org, { fields: fieldsOf(org), problems });
}

function nullIfBlank(text: string): string | null {
  return text.trim() === "" ? null : text;
}

/** Loads an organization that the user may change. Throws the error that the API has for all others. */
async function loadEditable(page: SignedInPage, slug: string): Promise<Org> {
  const { data } = await page.call(getOrganization, { params: { slug } });
  requireAllowed(hasOrgRole(data.role, "admin"));
  return data;
}

interface EditView {
  /** As stored, or as typed. */
  fields: Fields;
  problems: FormProblems | null;
}

function renderPage(page: SignedInPage, org: Org, { fields, problems }: EditView): PageResult {
  const { slug, role, isPersonal } = org;
  const mayEnd = !isPersonal && hasOrgRole(role, "owner").ok;
  return orgPage(page, {
    slug,
    tab: "edit",
    status: problems?.status,
    body: html`${renderNotice(page.notice, { saved: "Profile saved.", factor: "Second factor setting saved." })}${problemSummary(problems)}
<section class="card form-card" aria-labelledby="edit-title">
  <h2 id="edit-title">Edit profile</h2>
  <p class="quiet">Everyone can see these fields on the <a href="${orgPath(slug)}">profile</a>.</p>
  ${editForm(tokenField(page.session), fields, problems)}
</section>
${org.role === "owner" && factorForm(tokenField(page.session), org)}
${mayEnd && html`<p><a href="${orgPath(slug, "end")}">Delete this organization</a></p>`}`,
  });
}

/** The API refuses owners without a second factor, or who have not used it recently. */
function factorForm(token: Html, { requireSecondFactor }: Org): Html {
  return html`<section class="card form-card" aria-labelledby="factor-title">
  <h2 id="factor-title">Second factor</h2>
  <p>${requireSecondFactor ? "Members need a second factor to see this organization." : "Members without a second factor sign in with their password alone."} API keys are not affected.</p>
  <p class="quiet">To change this, first confirm with <a href="/settings/second-factor">your own second factor</a>.</p>
  <form method="post">${token}<input type="hidden" name="requireSecondFactor" value="${String(!requireSecondFactor)}">
  <div class="actions"><button type="submit">${requireSecondFactor ? "Stop requiring it" : "Require a second factor"}</button></div></form>
</section>`;
}

function editForm(
  token: Html,
  { name, description, websiteUrl }: Fields,
  problems: FormProblems | null,
): Html {
  return html`<form method="post">${token}
  ${inputField({ name: "name", label: "Name", problems }, html`type="text" maxlength="200" required autocomplete="organization" value="${name}"`)}
  ${profileInputs({ name: "description", label: "Description", value: description }, websiteUrl, problems)}
  <div class="actions"><button type="submit" class="primary">Save profile</button></div>
</form>`;
}
