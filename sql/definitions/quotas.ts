/** Counts how much of its quotas an organization has used. */
import type { Sql } from "../connection/pool.ts";

export interface DefinitionQuotas {
  drafts: number;
  lines: number;
  /** Bytes of YAML of all versions. */
  yamlBytes: number;
}

export async function countDefinitionQuotas(sql: Sql, orgId: string): Promise<DefinitionQuotas> {
  const [row] = await sql<[DefinitionQuotas]>`
    select
      (select count(*) from definitions as d where d.org_id = ${orgId} and d.status = 'draft') as drafts,
      count(*) as lines,
      coalesce(sum(l.yaml_bytes), 0)::bigint as yaml_bytes
    from definition_lines as l
    where l.org_id = ${orgId}`;
  return row;
}
