/** /orgs/{slug}/members: who belongs to an organization and who is invited; owners and admins invite here. */
import { hasOrgRole, mayManageMembers } from "../../../shared/policy.ts";
import { ORG_ROLES, type OrgRole } from "../../../shared/vocabulary.ts";
import { createInvitation, listInvitations, revokeInvitation } from "../../accounts/members/invitations.ts";
import { listOrganizationMembers } from "../../accounts/organizations/own_orgs.ts";
import type { MemberList } from "../../accounts/organizations/schemas.ts";
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import { orgPath } from "../addresses.ts";
import { type FormProblems, findProblems, formField, problemSummary, tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { renderDay } from "../instant.ts";
import { renderNotice } from "../notice.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { findOwnOrg, type PageOrg } from "../page_session.ts";
import { idempotencyKeyOf, onceField } from "../write_once.ts";
import { renderInvitations } from "./invitations.ts";
import { orgPage } from "./org_page.ts";

export type Member = (typeof MemberList.static)["data"]["members"][number];

const ROLE_MEANINGS: Readonly<Record<OrgRole, string>> = {
  viewer: "reads everything and exports single datasets",
  publisher: "also publishes definitions and exports whole projects",
  admin: "also manages members, webhooks and the profile",
  owner: "also adds and removes owners",
};

const NOTICES = {
  invite:
    "Invitation created. We email the link, unless this address already got three invitations within an hour.",
  revoke: "Invitation revoked. Its link no longer works.",
  role: "Role changed.",
  remove: "Member removed.",
};

export async function showMembers(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  return renderPage(page, slug, { email: "", role: "viewer", problems: null });
}

/** Invites or revokes, as the button says. */
export async function changeInvitations(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const { form, call } = page;
  const revoked = form.get("revoke");
  const email = (form.get("email") ?? "").trim();
  const role = form.get("role") ?? "";
  const problems = await findProblems(() =>
    revoked === null
      ? call(createInvitation, {
          params: { slug },
          body: { email, role },
          idempotencyKey: idempotencyKeyOf(form),
        })
      : call(revokeInvitation, { params: { slug, id: revoked } }),
  );
  if (!problems) return seeOtherWith(orgPath(slug, "members"), revoked === null ? "invite" : "revoke");
  return renderPage(page, slug, { email, role, problems });
}

/** The roles that the user can give in an organization. A personal one has one owner. */
function assignableRoles({ role, isPersonal }: Pick<PageOrg, "role" | "isPersonal">): OrgRole[] {
  return ORG_ROLES.filter((value) => mayManageMembers(role, value).ok && !(isPersonal && value === "owner"));
}

interface InviteForm {
  email: string;
  role: string;
  problems: FormProblems | null;
}

async function renderPage(page: SignedInPage, slug: string, form: InviteForm): Promise<PageResult> {
  const org = findOwnOrg(page, slug);
  const isManager = org !== null && hasOrgRole(org.role, "admin").ok;
  const { data } = await page.call(listOrganizationMembers, { params: { slug } });
  const invitations = isManager
    ? (await page.call(listInvitations, { params: { slug } })).data.invitations
    : [];
  const isAlone = isManager && data.members.length === 1 && invitations.length === 0;
  return orgPage(page, {
    slug,
    name: org?.name ?? slug,
    tab: "members",
    status: form.problems?.status,
    body: html`${renderNotice(page.notice, NOTICES)}${problemSummary(form.problems)}
${isAlone && html`<p class="notice">You are the only member. Invite the people you work with.</p>`}
${renderMembers(page, slug, { members: data.members, isManager })}
${isManager && renderInvitations(page.session, invitations)}
${isManager && renderInviteForm(page, org, form)}`,
  });
}

/** Renders the table of members. Avatars are not loaded: they are addresses of strangers. */
function renderMembers(
  { session }: SignedInPage,
  slug: string,
  { members, isManager }: { members: readonly Member[]; isManager: boolean },
): Html {
  const link = ({ userId, username }: Member) => {
    const isSelf = userId === session.user.id;
    const [label, below] = isManager ? ["Change", []] : ["Leave", ["remove"]];
    if (!isManager && !isSelf) return null;
    return html`<div class="actions"><a href="${orgPath(slug, "members", userId, ...below)}">${label}<span class="visually-hidden"> ${username}</span></a></div>`;
  };
  const rows = members.map(
    (member) => html`<tr>
  <th scope="row">${member.name ?? member.username}${link(member)}</th><td>${member.username}</td><td>${member.role}</td><td>${renderDay(member.joinedAt)}</td>
</tr>
`,
  );
  return html`<section class="stack" aria-labelledby="members-title">
  <h2 id="members-title">Members <small>${members.length.toLocaleString("en-US")}</small></h2>
  <div class="table-box" tabindex="0" role="group" aria-label="Members"><table class="data-table">
<thead><tr><th scope="col">Name</th><th scope="col">Username</th><th scope="col">Role</th><th scope="col">Joined</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
</section>`;
}

function renderInviteForm(
  { session }: SignedInPage,
  org: PageOrg,
  { email, role, problems }: InviteForm,
): Html {
  return html`<section class="card form-card" aria-labelledby="invite-title">
  <h2 id="invite-title">Invite a member</h2>
  <form method="post">${tokenField(session)}${onceField()}
  ${formField(
    { name: "email", label: "Email", hint: "The invitation link works once, for seven days.", problems },
    (attributes) =>
      html`<input ${attributes} type="email" maxlength="${EMAIL_MAX_LENGTH}" required autocomplete="off" value="${email}">`,
  )}
  ${formField({ name: "role", label: "Role", problems }, (attributes) => roleSelect(attributes, org, role))}
  <div class="actions"><button type="submit" class="primary">Send invitation</button></div>
  </form>
</section>`;
}

/** A list of the roles that the user can give, each with what it allows. */
export function roleSelect(
  attributes: Html,
  org: Pick<PageOrg, "role" | "isPersonal">,
  selected: string,
): Html {
  const options = assignableRoles(org).map(
    (role) =>
      html`<option value="${role}"${role === selected && html` selected`}>${role}: ${ROLE_MEANINGS[role]}</option>`,
  );
  return html`<select ${attributes} required>${options}</select>`;
}
