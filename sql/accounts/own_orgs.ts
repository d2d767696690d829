/** Organizations and their members, as a member sees them. */
import { ORG_ROLES, type OrgRole } from "../../shared/vocabulary.ts";
import { firstRow, type Sql } from "../connection/pool.ts";
import type { MemberKey } from "./organization_members.ts";
import type { OrgListRow } from "./orgs.ts";

/** An organization as a member sees it. */
export interface OwnOrgRow extends OrgListRow {
  description: string | null;
  websiteUrl: string | null;
  /** The member's role in the organization. */
  role: OrgRole;
  /** Whether the organization is hidden from sessions without a second factor. */
  requireSecondFactor: boolean;
}

function ownOrgs(sql: Sql, userId: string) {
  return sql`
    select
      o.id, o.slug, o.name, o.description, o.website_url, o.is_personal, m.role, o.subscription_tier, o.created_at,
      o.deletes_at, o.require_second_factor,
      (select count(*) from organization_members c where c.org_id = o.id) as member_count
    from organization_members m
    join organizations o on o.id = m.org_id
    where m.user_id = ${userId} and o.deleted_at is null`;
}

/** Lists the organizations of a user, ordered by slug. If `orgId` is not null, lists only that organization. */
export async function listOwnOrgs(
  sql: Sql,
  key: { userId: string; orgId: string | null },
): Promise<OwnOrgRow[]> {
  return sql<OwnOrgRow[]>`
    ${ownOrgs(sql, key.userId)}
      and (${key.orgId}::uuid is null or o.id = ${key.orgId})
    order by o.slug`;
}

/** Finds an organization by its slug; null if the organization does not exist or the user is not a member. */
export async function findOwnOrg(sql: Sql, key: { userId: string; slug: string }): Promise<OwnOrgRow | null> {
  return firstRow(sql<OwnOrgRow[]>`${ownOrgs(sql, key.userId)} and o.slug = ${key.slug}`);
}

export interface OrgMemberRow {
  userId: string;
  username: string;
  name: string | null;
  avatar: string | null;
  role: OrgRole;
  joinedAt: string;
}

function orgMembers(sql: Sql, orgId: string) {
  return sql`
    select m.user_id, u.username, u.name, u.avatar, m.role, m.joined_at
    from organization_members m
    join users u on u.id = m.user_id
    where m.org_id = ${orgId}`;
}

/** Finds a member of an organization; null if the user is not a member. */
export async function findOrgMember(sql: Sql, { orgId, userId }: MemberKey): Promise<OrgMemberRow | null> {
  return firstRow(sql<OrgMemberRow[]>`${orgMembers(sql, orgId)} and m.user_id = ${userId}`);
}

/** Lists the members of an organization, ordered by role (highest first) and username. */
export async function listOrgMembers(sql: Sql, orgId: string): Promise<OrgMemberRow[]> {
  return sql<OrgMemberRow[]>`
    ${orgMembers(sql, orgId)}
    order by array_position(${[...ORG_ROLES]}::text[], m.role) desc, u.username`;
}
