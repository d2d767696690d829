/** Memberships: a user's role in an organization, and its subscription. */
import type { DefinitionType, OrgRole, SubscriptionTier } from "../../shared/vocabulary.ts";
import { firstRow, type Sql } from "../connection/pool.ts";

/** A membership, with the organization's subscription tier. */
export interface MembershipRow {
  orgId: string;
  slug: string;
  name: string;
  isPersonal: boolean;
  role: OrgRole;
  tier: SubscriptionTier;
  /** Whether sessions without a second factor see nothing of the organization. */
  requireSecondFactor: boolean;
  /** When the organization will be deleted; null if no owner has deleted it. */
  deletesAt: string | null;
}

function membershipsOf(sql: Sql, userId: string) {
  return sql`
    select o.id as org_id, o.slug, o.name, o.is_personal, m.role, o.subscription_tier as tier,
      o.require_second_factor, o.deletes_at
    from organization_members m
    join organizations o on o.id = m.org_id
    where m.user_id = ${userId} and o.deleted_at is null`;
}

/** Finds a user's membership in an organization; null if there is none. */
export async function findMembership(
  sql: Sql,
  key: { userId: string; orgId: string },
): Promise<MembershipRow | null> {
  return firstRow(sql<MembershipRow[]>`${membershipsOf(sql, key.userId)} and o.id = ${key.orgId}`);
}

/** Finds a user's membership by the organization's slug; null if there is none. */
export async function findMembershipBySlug(
  sql: Sql,
  key: { userId: string; slug: string },
): Promise<MembershipRow | null> {
  return firstRow(sql<MembershipRow[]>`${membershipsOf(sql, key.userId)} and o.slug = ${key.slug}`);
}

/** Finds a user's membership in their personal organization; null if there is none. */
export async function findPersonalMembership(sql: Sql, userId: string): Promise<MembershipRow | null> {
  // The user may also be a member of another user's personal organization, but not its owner.
  return firstRow(sql<MembershipRow[]>`
    ${membershipsOf(sql, userId)} and o.is_personal and m.role = 'owner'
    order by o.created_at, o.id
    limit 1`);
}

/** Lists a user's memberships in organizations that have a definition of this name, by slug. */
export async function listMembershipsWithDefinition(
  sql: Sql,
  { userId, type, name }: { userId: string; type: DefinitionType; name: string },
): Promise<MembershipRow[]> {
  return sql<MembershipRow[]>`
    ${membershipsOf(sql, userId)}
      and exists (
        select from definition_lines as l where l.org_id = o.id and l.type = ${type} and l.name = ${name}
      )
    order by o.slug`;
}

/** A membership in an organization that has a definition of this name. */
export interface NamedMembershipRow extends MembershipRow {
  type: DefinitionType;
  name: string;
}

/** Lists a user's memberships in organizations that have a definition of one of these names, by name and slug. */
export async function listMembershipsByName(
  sql: Sql,
  { userId, names }: { userId: string; names: readonly { type: DefinitionType; name: string }[] },
): Promise<NamedMembershipRow[]> {
  return sql<NamedMembershipRow[]>`
    select m.*, l.type, l.name
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

/** Lists all memberships of a user, by the organization's slug. */
export async function listMemberships(sql: Sql, userId: string): Promise<MembershipRow[]> {
  return sql<MembershipRow[]>`${membershipsOf(sql, userId)} order by o.slug`;
}
