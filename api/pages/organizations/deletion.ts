/** /orgs/{slug}/end: an owner deletes the organization by typing its slug, or restores it. */
import { deleteOrganization, restoreOrganization } from "../../accounts/organizations/delete.ts";
import { orgPath } from "../addresses.ts";
import { inputField, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { renderInstant } from "../parts.ts";
import { type OwnOrg, orgPage, requireOrgWithRole } from "./org_page.ts";

const NOTICES = {
  deleted: "Deletion scheduled. The organization keeps working for seven days. We emailed its owners.",
  restored: "Organization restored. Nothing was deleted.",
};

/** Performs the action in the hidden field `action`. */
export async function changeDeletion(
  { form, call }: SignedInPage,
  { slug }: { slug: string },
): Promise<PageResult> {
  const params = { slug };
  const isRestore = form.get("action") === "restore";
  if (isRestore) await call(restoreOrganization, { params });
  else await call(deleteOrganization, { params, body: { confirm: (form.get("confirm") ?? "").trim() } });
  return seeOtherWith(orgPath(slug, "end"), isRestore ? "restored" : "deleted");
}

/** Shows the form to owners. For other users, throws the API's error. */
export async function showDeletion(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const org = await requireOrgWithRole(page, { slug, role: "owner" });
  const body = renderForm(page, org);
  return orgPage(page, { slug, tab: "edit", subject: "Delete", notices: NOTICES, body });
}

function renderForm({ session, problems }: SignedInPage, { slug, isPersonal, deletesAt }: OwnOrg): Html {
  const token = tokenField(session);
  if (isPersonal) {
    return html`<section class="card form-card" aria-labelledby="end-title">
  <h2 id="end-title">Delete organization</h2>
  <p>This is your personal organization. It belongs to your account and cannot be deleted.</p>
</section>`;
  }
  if (deletesAt !== null) {
    return html`<section class="card form-card" aria-labelledby="end-title">
  <h2 id="end-title">Restore organization</h2>
  <p>This organization will be deleted on ${renderInstant(deletesAt)}. Until then it works as before.</p>
  <form method="post">${token}<input type="hidden" name="action" value="restore">
  <div class="actions"><button type="submit" class="primary">Restore organization</button></div>
  </form>
</section>`;
  }
  return html`<section class="card form-card" aria-labelledby="end-title">
  <h2 id="end-title">Delete organization</h2>
  <p>It keeps working for seven days. Until then, any owner can restore it. After that:</p>
  <ul>
    <li>Its members, API keys, webhooks and drafts are deleted, and its exports expire.</li>
    <li>Its projects and private definitions can no longer be reached.</li>
    <li>Its published definitions stay available and are marked as deprecated.</li>
    <li>Its slug stays taken.</li>
  </ul>
  <form method="post">${token}<input type="hidden" name="action" value="delete">
  ${inputField({ name: "confirm", label: html`Type <code>${slug}</code> to confirm`, problems }, html`type="text" required autocomplete="off" autocapitalize="none" spellcheck="false"`)}
  <div class="actions"><button type="submit" class="danger">Delete organization</button> <a class="button" href="${orgPath(slug, "edit")}">Cancel</a></div>
  </form>
</section>`;
}
