/** Table `organization_invitations`. The links of invitations are in `account_mails`. */
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
  /** The invited address, in lower case. */
  email: string;
  role: OrgRole;
  /** The sender's username. */
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
}

/**
 * Returns a query for the pending invitations: not accepted, revoked or expired, and from a sender who may still invite. The
 * sender's account must be enabled. The sender must be an owner, or an admin if the invited role is not owner.
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

/** Returns true if any organization has a pending invitation for an address, ignoring case. */
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
 * Revokes the invitations of an organization that a user has received or sent. Call it when the user stops being a member, inside a
 * transaction that has locked the organization.
 */
export async function revokeInvitationsOf(tx: Sql, { orgId, userId }: MemberKey): Promise<void> {
  const address = fragment`(select lower(email) from users where id = ${userId})`;
  await revoke(tx, fragment`org_id = ${orgId} and (invited_by = ${userId} or email = ${address})`);
}

/**
 * Revokes the invitations that a member has sent for these roles. Their links then stay invalid even if the member regains the
 * right to invite. Call it inside a transaction that has locked the organization.
 */
export async function revokeSentInvitations(
  tx: Sql,
  { orgId, userId, roles }: MemberKey & { roles: readonly OrgRole[] },
): Promise<void> {
  const sent = fragment`org_id = ${orgId} and invited_by = ${userId} and role = any(${[...roles]}::text[])`;
  await revoke(tx, sent);
}

/**
 * Revokes the invitations that a user has sent for any organization. Call it inside a transaction that has disabled the account.
 */
export async function revokeAllSentInvitations(tx: Sql, userId: string): Promise<void> {
  await revoke(tx, fragment`invited_by = ${userId}`);
}

async function revoke(tx: Sql, invitations: Fragment): Promise<void> {
  await tx`
    update organization_invitations
    set revoked_at = now()
    where ${invitations} and accepted_at is null and revoked_at is null`;
}

/** Finds the role in the pending invitation for an address; null if no invitation is pending. */
export async function findInvitedRole(
  sql: Sql,
  { orgId, email }: { orgId: string; email: string },
): Promise<OrgRole | null> {
  return firstValue(sql<{ role: OrgRole }[]>`
    select role
    from (${pendingInvitations(sql)} and i.org_id = ${orgId} and i.email = lower(${email})) as pending`);
}

/**
 * Inserts an invitation from the user `invitedBy`, and revokes the organization's earlier invitation for the address. Stores the
 * address in lower case. Call it inside a transaction that has locked the organization.
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

/** Finds a pending invitation by its id; null if not found. */
export async function findPendingInvitation(sql: Sql, id: string): Promise<InvitationOffer | null> {
  return findOffer(sql, fragment`${id}`);
}

/**
 * Finds the pending invitation that a mail links to; null if not found. Uses a single statement, because `keepInvitationLink`
 * may point the mail to another invitation at any time.
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

/** Returns true if the user's address is `email`, ignoring case. */
export async function isInvited(sql: Sql, key: { userId: string; email: string }): Promise<boolean> {
  return anyRow(sql`
    select
    from users
    where id = ${key.userId} and lower(email) = lower(${key.email})`);
}

/** Counts the pending invitations of an organization, except the one for `exceptEmail`. */
export async function countPendingInvitations(
  sql: Sql,
  key: { orgId: string; exceptEmail: string },
): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*)::int as count
    from (${pendingInvitations(sql)}
      and i.org_id = ${key.orgId} and i.email <> lower(${key.exceptEmail})) as pending`);
}

/** Returns the seconds until the user may send another invitation; 0 if they may now. `limit` is the maximum number per hour. */
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

/**
 * Marks an invitation as accepted. Returns false if it was revoked, for example because its sender's account was disabled
 * meanwhile.
 */
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
