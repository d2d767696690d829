/**
 * The project of a request, for members of its organization. Others get null, and so the 404 of a project that does not
 * exist.
 */
import type { OrgRole, SubscriptionTier } from "../../shared/vocabulary.ts";
import { firstRow, type Sql } from "../connection/pool.ts";
import type { ProjectRow } from "./projects.ts";

/** A project as a member of its organization sees it. */
export interface VisibleProjectRow extends Pick<ProjectRow, "id" | "name" | "slug" | "orgId"> {
  orgSlug: string;
  orgName: string;
  /** The member's role in the organization. */
  role: OrgRole;
  subscriptionTier: SubscriptionTier;
  requireSecondFactor: boolean;
}

/**
 * Finds a project by id in the organizations of a user, or only in `orgId` if it is not null. Returns null if it is
 * deleted, does not exist or belongs to other organizations.
 */
export async function findVisibleProject(
  sql: Sql,
  key: { id: string; userId: string; orgId: string | null },
): Promise<VisibleProjectRow | null> {
  return firstRow(sql<VisibleProjectRow[]>`
    ${visibleProjects(sql, key.userId)}
      and p.id = ${key.id}
      and (${key.orgId}::uuid is null or p.org_id = ${key.orgId})`);
}

/** Finds a project of an organization by its slug or name, the slug first; `null` as `findVisibleProject`. */
export async function findVisibleProjectByName(
  sql: Sql,
  key: { name: string; userId: string; orgId: string },
): Promise<VisibleProjectRow | null> {
  return firstRow(sql<VisibleProjectRow[]>`
    ${visibleProjects(sql, key.userId)}
      and p.org_id = ${key.orgId}
      and (p.slug = ${key.name} or p.name = ${key.name})
    order by p.slug = ${key.name} desc
    limit 1`);
}

/** What hides a project: its organization has no such member, or it is deleted. Conditions follow, with `and`. */
function visibleProjects(sql: Sql, userId: string) {
  return sql`
    select
      p.id, p.name, p.slug, p.org_id, o.slug as org_slug, o.name as org_name, m.role, o.subscription_tier, o.require_second_factor
    from projects as p
    join organizations as o on o.id = p.org_id
    join organization_members as m on m.org_id = p.org_id and m.user_id = ${userId}
    where p.deleted_at is null`;
}
