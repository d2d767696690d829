/**
 * Adds, updates and removes members, for the API, the pages and the command line. Each function locks the organization first,
 * which serializes concurrent changes. Call it inside a transaction.
 */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { mayManageMembers } from "../../../shared/policy.ts";
import { ORG_ROLES, type OrgRole } from "../../../shared/vocabulary.ts";
import { type NewAccountMail, queueAccountMails } from "../../../sql/accounts/account_mails.ts";
import { markBoundApiKeysRevoked } from "../../../sql/accounts/api_keys.ts";
import { type AuditActor, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import { revokeInvitationsOf, revokeSentInvitations } from "../../../sql/accounts/invitations.ts";
import {
  deleteMember,
  existsOtherOwner,
  listOwners,
  upsertMember,
} from "../../../sql/accounts/organization_members.ts";
import { lockOrg, type OrgRow } from "../../../sql/accounts/orgs.ts";
import { findOrgMember, type OrgMemberRow } from "../../../sql/accounts/own_orgs.ts";
import { findUser } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { Boss } from "../../../sql/job_queue.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { notFound } from "../../http/require_visible.ts";
import { lockActorRole } from "../require_own_org.ts";

export interface MemberChange {
  /** Queue for mails about the change; null to send no mail. */
  boss: Boss | null;
  /** A user, whose role is checked, or an operator, who has an owner's permissions. */
  actor: AuditActor;
  org: Pick<OrgRow, "id" | "slug" | "isPersonal">;
  userId: string;
}

/** Adds a user who is not a member. The calling code must check permissions. */
export async function addMember(
  tx: Sql,
  change: MemberChange & { username: string; role: OrgRole; invitedBy?: string },
): Promise<void> {
  const { org, userId, role, invitedBy } = change;
  await lockOrg(tx, org.id);
  requireOneOwner(org, role);
  await upsertMember(tx, { orgId: org.id, userId, role });
  const by = invitedBy === undefined ? {} : { invitedBy };
  await record(tx, change, { action: "member.add", from: null, to: role, ...by });
}

/** Changes a member's role. Revokes invitations that they sent and that the new role does not permit. */
export async function changeMemberRole(
  tx: Sql,
  change: MemberChange & { role: OrgRole },
): Promise<OrgMemberRow> {
  const { org, userId, role } = change;
  await lockOrg(tx, org.id);
  const actorRole = await lockActorRole(tx, change);
  requireAllowed(mayManageMembers(actorRole, role));
  const member = await requireMember(tx, change);
  requireAllowed(mayManageMembers(actorRole, member.role));
  if (member.role === role) return member;
  requireOneOwner(org, role);
  if (member.role === "owner") await requireOtherOwner(tx, change);
  await upsertMember(tx, { orgId: org.id, userId, role });
  const roles = ORG_ROLES.filter((invited) => !mayManageMembers(role, invited).ok);
  await revokeSentInvitations(tx, { orgId: org.id, userId, roles });
  await record(tx, { ...change, ...member }, { action: "member.update", from: member.role, to: role });
  return { ...member, role };
}

/**
 * Removes a member, or the actor. Revokes their keys for this organization, which would otherwise work again after a rejoin.
 * Revokes pending invitations to their address, which would let them rejoin, and invitations that they sent. Sessions and other
 * keys stay valid, because their permissions follow from memberships.
 */
export async function endMembership(tx: Sql, change: MemberChange): Promise<OrgMemberRow> {
  const { actor, org, userId } = change;
  await lockOrg(tx, org.id);
  const actorRole = await lockActorRole(tx, change);
  const isLeaving = actor.actorUserId === userId;
  if (!isLeaving) requireAllowed(mayManageMembers(actorRole));
  const member = await requireMember(tx, change);
  if (!isLeaving) requireAllowed(mayManageMembers(actorRole, member.role));
  if (member.role === "owner") await requireOtherOwner(tx, change);
  await deleteMember(tx, { orgId: org.id, userId });
  await revokeInvitationsOf(tx, { orgId: org.id, userId });
  const revokedKeys = await markBoundApiKeysRevoked(tx, { orgId: org.id, userId });
  const what = { action: "member.remove", from: member.role, to: null, revokedKeys };
  await record(tx, { ...change, ...member }, what);
  return member;
}

async function requireMember(tx: Sql, { org, userId }: MemberChange): Promise<OrgMemberRow> {
  const member = await findOrgMember(tx, { orgId: org.id, userId });
  if (!member) throw notFound("member", TEXTS.NOT_FOUND.member(org.slug));
  return member;
}

/** Throws VALIDATION_ERROR for a second owner of a personal organization, which belongs to the user of the same name. */
export function requireOneOwner({ slug, isPersonal }: MemberChange["org"], role: OrgRole): void {
  if (!isPersonal || role !== "owner") return;
  throw new ApiError("VALIDATION_ERROR", {
    message: TEXTS.VALIDATION_ERROR.personalOrg(slug),
    details: { reason: "personal_organization" },
  });
}

async function requireOtherOwner(tx: Sql, { org, userId }: MemberChange): Promise<void> {
  if (org.isPersonal) throw new ApiError("LAST_OWNER", { message: TEXTS.LAST_OWNER.personal(org.slug) });
  if (await existsOtherOwner(tx, { orgId: org.id, userId })) return;
  throw new ApiError("LAST_OWNER", { message: TEXTS.LAST_OWNER.only(org.slug) });
}

interface MembershipNews {
  /** The previous role; null for a new member. */
  from: OrgRole | null;
  /** The new role; null for a former member. */
  to: OrgRole | null;
  /** Username of the invitation's sender. */
  invitedBy?: string;
  revokedKeys?: number;
}

/** Adds the audit entry and queues the mails. Call it after the change. */
async function record(
  tx: Sql,
  change: MemberChange & { username: string },
  { action, ...news }: MembershipNews & { action: string },
): Promise<void> {
  const { actor, org, userId, username } = change;
  await insertAuditEntry(tx, {
    ...actor,
    action,
    subject: { type: "user", id: userId },
    orgId: org.id,
    details: { org: org.slug, username, ...news },
  });
  if (change.boss) await queueAccountMails(tx, change.boss, await listNotices(tx, change, news));
}

/**
 * Lists the mails about a membership change. The member gets one, and so do all owners if an owner or admin is involved. An
 * owner who makes the change gets a mail too, because someone else may be using their session.
 */
async function listNotices(
  tx: Sql,
  { actor, org, userId }: MemberChange,
  { from, to, invitedBy }: MembershipNews,
): Promise<NewAccountMail[]> {
  const member = await findUser(tx, userId);
  if (!member) return [];
  const actorId = actor.actorUserId ?? null;
  const actorName = actorId === null ? null : ((await findUser(tx, actorId))?.username ?? null);
  const change = { member: member.username, actor: actorName, from, to, invitedBy: invitedBy ?? null };
  const about = { orgId: org.id, details: { event: "member", ...change } };
  const concernsOwners = [from, to].some((role) => role === "owner" || role === "admin");
  const owners = concernsOwners ? await listOwners(tx, org.id) : [];
  const mails: NewAccountMail[] = owners
    .filter(({ id }) => id !== userId)
    .map(({ id, email }) => ({ ...about, kind: "organization_notice", userId: id, email }));
  if (from !== null && userId !== actorId && member.disabledAt === null) {
    const kind = to === null ? "removal_notice" : "membership_notice";
    mails.push({ ...about, kind, userId, email: member.email });
  }
  return mails;
}
