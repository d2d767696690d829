/** Table `definition_forks`: the source version of each forked line. */
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { onlyRow, type Sql } from "../connection/pool.ts";
import { buildJson, type FieldValues } from "./definition_field.ts";
import { DEFINITION_FIELDS, type DefinitionRow, NAMED_FIELDS, type NamedVersion } from "./fields.ts";
import { type DefinitionViewer, isListed, isVisible, memberOrgIds } from "./visibility.ts";

const FORKED_FIELDS = { ...NAMED_FIELDS, displayName: DEFINITION_FIELDS.displayName };

/** The record of a fork. */
export interface ForkRow {
  id: string;
  /** The first version of the forked line. */
  definitionId: string;
  /** Id of the source version; null if the viewer cannot see the source. */
  sourceDefinitionId: string | null;
  forkedAt: string;
}

/** The source of a fork. */
export interface LineageStep {
  /** Type of the source. The type, name and version are those at the time of the fork. */
  sourceType: DefinitionType;
  /**
   * Name of the source. Name and version are null if the viewer cannot see the source. Only members of the source's organization
   * see the name and version of a deleted source.
   */
  sourceName: string | null;
  sourceVersion: string | null;
  /** The source version; null if the version was deleted or the viewer cannot see it. */
  source: NamedVersion | null;
}

/**
 * Returns the lineage of a line, nearest source first; empty if the line is not a fork. The lineage ends with the first source that
 * was deleted or that the viewer cannot see, or after `limit` steps. Cycles are impossible, because a source is older than its
 * forks. Only members see the address of a deleted source, because only drafts can be deleted and only members can see drafts.
 */
export async function listLineage(
  sql: Sql,
  query: { lineId: string; viewer: DefinitionViewer; limit: number },
): Promise<{ fork: ForkRow; step: LineageStep }[]> {
  const columns = sql`
    f.id, f.definition_id, f.forked_at, f.source_type, d.line_id as next_line_id,
    case when shown.is_true then f.source_definition_id end as source_definition_id,
    case when shown.is_true then f.source_name end as source_name,
    case when shown.is_true then f.source_version end as source_version,
    case when d.id is not null then ${sql.unsafe(buildJson(NAMED_FIELDS))} end as source`;
  const source = sql`
    left join definitions as d on d.id = f.source_definition_id and ${isVisible(query.viewer)}
    cross join lateral (
      select d.id is not null or f.source_org_id in (${memberOrgIds(query.viewer)}) as is_true
    ) as shown`;
  const rows = await sql<(ForkRow & LineageStep)[]>`
    with recursive steps as (
      select 1 as step, ${columns}
      from definition_forks as f
      ${source}
      where f.line_id = ${query.lineId}
      union all
      select s.step + 1, ${columns}
      from steps as s
      join definition_forks as f on f.line_id = s.next_line_id
      ${source}
      where s.step < ${query.limit}
    )
    select
      s.id, s.definition_id, s.source_definition_id, s.forked_at, s.source_type, s.source_name, s.source_version,
      s.source
    from steps as s
    order by s.step`;
  return rows.map(({ id, definitionId, sourceDefinitionId, forkedAt, ...step }) => {
    return { fork: { id, definitionId, sourceDefinitionId, forkedAt }, step };
  });
}

/** A fork with the version that represents it. */
interface ForkedRow {
  fork: ForkRow;
  definition: FieldValues<typeof FORKED_FIELDS>;
}

/** Maximum number of forks that are read to find those visible to the viewer. Reading 10,000 hidden forks takes 0.1 s. */
const MAX_FORKS_READ = 10_000;

/**
 * Returns the forks of a line that the viewer finds in lists, newest first. A fork is represented by its first version. If the
 * viewer cannot find that version, the fork is represented by the highest version that the viewer finds.
 */
export async function listForks(
  sql: Sql,
  query: { lineId: string; viewer: DefinitionViewer; limit: number },
): Promise<ForkedRow[]> {
  const isSourceShown = sql`(
    f.source_org_id in (${memberOrgIds(query.viewer)}) or exists (
      select
      from definitions as d
      where d.id = f.source_definition_id and ${isVisible(query.viewer)}
    )
  )`;
  const rows = await sql<(ForkRow & { definition: ForkedRow["definition"] })[]>`
    select
      f.id, f.definition_id, case when ${isSourceShown} then f.source_definition_id end as source_definition_id,
      f.forked_at, shown.definition
    from (
      select r.id, r.line_id, r.definition_id, r.source_definition_id, r.source_org_id, r.forked_at
      from definition_forks as r
      where r.source_line_id = ${query.lineId}
      order by r.forked_at desc, r.id
      limit ${MAX_FORKS_READ}
    ) as f
    cross join lateral (
      select ${sql.unsafe(buildJson(FORKED_FIELDS))} as definition
      from definitions as d
      where d.line_id = f.line_id and ${isListed(query.viewer)}
      order by d.id = f.definition_id desc, d.version_major desc, d.version_minor desc, d.version_patch desc
      limit 1
    ) as shown
    order by f.forked_at desc, f.id
    limit ${query.limit}`;
  return rows.map(({ definition, ...fork }) => ({ fork, definition }));
}

export interface NewFork {
  lineId: string;
  definitionId: string;
  source: Pick<DefinitionRow, "lineId" | "id" | "orgId" | "type" | "name" | "version">;
  forkedBy: string;
}

/** Records a fork. Call inside the transaction that creates the line. */
export async function insertFork(
  sql: Sql,
  { lineId, definitionId, source, forkedBy }: NewFork,
): Promise<ForkRow> {
  return onlyRow(sql<[ForkRow]>`
    insert into definition_forks (
      line_id, definition_id, source_line_id, source_definition_id, source_org_id, source_type, source_name,
      source_version, forked_by
    )
    values (
      ${lineId}, ${definitionId}, ${source.lineId}, ${source.id}, ${source.orgId}, ${source.type}, ${source.name},
      ${source.version}, ${forkedBy}
    )
    returning id, definition_id, source_definition_id, forked_at`);
}
