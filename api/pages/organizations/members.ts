/** /orgs/{slug}/members: the members and invitations of an organization. Owners and admins send invitations here. */
import { hasOrgRole, mayManageMembers } from "../../../shared/policy.ts";
import { ORG_ROLES, type OrgRole } from "../../../shared/vocabulary.ts";
import { createInvitation, listInvitations, revokeInvitation } from "../../accounts/members/invitations.ts";
import { listOrganizationMembers } from "../../accounts/organizations/own_orgs.ts";
import { EMAIL_MAX_LENGTH } from "../../accounts/profile_fields.ts";
import { orgPath } from "../addresses.ts";
import type { ResponseOf } from "../api_client.ts";
import { choiceGroup, fieldProblem, idempotencyKeyOf, inputField, onceField, tokenField } from "../forms.ts";
import { type Content, type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { findOwnOrg, type PageOrg, type PageSession } from "../page_session.ts";
import { emptyState, formatCount, recordTable, renderDay, renderInstant } from "../parts.ts";
import { orgPage } from "./org_page.ts";

export type Member = ResponseOf<typeof listOrganizationMembers>["data"]["members"][number];

type Invitation = ResponseOf<typeof listInvitations>["data"]["invitations"][number];

const ROLE_MEANINGS: Readonly<Record<OrgRole, string>> = {
  viewer: "Reads everything and exports single datasets.",
  publisher: "Also publishes definitions and exports whole projects.",
  admin: "Also manages members, projects, webhooks and the profile, and reads the audit log.",
  owner: "Also adds and removes owners, and can delete the organization.",
};

const NOTICES = {
  invite:
    "Invitation created. We email the link, unless this address already got three invitations within an hour.",
  revoke: "Invitation revoked. Its link no longer works.",
  role: "Role changed.",
  remove: "Member removed.",
};

/** Sends or revokes an invitation, depending on the button. */
export async function changeInvitations(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const { form, call, session } = page;
  const revoked = form.get("revoke");
  if (revoked === null) {
    const body = { email: (form.get("email") ?? "").trim(), role: form.get("role") ?? "" };
    if (body.email.toLowerCase() === session.user.email.toLowerCase() && findOwnOrg(page, slug))
      throw fieldProblem("email", "is your own address", "You are already a member.");
    const idempotencyKey = idempotencyKeyOf(form);
    await call(createInvitation, { params: { slug }, body, idempotencyKey });
  } else await call(revokeInvitation, { params: { slug, id: revoked } });
  return seeOtherWith(orgPath(slug, "members"), revoked === null ? "invite" : "revoke");
}

export async function showMembers(page: SignedInPage, { slug }: { slug: string }): Promise<PageResult> {
  const org = findOwnOrg(page, slug);
  const isManager = org !== null && hasOrgRole(org.role, "admin").ok;
  const { data } = await page.call(listOrganizationMembers, { params: { slug } });
  const invitations = isManager
    ? (await page.call(listInvitations, { params: { slug } })).data.invitations
    : [];
  const isAlone = isManager && data.members.length === 1 && invitations.length === 0;
  return orgPage(page, {
    slug,
    tab: "members",
    notices: NOTICES,
    body: html`${isAlone && html`<p class="notice">You are the only member. Invite the people you work with.</p>`}
${renderMembers(page, slug, { members: data.members, isManager })}
${isManager && renderInvitations(page.session, org, invitations)}
${isManager && renderInviteForm(page, org)}`,
  });
}

/** Returns the roles that the user can assign. A personal organization has one owner. */
function assignableRoles({ role, isPersonal }: PageOrg): OrgRole[] {
  return ORG_ROLES.filter((value) => mayManageMembers(role, value).ok && !(isPersonal && value === "owner"));
}

/** Renders the table of members. Avatars are not loaded, because other people choose their addresses. */
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
  const rows = members.map((member): Content[] => [
    html`${member.name ?? member.username}${link(member)}`,
    member.username,
    member.role,
    renderDay(member.joinedAt),
  ]);
  return html`<section class="stack" aria-labelledby="members-title">
  <h2 id="members-title">Members <small>${formatCount(members.length)}</small></h2>
  ${recordTable("Members", ["Name", "Username", "Role", "Joined"], rows)}
</section>`;
}

/** Renders the pending invitations. Invitations that the user may manage have buttons to resend and revoke. */
function renderInvitations(session: PageSession, org: PageOrg, invitations: readonly Invitation[]): Html {
  const rows = invitations.map((invitation): Content[] => [
    html`${invitation.email}${mayManageMembers(org.role, invitation.role).ok && renderButtons(session, invitation)}`,
    invitation.role,
    invitation.invitedBy,
    renderInstant(invitation.expiresAt),
  ]);
  const content =
    rows.length === 0
      ? emptyState("No pending invitations.")
      : recordTable("Pending invitations", ["Email", "Role", "Invited by", "Expires"], rows);
  return html`<section class="stack" aria-labelledby="invitations-title">
  <h2 id="invitations-title">Pending invitations <small>${formatCount(rows.length)}</small></h2>
  ${content}
</section>`;
}

function renderButtons(session: PageSession, { id, email, role }: Invitation): Html {
  return html`<div class="actions">
    <form method="post">${tokenField(session)}${onceField()}<input type="hidden" name="email" value="${email}"><input type="hidden" name="role" value="${role}"><button type="submit">Send again<span class="visually-hidden"> to ${email}</span></button></form>
    <form method="post">${tokenField(session)}<button type="submit" name="revoke" value="${id}" class="danger">Revoke<span class="visually-hidden"> the invitation of ${email}</span></button></form>
  </div>`;
}

function renderInviteForm(page: SignedInPage, org: PageOrg): Html {
  const { session, form, problems } = page;
  const hint =
    "The invitation link works once, for seven days. Inviting a member does not change their role. Change it in the list above.";
  return html`<section class="card form-card" aria-labelledby="invite-title">
  <h2 id="invite-title">Invite a member</h2>
  <form method="post">${tokenField(session)}${onceField()}
  ${inputField({ name: "email", label: "Email", hint, problems }, html`type="email" maxlength="${EMAIL_MAX_LENGTH}" required autocomplete="off" value="${form.get("email")}"`)}
  ${roleChoice(page, org, "viewer")}
  <div class="actions"><button type="submit" class="primary">Send invitation</button></div>
  </form>
</section>`;
}

/** Renders the assignable roles and their meanings as radio buttons. A select field on a phone has no room for the meanings. */
export function roleChoice({ form, problems }: SignedInPage, org: PageOrg, current: OrgRole): Html {
  const roles = assignableRoles(org).map(
    (role) => [role, html`<b>${role}</b> <small>${ROLE_MEANINGS[role]}</small>`] as const,
  );
  const problem = problems?.fields.get("role");
  return choiceGroup("radio", { name: "role", label: "Role", problem }, roles, [form.get("role") ?? current]);
}
