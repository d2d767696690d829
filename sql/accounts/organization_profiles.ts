/** Organizations as everyone sees them. */
import { firstRow, type Sql } from "../connection/pool.ts";

export interface OrgProfileRow {
  slug: string;
  name: string;
  description: string | null;
  websiteUrl: string | null;
  isPersonal: boolean;
  createdAt: string;
  /** Lines with a version that everyone finds in lists. */
  publicDefinitions: number;
  /** Executions of those lines only; those of private lines are not public. */
  totalExecutions: number;
}

/** Finds the public profile of the organization with this slug; null if there is none. */
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
