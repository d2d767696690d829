/** Tables `organizations` and `organization_members`. */
import { ORG_ROLES, type OrgRole, type SubscriptionTier } from "../../shared/vocabulary.ts";
import { anyRow, firstRow, firstValue, onlyRow, onlyValue, type Sql } from "../connection/pool.ts";

const COLUMNS = ["id", "slug", "name", "is_personal", "subscription_tier", "created_at", "deletes_at"];

export interface OrgRow {
  id: string;
  slug: string;
  name: string;
  /** True for a user's personal organization; its slug is the username. */
  isPersonal: boolean;
  subscriptionTier: SubscriptionTier;
  createdAt: string;
  /** When it will be deleted; null if no owner has deleted it. */
  deletesAt: string | null;
}

export interface MemberKey {
  orgId: string;
  userId: string;
}

/** Finds an organization by its id; null if there is none, or it is deleted. */
export async function findOrgById(sql: Sql, id: string): Promise<OrgRow | null> {
  return firstRow(sql<OrgRow[]>`
    select ${sql(COLUMNS)}
    from organizations
    where id = ${id} and deleted_at is null`);
}

/** Finds an organization by its slug; null if there is none, or it is deleted. */
export async function findOrgBySlug(sql: Sql, slug: string): Promise<OrgRow | null> {
  return firstRow(sql<OrgRow[]>`
    select ${sql(COLUMNS)}
    from organizations
    where slug = ${slug} and deleted_at is null`);
}

/** Finds whose definitions have this slug before their names, also a deleted organization's; null if there are none. */
export async function findDefinitionOwnerId(sql: Sql, slug: string): Promise<string | null> {
  return firstValue(sql<{ id: string }[]>`
    select id
    from organizations
    where slug = ${slug}`);
}

export interface OrgListRow extends OrgRow {
  memberCount: number;
}

/** Lists all organizations that are not deleted, newest first. */
export async function listOrgs(sql: Sql): Promise<OrgListRow[]> {
  return sql<OrgListRow[]>`
    select
      ${sql(COLUMNS)},
      (select count(*)::int from organization_members m where m.org_id = o.id) as member_count
    from organizations o
    where deleted_at is null
    order by created_at desc, id`;
}

/**
 * Locks the organization until the transaction ends. Rows that refer to it can still be added. Call it inside a
 * transaction.
 */
export async function lockOrg(sql: Sql, orgId: string): Promise<void> {
  await sql`
    select
    from organizations
    where id = ${orgId}
    for no key update`;
}

/** Finds the role of a user in an organization; null if the user is not a member. */
export async function findMemberRole(sql: Sql, key: MemberKey): Promise<OrgRole | null> {
  return firstValue(sql<{ role: OrgRole }[]>`
    select role
    from organization_members
    where org_id = ${key.orgId} and user_id = ${key.userId}`);
}

/**
 * Finds the role as `findMemberRole` does, and keeps it from changing until the transaction ends. Call it after every lock of
 * the organization and of what the transaction changes, and after inserts that refer to the organization: changes of
 * members and the deletion of organizations lock in this order.
 */
export async function lockMemberRole(tx: Sql, key: MemberKey): Promise<OrgRole | null> {
  return firstValue(tx<{ role: OrgRole }[]>`
    select role
    from organization_members
    where org_id = ${key.orgId} and user_id = ${key.userId}
    for share`);
}

/** Finds the id of the organization's longest-standing owner; null if it has no owner. */
export async function findFirstOwnerId(sql: Sql, orgId: string): Promise<string | null> {
  return firstValue(sql<{ userId: string }[]>`
    select user_id
    from organization_members
    where org_id = ${orgId} and role = 'owner'
    order by joined_at, user_id
    limit 1`);
}

