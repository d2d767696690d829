/** Table `organization_invitations`. Their links are in `account_mails`. */
import type { OrgRole } from "../../shared/vocabulary.ts";
import {
  anyRow,
  type Fragment,
  firstRow,
  firstValue,
  fragment,
  onlyRow,
  onlyValue,
  type Sql,
} from "../connection/pool.ts";
import type { MemberKey } from "./organization_members.ts";

export interface InvitationRow {
  id: string;
  /** In lower case. */
  email: string;
  role: OrgRole;
  /** Username of its sender. */
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
}

/**
 * The pending invitations: neither accepted, revoked nor expired, and their senders may still invite: they are owners, or
 * admins who invite no owner, and their accounts are enabled.
 */
function pendingInvitations(sql: Sql) {
  return sql`
    select i.id, i.org_id, i.email, i.role, i.created_at, i.expires_at, u.username as invited_by
    from organization_invitations i
    join organization_members m on m.org_id = i.org_id and m.user_id = i.invited_by
    join users u on u.id = i.invited_by
    where i.accepted_at is null
      and i.revoked_at is null
      and i.expires_at > now()
      and (m.role = 'owner' or m.role = 'admin' and i.role <> 'owner')
      and u.disabled_at is null`;
}

/** Returns true if any organization has invited this address, in any case, and the invitation is pending. */
export async function existsPendingInvitation(sql: Sql, email: string): Promise<boolean> {
  return anyRow(sql`${pendingInvitations(sql)} and i.email = lower(${email}) limit 1`);
}

/** Lists the pending invitations of an organization, newest first. */
export async function listPendingInvitations(sql: Sql, orgId: string): Promise<InvitationRow[]> {
  return sql<InvitationRow[]>`
    select id, email, role, invited_by, created_at, expires_at
    from (${pendingInvitations(sql)} and i.org_id = ${orgId}) as pending
    order by created_at desc, id`;
}

/**
 * Revokes what has invited the address of a user, and what the user has sent. Call it inside a transaction that has locked
 * the organization, when the user stops being a member.
 */
export async function revokeInvitationsOf(tx: Sql, { orgId, userId }: MemberKey): Promise<void> {
  const address = fragment`(select lower(email) from users where id = ${userId})`;
  await revoke(tx, fragment`org_id = ${orgId} and (invited_by = ${userId} or email = ${address})`);
}

/**
 * Revokes what a member has sent to these roles, so that the links stay dead if the member may invite again. Call it inside
 * a transaction that has locked the organization.
 */
export async function revokeSentInvitations(
  tx: Sql,
  { orgId, userId, roles }: MemberKey & { roles: readonly OrgRole[] },
): Promise<void> {
  const sent = fragment`org_id = ${orgId} and invited_by = ${userId} and role = any(${[...roles]}::text[])`;
  await revoke(tx, sent);
}

/** Revokes what a user has sent to any organization. Call it inside a transaction that has disabled the account. */
export async function revokeAllSentInvitations(tx: Sql, userId: string): Promise<void> {
  await revoke(tx, fragment`invited_by = ${userId}`);
}

async function revoke(tx: Sql, invitations: Fragment): Promise<void> {
  await tx`
    update organization_invitations
    set revoked_at = now()
    where ${invitations} and accepted_at is null and revoked_at is null`;
}

/** Finds the role of the pending invitation of an address; null without one. */
export async function findInvitedRole(
  sql: Sql,
  { orgId, email }: { orgId: string; email: string },
): Promise<OrgRole | null> {
  return firstValue(sql<{ role: OrgRole }[]>`
    select role
    from (${pendingInvitations(sql)} and i.org_id = ${orgId} and i.email = lower(${email})) as pending`);
}

/**
 * Inserts an invitation of a user (`invitedBy`) to an address in any case, and revokes an earlier one of the address. Call it
 * inside a transaction that has locked the organization.
 */
export async function insertInvitation(
  tx: Sql,
  { orgId, email, role, invitedBy }: { orgId: string; email: string; role: OrgRole; invitedBy: string },
): Promise<Omit<InvitationRow, "invitedBy">> {
  await revoke(tx, fragment`org_id = ${orgId} and email = lower(${email})`);
  return onlyRow(tx<[Omit<InvitationRow, "invitedBy">]>`
    insert into organization_invitations (org_id, email, role, invited_by)
    values (${orgId}, lower(${email}), ${role}, ${invitedBy})
    returning id, email, role, created_at, expires_at`);
}

export interface InvitationOffer extends InvitationRow {
  orgId: string;
  orgSlug: string;
  orgName: string;
}

/** Finds a pending invitation; null if there is none with this id. */
export async function findPendingInvitation(sql: Sql, id: string): Promise<InvitationOffer | null> {
  return findOffer(sql, fragment`${id}`);
}

/**
 * Finds the pending invitation that a mail leads to; null without one. A single statement, because another invitation may take
 * its place at any time (`keepInvitationLink`).
 */
export async function findMailedInvitation(sql: Sql, mailId: string): Promise<InvitationOffer | null> {
  return findOffer(
    sql,
    fragment`(select (details ->> 'invitationId')::uuid from account_mails where id = ${mailId})`,
  );
}

async function findOffer(sql: Sql, id: Fragment): Promise<InvitationOffer | null> {
  return firstRow(sql<InvitationOffer[]>`
    select
      p.id, p.email, p.role, p.invited_by, p.created_at, p.expires_at,
      o.id as org_id, o.slug as org_slug, o.name as org_name
    from (${pendingInvitations(sql)} and i.id = ${id}) as p
    join organizations o on o.id = p.org_id`);
}

/** Returns true if the account has the address of the invitation. */
export async function isInvited(sql: Sql, key: { userId: string; email: string }): Promise<boolean> {
  return anyRow(sql`
    select
    from users
    where id = ${key.userId} and lower(email) = lower(${key.email})`);
}

/** Counts the pending invitations of an organization, without the one of `exceptEmail`. */
export async function countPendingInvitations(
  sql: Sql,
  key: { orgId: string; exceptEmail: string },
): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*)::int as count
    from (${pendingInvitations(sql)}
      and i.org_id = ${key.orgId} and i.email <> lower(${key.exceptEmail})) as pending`);
}

/** Returns the seconds until the user may invite again, with at most `limit` invitations an hour; 0 if they may now. */
export async function findInvitationWait(
  sql: Sql,
  { userId, limit }: { userId: string; limit: number },
): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from created_at + interval '1 hour' - now()))::int as seconds
    from organization_invitations
    where invited_by = ${userId} and created_at > now() - interval '1 hour'
    order by created_at desc
    offset ${limit - 1}
    limit 1`;
  return Math.max(0, row?.seconds ?? 0);
}

/** Accepts an invitation; false if it has been revoked, as when its sender's account is disabled at the same time. */
export async function markInvitationAccepted(tx: Sql, id: string): Promise<boolean> {
  return anyRow(tx`
    update organization_invitations
    set accepted_at = now()
    where id = ${id} and revoked_at is null
    returning id`);
}

/** Revokes an open invitation. Call it inside a transaction that has locked the organization. */
export async function markInvitationRevoked(tx: Sql, id: string): Promise<void> {
  await revoke(tx, fragment`id = ${id}`);
}
