/** The versions of several lines at once. */
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

/** A version of a line, in any status. */
export interface LineVersionRow {
  id: string;
  orgId: string;
  lineId: string;
  type: DefinitionType;
  name: string;
  version: string;
  /** Whether a range can resolve to it: published or deprecated, visible and not quarantined. */
  isResolvable: boolean;
}

/** Returns the versions of the organization's lines of these distinct names, those of each line in ascending order. */
export async function listLineVersions(
  sql: Sql,
  options: {
    orgId: string;
    names: readonly { type: DefinitionType; name: string }[];
    viewer: DefinitionViewer;
  },
): Promise<LineVersionRow[]> {
  return sql<LineVersionRow[]>`
    select
      d.id, d.org_id, d.line_id, d.type, d.name, d.version,
      d.status in ('published', 'deprecated') and d.quarantined_at is null and ${isVisible(sql, options.viewer)}
        as is_resolvable
    from unnest(
      ${options.names.map(({ type }) => type)}::text[], ${options.names.map(({ name }) => name)}::text[]
    ) as n (type, name)
    join definition_lines as l on l.org_id = ${options.orgId} and l.type = n.type and l.name = n.name
    join definitions as d on d.line_id = l.id
    order by d.line_id, d.version_major, d.version_minor, d.version_patch`;
}