/** Returns true if the organization has an owner other than this user, with an account that is not disabled. */
export async function existsOtherOwner(sql: Sql, { orgId, userId }: MemberKey): Promise<boolean> {
  return anyRow(sql`
    select
    from organization_members m
    join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.role = 'owner' and m.user_id <> ${userId} and u.disabled_at is null
    limit 1`);
}

/** Lists up to 100 owners whose accounts are enabled, the longest-standing ones first. */
export async function listOwners(sql: Sql, orgId: string): Promise<{ id: string; email: string }[]> {
  return sql<{ id: string; email: string }[]>`
    select u.id, u.email
    from organization_members m
    join users u on u.id = m.user_id
    where m.org_id = ${orgId} and m.role = 'owner' and u.disabled_at is null
    order by m.joined_at, u.id
    limit 100`;
}

/** Finds the id of the longest-standing member with the highest role; null if there are no members. */
export async function findLeadingMemberId(sql: Sql, orgId: string): Promise<string | null> {
  return firstValue(sql<{ userId: string }[]>`
    select user_id
    from organization_members
    where org_id = ${orgId}
    order by array_position(${[...ORG_ROLES]}::text[], role) desc, joined_at, user_id
    limit 1`);
}

export async function existsOrg(sql: Sql): Promise<boolean> {
  return anyRow(sql`select from organizations limit 1`);
}

export interface NewOrg {
  slug: string;
  name: string;
  isPersonal: boolean;
  subscriptionTier: SubscriptionTier;
  /** The user whose quota it counts for; null if an operator created it, and for personal ones. */
  createdBy?: string | null;
}

/** Counts the organizations that a user created and that are not deleted. */
export async function countCreatedOrgs(sql: Sql, userId: string): Promise<number> {
  return onlyValue(sql<[{ count: number }]>`
    select count(*)::int as count
    from organizations
    where created_by = ${userId} and deleted_at is null`);
}

/** Inserts an organization without members. Violates organizations_slug_key if the slug is taken. */
export async function insertOrg(sql: Sql, org: NewOrg): Promise<OrgRow> {
  return onlyRow(sql<[OrgRow]>`
    insert into organizations (slug, name, is_personal, subscription_tier, created_by)
    values (${org.slug}, ${org.name}, ${org.isPersonal}, ${org.subscriptionTier}, ${org.createdBy ?? null})
    returning ${sql(COLUMNS)}`);
}

export async function upsertMember(sql: Sql, member: MemberKey & { role: OrgRole }): Promise<void> {
  await sql`
    insert into organization_members (org_id, user_id, role)
    values (${member.orgId}, ${member.userId}, ${member.role})
    on conflict on constraint organization_members_pkey do update
    set role = excluded.role`;
}

/** The fields of an organization that can be changed; omitted ones stay. */
export interface OrgChanges {
  name?: string;
  description?: string | null;
  websiteUrl?: string | null;
  requireSecondFactor?: boolean;
}

/** Changes an organization that is not deleted; `changes` must not be empty. */
export async function updateOrg(sql: Sql, slug: string, changes: OrgChanges): Promise<void> {
  await sql`
    update organizations
    set ${sql({ ...changes })}, updated_at = now()
    where slug = ${slug} and deleted_at is null`;
}

/** Changes an organization's subscription tier; null if no organization has the slug. */
export async function updateOrgTier(
  sql: Sql,
  org: { slug: string; subscriptionTier: SubscriptionTier },
): Promise<OrgRow | null> {
  return firstRow(sql<OrgRow[]>`
    update organizations
    set subscription_tier = ${org.subscriptionTier}, updated_at = now()
    where slug = ${org.slug} and deleted_at is null
    returning ${sql(COLUMNS)}`);
}

/** Deletes a membership and returns its role; null if there was none. */
export async function deleteMember(sql: Sql, key: MemberKey): Promise<OrgRole | null> {
  return firstValue(sql<{ role: OrgRole }[]>`
    delete from organization_members
    where org_id = ${key.orgId} and user_id = ${key.userId}
    returning role`);
}
