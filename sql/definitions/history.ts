/** The version history of a line. */
import type { Sql } from "../connection/pool.ts";
import { selectFields } from "./field_type.ts";
import { VERSION_FIELDS, type Version } from "./fields.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

const COLUMNS = selectFields(VERSION_FIELDS, "sql");

export interface VersionHistoryPage {
  /** Number of versions on all pages. */
  total: number;
  versions: Version[];
}

/** Returns a page of the versions of a line visible to the viewer, in any status, highest first. */
export async function listVersionHistory(
  sql: Sql,
  query: { lineId: string; viewer: DefinitionViewer; limit: number; offset: number },
): Promise<VersionHistoryPage> {
  const visible = sql`d.line_id = ${query.lineId} and ${isVisible(sql, query.viewer)}`;
  const rows = await sql<(Version & { total: number })[] | { id: null; total: number }[]>`
    select counted.total, page.*
    from (select count(*) as total from definitions as d where ${visible}) as counted
    left join lateral (
      select ${sql.unsafe(COLUMNS)}
      from definitions as d
      where ${visible}
      order by d.version_major desc, d.version_minor desc, d.version_patch desc
      limit ${query.limit} offset ${query.offset}
    ) as page on true`;
  // An outer join, so that a page after the last one still has a row with the total.
  const versions = rows.flatMap((row) => (row.id === null ? [] : [withoutTotal(row)]));
  return { total: rows[0]?.total ?? 0, versions };
}

function withoutTotal({ total: _, ...version }: Version & { total: number }): Version {
  return version;
}
