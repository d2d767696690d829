/** Counts an organization's definitions, for its quotas and by visibility. */
import { onlyRow, type Sql } from "../connection/pool.ts";

export interface DefinitionQuotas {
  drafts: number;
  lines: number;
  /** Size of the YAML of all versions, in bytes. */
  yamlBytes: number;
}

export async function countDefinitionQuotas(sql: Sql, orgId: string): Promise<DefinitionQuotas> {
  return onlyRow(sql<[DefinitionQuotas]>`
    select
      (select count(*) from definitions as d where d.org_id = ${orgId} and d.status = 'draft') as drafts,
      count(*) as lines,
      coalesce(sum(l.yaml_bytes), 0)::bigint as yaml_bytes
    from definition_lines as l
    where l.org_id = ${orgId}`);
}

/** Number of definitions of an organization, by visibility. */
export interface DefinitionUsage {
  /** Number of private and unlisted definitions. */
  private: number;
  public: number;
  total: number;
}

/** Counts lines by the visibility of their highest version that is not archived. Lines with only archived versions do not count. */
export async function countDefinitionUsage(sql: Sql, orgId: string): Promise<DefinitionUsage> {
  return onlyRow(sql<[DefinitionUsage]>`
    select
      count(*) filter (where latest.visibility <> 'public') as private,
      count(*) filter (where latest.visibility = 'public') as public,
      count(*) as total
    from definition_lines as l
    cross join lateral (
      select d.visibility
      from definitions as d
      where d.line_id = l.id and d.status <> 'archived'
      order by d.version_major desc, d.version_minor desc, d.version_patch desc
      limit 1
    ) as latest
    where l.org_id = ${orgId}`);
}
