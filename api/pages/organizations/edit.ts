/** /orgs/{slug}/edit: the form of an organization's public profile, for owners and admins. */
import { updateOrganization } from "../../accounts/organizations/update.ts";
import { orgPath } from "../addresses.ts";
import { inputField, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { profileInputs } from "../profile_inputs.ts";
import { type OwnOrg, orgPage, requireOrgWithRole } from "./org_page.ts";

const NOTICES = { saved: "Profile saved.", factor: "Second factor setting saved." };

/** Saves the profile, or whether members need a second factor. Each setting has its own form. */
export async function saveEdit(
  { form, call }: SignedInPage,
  { slug }: { slug: string },
): Promise<PageResult> {
  const required = form.get("requireSecondFactor");
  const text = (name: string) => form.get(name) ?? "";
  const textOrNull = (name: string) => (text(name).trim() === "" ? null : text(name));
  const profile = {
    name: text("name"),
    description: textOrNull("description"),
    websiteUrl: textOrNull("websiteUrl"),
  };
  const body = required === null ? profile : { requireSecondFactor: required === "true" };
  await call(updateOrganization, { params: { slug }, body });
  return seeOtherWith(orgPath(slug, "edit"), required === null ? "saved" : "factor");
}

/** Shows the forms to owners and admins. For other users, throws the API's error. */
export async function showEdit(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const org = await requireOrgWithRole(page, { slug, role: "admin" });
  const isOwner = org.role === "owner";
  return orgPage(page, {
    slug,
    tab: "edit",
    notices: NOTICES,
    body: html`<section class="card form-card" aria-labelledby="edit-title">
  <h2 id="edit-title">Edit profile</h2>
  <p class="quiet">Everyone can see these fields on the <a href="${orgPath(slug)}">profile</a>.</p>
  ${editForm(page, org)}
</section>
${isOwner && factorForm(tokenField(page.session), org)}
${isOwner && !org.isPersonal && html`<p><a href="${orgPath(slug, "end")}">Delete this organization</a></p>`}`,
  });
}

/** Renders the second-factor setting. The API rejects the change unless the owner has used a second factor recently. */
function factorForm(token: Html, { requireSecondFactor }: OwnOrg): Html {
  return html`<section class="card form-card" aria-labelledby="factor-title">
  <h2 id="factor-title">Second factor</h2>
  <p>${requireSecondFactor ? "Members need a second factor to see this organization." : "Members without a second factor sign in with their password alone."} API keys are not affected.</p>
  <p class="quiet">To change this, first confirm with <a href="/settings/second-factor">your own second factor</a>.</p>
  <form method="post">${token}<input type="hidden" name="requireSecondFactor" value="${String(!requireSecondFactor)}">
  <div class="actions"><button type="submit">${requireSecondFactor ? "Stop requiring it" : "Require a second factor"}</button></div></form>
</section>`;
}

/** Renders the profile form with the stored values or the user's input. */
function editForm({ session, form, problems }: SignedInPage, org: OwnOrg): Html {
  const text = (name: "name" | "description" | "websiteUrl") => form.get(name) ?? org[name] ?? "";
  return html`<form method="post">${tokenField(session)}
  ${inputField({ name: "name", label: "Name", problems }, html`type="text" maxlength="200" required autocomplete="organization" value="${text("name")}"`)}
  ${profileInputs({ name: "description", label: "Description", value: text("description") }, text("websiteUrl"), problems)}
  <div class="actions"><button type="submit" class="primary">Save profile</button></div>
</form>`;
}
