/** Mails about changes of members: to the owners if owners or admins change, and to the member. */
import type { OrgRole } from "../../../shared/vocabulary.ts";
import { type NewAccountMail, queueAccountMail } from "../../../sql/accounts/account_mails.ts";
import type { AuditActor } from "../../../sql/accounts/audit_log.ts";
import { listOwners } from "../../../sql/accounts/orgs.ts";
import { findUser } from "../../../sql/accounts/users.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { Boss } from "../../../sql/queue.ts";

export interface MembershipNews {
  actor: AuditActor;
  orgId: string;
  userId: string;
  /** Null for a new member. */
  from: OrgRole | null;
  /** Null for a former member. */
  to: OrgRole | null;
  /** Username of the sender of the invitation. */
  invitedBy?: string;
}

/** Queues the mails. The actor gets none: they know. Call inside the transaction of the change, after it. */
export async function notifyOfMembership(tx: Sql, boss: Boss, news: MembershipNews): Promise<void> {
  const { actor, orgId, userId, from, to, invitedBy = null } = news;
  const member = await findUser(tx, userId);
  if (!member) return;
  const actorId = actor.actorUserId ?? null;
  const actorName = actorId === null ? null : ((await findUser(tx, actorId))?.username ?? null);
  const details = { event: "member", member: member.username, actor: actorName, from, to, invitedBy };
  const about = { orgId, details };
  const concernsOwners = [from, to].some((role) => role === "owner" || role === "admin");
  const owners = concernsOwners ? await listOwners(tx, orgId) : [];
  const mails: NewAccountMail[] = owners
    .filter(({ id }) => id !== actorId && id !== userId)
    .map(({ id, email }) => ({ ...about, kind: "organization_notice", userId: id, email }));
  if (from !== null && userId !== actorId && member.disabledAt === null) {
    mails.push({ ...about, kind: "membership_notice", userId, email: member.email });
  }
  // In one order, because each takes a lock of its address.
  mails.sort((a, b) => (a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1));
  for (const mail of mails) await queueAccountMail(tx, boss, mail);
}
