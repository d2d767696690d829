/** Table `organizations`. */
import type { SubscriptionTier } from "../../shared/vocabulary.ts";
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
  /** The time of the scheduled deletion; null if no deletion is scheduled. */
  deletesAt: string | null;
}

/** Finds an organization by its id; null if the organization does not exist or is deleted. */
export async function findOrgById(sql: Sql, id: string): Promise<OrgRow | null> {
  return firstRow(sql<OrgRow[]>`
    select ${sql(COLUMNS)}
    from organizations
    where id = ${id} and deleted_at is null`);
}

/** Finds an organization by its slug; null if the organization does not exist or is deleted. */
export async function findOrgBySlug(sql: Sql, slug: string): Promise<OrgRow | null> {
  return firstRow(sql<OrgRow[]>`
    select ${sql(COLUMNS)}
    from organizations
    where slug = ${slug} and deleted_at is null`);
}

/**
 * Finds the id of the organization whose definitions have this slug in their names; null if not found. Deleted organizations
 * are included.
 */
export async function findDefinitionOwnerId(sql: Sql, slug: string): Promise<string | null> {
  return firstValue(sql<{ id: string }[]>`
    select id
    from organizations
    where slug = ${slug}`);
}

/** Returns the slugs of organizations by id. Deleted organizations are included. */
export async function listOrgSlugs(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; slug: string }[]>`
    select id, slug
    from organizations
    where id = any(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, slug }) => [id, slug]));
}

/** The public profile of an organization. */
export interface OrgProfileRow extends Pick<OrgRow, "slug" | "name" | "isPersonal" | "createdAt"> {
  description: string | null;
  websiteUrl: string | null;
  /** The number of definition lines with a public version that is not quarantined. */
  publicDefinitions: number;
  /** The number of executions of these lines only. */
  totalExecutions: number;
}

/** Finds an organization's public profile by slug; null if the organization does not exist or is deleted. */
export async function findOrgProfile(sql: Sql, slug: string): Promise<OrgProfileRow | null> {
  return firstRow(sql<OrgProfileRow[]>`
    select
      o.slug, o.name, o.description, o.website_url, o.is_personal, o.created_at,
      counted.public_definitions, counted.total_executions
    from organizations as o
    cross join lateral (
      select count(*) as public_definitions, coalesce(sum(l.execution_count), 0)::bigint as total_executions
      from definition_lines as l
      where l.org_id = o.id
        and exists (
          select
          from definitions as d
          where d.line_id = l.id and definition_is_public(d.status, d.visibility) and d.quarantined_at is null
        )
    ) as counted
    where o.slug = ${slug} and o.deleted_at is null`);
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
 * Locks an organization until the transaction ends. Rows that refer to the organization can still be inserted. Call it inside a
 * transaction.
 */
export async function lockOrg(sql: Sql, orgId: string): Promise<void> {
  await sql`
    select
    from organizations
    where id = ${orgId}
    for no key update`;
}

export async function existsOrg(sql: Sql): Promise<boolean> {
  return anyRow(sql`select from organizations limit 1`);
}

export interface NewOrg extends Pick<OrgRow, "slug" | "name" | "isPersonal" | "subscriptionTier"> {
  /** The user whose quota the organization counts toward; null for a personal organization or one that an operator created. */
  createdBy?: string | null;
}

/** Counts the organizations that a user has created, except deleted ones. */
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

/** The fields of an organization that can be changed. Omitted fields keep their values. */
export interface OrgChanges {
  name?: string;
  description?: string | null;
  websiteUrl?: string | null;
  requireSecondFactor?: boolean;
}

/** Updates an organization that is not deleted. `changes` must not be empty. */
export async function updateOrg(sql: Sql, slug: string, changes: OrgChanges): Promise<void> {
  await sql`
    update organizations
    set ${sql({ ...changes })}, updated_at = now()
    where slug = ${slug} and deleted_at is null`;
}

/** Updates an organization's subscription tier. Returns null if the organization does not exist or is deleted. */
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
