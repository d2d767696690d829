/** Lists the dependents of a definition: the versions whose documents refer to it. */
import { MAX_RANGE_LENGTH } from "../../shared/definitions/pick_version.ts";
import type { DefinitionStatus, DefinitionType } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import { targetOrg } from "./reference_candidates.ts";
import { type DefinitionViewer, isListed, isVisible } from "./visibility.ts";

/** A definition that others may refer to. */
export interface DependencyTarget {
  lineId: string;
  orgId: string;
  type: DefinitionType;
  name: string;
}

/** Returns the distinct ranges with which documents of any organization refer to the name. */
export async function listReferencedRanges(
  sql: Sql,
  { type, name }: Pick<DependencyTarget, "type" | "name">,
): Promise<string[]> {
  const rows = await sql<{ range: string }[]>`
    select distinct r.range
    from definition_references as r
    where r.type = ${type} and r.name = ${name} and r.in_tree and char_length(r.range) <= ${MAX_RANGE_LENGTH}`;
  return rows.map(({ range }) => range);
}

/** A version that a range may resolve to. */
export interface VersionCandidateRow {
  id: string;
  version: string;
  status: DefinitionStatus;
}

/** Returns the versions of a line that the viewer can see and that a reference may resolve to. */
export async function listVersionCandidates(
  sql: Sql,
  { lineId, viewer }: { lineId: string; viewer: DefinitionViewer },
): Promise<VersionCandidateRow[]> {
  return sql<VersionCandidateRow[]>`
    select d.id, d.version, d.status
    from definitions as d
    where d.line_id = ${lineId} and d.status <> 'draft' and d.quarantined_at is null and ${isVisible(sql, viewer)}`;
}

export interface DependentRow {
  id: string;
  /** The organization's slug. */
  organization: string;
  type: DefinitionType;
  name: string;
  version: string;
  /** Place of the first reference in the document. */
  context: string;
  /** Range of that reference. */
  range: string;
}

/**
 * Returns the versions that refer to this line with one of these ranges and that the viewer finds in lists, with their
 * total number; ordered by name, highest version first.
 */
export async function listDependents(
  sql: Sql,
  options: {
    target: DependencyTarget;
    ranges: readonly string[];
    viewer: DefinitionViewer;
    limit: number;
    /** Leaves out drafts and deprecated versions. */
    isPublished?: boolean;
  },
): Promise<{ total: number; dependents: DependentRow[] }> {
  const { target, viewer } = options;
  const rows = await sql<(DependentRow & { total: number })[]>`
    with named as (
      select distinct on (d.id)
        d.id, o.slug as organization, d.type, d.name, d.version, r.context, r.range,
        d.version_major, d.version_minor, d.version_patch
      from definition_references as r
      join definitions as d on d.id = r.definition_id
      join organizations as o on o.id = d.org_id
      where r.type = ${target.type} and r.name = ${target.name} and r.in_tree
        and r.range = any(${[...options.ranges]}::text[])
        and ${targetOrg(sql, viewer)} = ${target.orgId} and ${isListed(sql, viewer)}
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
