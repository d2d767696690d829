/** Lists the dependents of a definition: the versions whose documents refer to it. */
import { MAX_RANGE_LENGTH } from "../../shared/definitions/version_range.ts";
import type { Sql } from "../connection/pool.ts";
import type { DefinitionLineKey } from "./definition_lines.ts";
import type { DefinitionRow } from "./fields.ts";
import { targetOrg } from "./reference_candidates.ts";
import { type DefinitionViewer, isListed, isVisible } from "./visibility.ts";

/** Maximum number of ranges in a search for dependents. Documents of other users can contain any number of ranges. */
export const MAX_REFERENCED_RANGES = 1_000;

/**
 * Returns up to `MAX_REFERENCED_RANGES` distinct ranges of tree references to this line. Skips ranges longer than
 * `MAX_RANGE_LENGTH`, and versions that the viewer does not find in lists. Authors take turns, each with their most frequent ranges
 * first. One user's ranges therefore cannot displace those of other users, even if that user publishes in many organizations.
 */
export async function listReferencedRanges(
  sql: Sql,
  { target, viewer }: { target: DefinitionLineKey; viewer: DefinitionViewer },
): Promise<string[]> {
  const rows = await sql<{ range: string }[]>`
    with named as (
      select r.range, row_number() over (partition by d.author_id order by count(*) desc, r.range) as place
      from definition_references as r
      join definitions as d on d.id = r.definition_id
      where ${isDependent(sql, { target, viewer })} and char_length(r.range) <= ${MAX_RANGE_LENGTH}
      group by r.range, d.author_id
    )
    select n.range
    from named as n
    group by n.range
    order by min(n.place), count(*) desc, n.range
    limit ${MAX_REFERENCED_RANGES}`;
  return rows.map(({ range }) => range);
}

/**
 * Returns the condition that `r` is a tree reference of a version `d` to this line, and that the viewer finds the version in lists.
 */
function isDependent(sql: Sql, { target, viewer }: { target: DefinitionLineKey; viewer: DefinitionViewer }) {
  // The partial index requires the condition on the length.
  return sql`
    r.type = ${target.type} and r.name = ${target.name} and length(r.name) <= 100 and r.in_tree
    and ${targetOrg(viewer)} = ${target.orgId} and ${isListed(viewer)}`;
}

/** A version that a range may resolve to. */
type VersionCandidateRow = Pick<DefinitionRow, "id" | "version" | "status">;

/** Returns the versions of a line that the viewer can see and that a reference may resolve to. */
export async function listVersionCandidates(
  sql: Sql,
  { lineId, viewer }: { lineId: string; viewer: DefinitionViewer },
): Promise<VersionCandidateRow[]> {
  return sql<VersionCandidateRow[]>`
    select d.id, d.version, d.status
    from definitions as d
    where d.line_id = ${lineId} and d.status <> 'draft' and d.quarantined_at is null and ${isVisible(viewer)}`;
}

interface DependentRow extends Pick<DefinitionRow, "id" | "type" | "name" | "version"> {
  /** Slug of the organization. */
  organization: string;
  /** Location of the first reference in the document. */
  context: string;
  /** Range of the first reference. */
  range: string;
}

/**
 * Returns up to `limit` versions that refer to this line with one of these ranges and that the viewer finds in lists, and the
 * total. The versions are ordered by name, highest version first.
 */
export async function listDependents(
  sql: Sql,
  options: {
    target: DefinitionLineKey;
    ranges: readonly string[];
    viewer: DefinitionViewer;
    limit: number;
    /** If true, omits drafts and deprecated versions. */
    isPublished?: boolean;
  },
): Promise<{ total: number; dependents: DependentRow[] }> {
  const { target, viewer } = options;
  if (options.ranges.length === 0) return { total: 0, dependents: [] };
  const rows = await sql<(DependentRow & { total: number })[]>`
    with named as (
      select distinct on (d.id)
        d.id, o.slug as organization, d.type, d.name, d.version, r.context, r.range,
        d.version_major, d.version_minor, d.version_patch
      from definition_references as r
      join definitions as d on d.id = r.definition_id
      join organizations as o on o.id = d.org_id
      where ${isDependent(sql, { target, viewer })} and r.range = any(${[...options.ranges]}::text[])
        ${options.isPublished ? sql`and d.status = 'published'` : sql``}
      order by d.id, r.position
    )
    select n.id, n.organization, n.type, n.name, n.version, n.context, n.range, count(*) over () as total
    from named as n
    order by n.name, n.type, n.version_major desc, n.version_minor desc, n.version_patch desc, n.id
    limit ${options.limit}`;
  return {
    total: rows[0]?.total ?? 0,
    dependents: rows.map(({ total: _, ...dependent }) => dependent),
  };
}
