/**
 * Finds the project of a request if the caller is a member of its organization. Other callers get null, and thus the same 404 as
 * for a project that does not exist.
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
 * Finds a project by id in the organizations of a user, or only in `orgId` if it is not null. Returns null if the project does not
 * exist, is deleted or belongs to another organization.
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

/**
 * Finds a project of an organization by its slug or name. A match by slug takes precedence. Returns null in the same cases as
 * `findVisibleProject`.
 */
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

/** Returns a query for the projects that a user can see: not deleted, in the user's organizations. Callers append conditions. */
function visibleProjects(sql: Sql, userId: string) {
  return sql`
    select
      p.id, p.name, p.slug, p.org_id, o.slug as org_slug, o.name as org_name, m.role, o.subscription_tier, o.require_second_factor
    from projects as p
    join organizations as o on o.id = p.org_id
    join organization_members as m on m.org_id = p.org_id and m.user_id = ${userId}
    where p.deleted_at is null`;
}
