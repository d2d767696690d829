/** /orgs/{slug}/members/{userId}: a member's role. The subpage `remove` removes the member or leaves the organization. */
import { mayManageMembers } from "../../../shared/policy.ts";
import { removeMember, updateMember } from "../../accounts/members/manage_members.ts";
import { listOrganizationMembers } from "../../accounts/organizations/own_orgs.ts";
import { notFound } from "../../http/require_visible.ts";
import { orgPath } from "../addresses.ts";
import { confirmPage } from "../confirm.ts";
import { tokenField } from "../forms.ts";
import { type Html, html } from "../html.ts";
import { type PageResult, type SignedInPage, seeOtherWith } from "../page.ts";
import { findOwnOrg, type PageOrg } from "../page_session.ts";
import { type Member, roleChoice } from "./members.ts";
import { orgPage } from "./org_page.ts";

/** The organization and member that an address names. */
interface MemberAddress {
  slug: string;
  userId: string;
}

export async function changeMember(page: SignedInPage, address: MemberAddress): Promise<PageResult> {
  const body = { role: page.form.get("role") ?? "" };
  await page.call(updateMember, { params: address, body });
  return seeOtherWith(orgPath(address.slug, "members"), "role");
}

export async function removeMemberOf(page: SignedInPage, address: MemberAddress): Promise<PageResult> {
  const { slug, userId } = address;
  await page.call(removeMember, { params: address });
  if (userId === page.session.user.id) return seeOtherWith(orgPath(slug), "left");
  return seeOtherWith(orgPath(slug, "members"), "remove");
}

async function loadMember(
  page: SignedInPage,
  { slug, userId }: MemberAddress,
): Promise<{ member: Member; org: PageOrg }> {
  const { data } = await page.call(listOrganizationMembers, { params: { slug } });
  const member = data.members.find((one) => one.userId === userId);
  const org = findOwnOrg(page, slug);
  if (!member || !org) throw notFound("member");
  return { member, org };
}

export async function showMember(page: SignedInPage, address: MemberAddress): Promise<PageResult> {
  const { member, org } = await loadMember(page, address);
  const { slug } = address;
  const { username, name } = member;
  return orgPage(page, {
    slug,
    tab: "members",
    subject: username,
    body: html`<p class="crumbs"><a href="${orgPath(slug, "members")}">Members</a></p>
<section class="card form-card" aria-labelledby="member-title">
  <h2 id="member-title">${name ?? username} <small>${username}</small></h2>
  ${renderRole(page, member, org)}
</section>`,
  });
}

/** Renders the member's role, and the user's actions on it. */
function renderRole(page: SignedInPage, { userId, role }: Member, org: PageOrg): Html {
  if (org.isPersonal && role === "owner")
    return html`<p>The role is owner. The owner of a personal organization can neither leave nor get another role.</p>`;
  const isSelf = userId === page.session.user.id;
  const removal = html`<a class="button danger" href="${orgPath(org.slug, "members", userId, "remove")}">${isSelf ? "Leave organization" : "Remove member"}</a>`;
  if (!mayManageMembers(org.role, role).ok)
    return html`<p>The role is ${role}. Only an owner${role === "owner" ? "" : " or admin"} can change it.</p>${isSelf && html`<div class="actions">${removal}</div>`}`;
  return html`<form method="post">${tokenField(page.session)}
  ${roleChoice(page, org, role)}
  <div class="actions"><button type="submit" class="primary">Save role</button> ${removal}</div>
  </form>`;
}

export async function confirmRemoval(page: SignedInPage, address: MemberAddress): Promise<PageResult> {
  const { member, org } = await loadMember(page, address);
  const { username } = member;
  const isSelf = member.userId === page.session.user.id;
  const [title, action, whose] = isSelf
    ? [`Leave ${org.name}?`, "Leave organization", "Your"]
    : [`Remove ${username} from ${org.name}?`, "Remove member", "Their"];
  const content = confirmPage(page, {
    section: "organization",
    title,
    text: html`<p>Access ends within a second, and running downloads stop. ${whose} API keys for this organization are revoked.</p>
  <p>Definitions, projects, exports and webhooks stay with the organization. Rejoining requires a new invitation.</p>`,
    action,
    cancel: orgPath(address.slug, "members"),
  });
  return { ...content, org };
}
