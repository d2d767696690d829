/** Table `organization_members`: a user's role in an organization. */
import {
  type DefinitionType,
  ORG_ROLES,
  type OrgRole,
  type SubscriptionTier,
} from "../../shared/vocabulary.ts";
import { anyRow, firstRow, firstValue, type Sql } from "../connection/pool.ts";
import type { OrgRow } from "./orgs.ts";

export interface MemberKey {
  orgId: string;
  userId: string;
}

/** A membership, with the organization's subscription tier. */
export interface MembershipRow extends Pick<OrgRow, "slug" | "name" | "isPersonal" | "deletesAt"> {
  orgId: string;
  role: OrgRole;
  tier: SubscriptionTier;
  /** Whether the organization is hidden from sessions without a second factor. */
  requireSecondFactor: boolean;
}

function membershipsOf(sql: Sql, userId: string) {
  return sql`
    select o.id as org_id, o.slug, o.name, o.is_personal, m.role, o.subscription_tier as tier,
      o.require_second_factor, o.deletes_at
    from organization_members m
    join organizations o on o.id = m.org_id
    where m.user_id = ${userId} and o.deleted_at is null`;
}

/** Finds a user's membership in an organization; null if the user is not a member. */
export async function findMembership(sql: Sql, key: MemberKey): Promise<MembershipRow | null> {
  return firstRow(sql<MembershipRow[]>`${membershipsOf(sql, key.userId)} and o.id = ${key.orgId}`);
}

/** Finds a user's membership by the organization's slug; null if the user is not a member. */
export async function findMembershipBySlug(
  sql: Sql,
  key: { userId: string; slug: string },
): Promise<MembershipRow | null> {
  return firstRow(sql<MembershipRow[]>`${membershipsOf(sql, key.userId)} and o.slug = ${key.slug}`);
}

/** Finds a user's membership in their own personal organization; null if not found. */
export async function findPersonalMembership(sql: Sql, userId: string): Promise<MembershipRow | null> {
  // The user may also be a member of another user's personal organization, but not its owner.
  return firstRow(sql<MembershipRow[]>`
    ${membershipsOf(sql, userId)} and o.is_personal and m.role = 'owner'
    order by o.created_at, o.id
    limit 1`);
}

/** A membership in an organization that has a definition with this type and name. */
export interface NamedMembershipRow extends MembershipRow {
  type: DefinitionType;
  definitionName: string;
}

/** Lists a user's memberships in organizations that have a definition with one of these names, ordered by name, type and slug. */
export async function listMembershipsByName(
  sql: Sql,
  { userId, names }: { userId: string; names: readonly { type: DefinitionType; name: string }[] },
): Promise<NamedMembershipRow[]> {
  return sql<NamedMembershipRow[]>`
    select m.*, l.type, l.name as definition_name
    from (${membershipsOf(sql, userId)}) as m
    join definition_lines as l on l.org_id = m.org_id
    join (
      select distinct type, name
      from unnest(
        ${names.map(({ type }) => type)}::text[], ${names.map(({ name }) => name)}::text[]
      ) as given (type, name)
    ) as n on n.type = l.type and n.name = l.name
    order by l.name, l.type, m.slug`;
}

/** Lists all memberships of a user, ordered by the organization's slug. */
export async function listMemberships(sql: Sql, userId: string): Promise<MembershipRow[]> {
  return sql<MembershipRow[]>`${membershipsOf(sql, userId)} order by o.slug`;
}

/** Finds the role of a user in an organization; null if the user is not a member. */
export async function findMemberRole(sql: Sql, key: MemberKey): Promise<OrgRole | null> {
  return firstValue(sql<{ role: OrgRole }[]>`
    select role
    from organization_members
    where org_id = ${key.orgId} and user_id = ${key.userId}`);
}

/**
 * Finds a member's role like `findMemberRole`, and locks the membership until the transaction ends. Call it after locking the
 * organization and the rows that the transaction changes, and after inserting rows that refer to the organization. Membership
 * changes and organization deletions take their locks in this order.
 */
export async function lockMemberRole(tx: Sql, key: MemberKey): Promise<OrgRole | null> {
  return firstValue(tx<{ role: OrgRole }[]>`
    select role
    from organization_members
    where org_id = ${key.orgId} and user_id = ${key.userId}
    for share`);
}

/** Returns true if the organization has another owner whose account is enabled. */
export async function existsOtherOwner(sql: Sql, { orgId, userId }: MemberKey): Promise<boolean> {
  return anyRow(sql`
    select
    from organization_members m
    join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.role = 'owner' and m.user_id <> ${userId} and u.disabled_at is null
    limit 1`);
}

/** Lists up to 100 owners whose accounts are enabled, longest-standing first. */
export async function listOwners(sql: Sql, orgId: string): Promise<{ id: string; email: string }[]> {
  return sql<{ id: string; email: string }[]>`
    select u.id, u.email
    from organization_members m
    join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.role = 'owner' and u.disabled_at is null
    order by m.joined_at, u.id
    limit 100`;
}

/** Finds the longest-standing member with the highest role; null if there are no members. */
export async function findLeadingMember(
  sql: Sql,
  orgId: string,
): Promise<{ userId: string; role: OrgRole } | null> {
  return firstRow(sql<{ userId: string; role: OrgRole }[]>`
    select user_id, role
    from organization_members
    where org_id = ${orgId}
    order by array_position(${[...ORG_ROLES]}::text[], role) desc, joined_at, user_id
    limit 1`);
}

export async function upsertMember(sql: Sql, member: MemberKey & { role: OrgRole }): Promise<void> {
  await sql`
    insert into organization_members (org_id, user_id, role)
    values (${member.orgId}, ${member.userId}, ${member.role})
    on conflict on constraint organization_members_pkey do update
    set role = excluded.role`;
}

export async function deleteMember(sql: Sql, key: MemberKey): Promise<void> {
  await sql`
    delete from organization_members
    where org_id = ${key.orgId} and user_id = ${key.userId}`;
}
