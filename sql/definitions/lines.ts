/** Table `definition_lines`: a row per name in an organization. The versions of a line are in `definitions`. */
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

export interface DefinitionLineKey {
  orgId: string;
  type: DefinitionType;
  name: string;
}

/** A lookup of a name. */
export interface DefinitionLineQuery {
  type: DefinitionType;
  name: string;
  viewer: DefinitionViewer;
  /** Looks in this organization only; null looks in all. */
  orgId: string | null;
}

/**
 * Returns the order in which lines `l` of the same name are preferred: the organization of a bound key, then the viewer's
 * organizations, then lines with a published version, then the line that was published first (docs/contract.md,
 * Definitions). A line of the viewer's organizations comes before all others even if all its versions are deprecated.
 * Otherwise another organization could take over a name that the viewer trusts.
 */
export function lineOrder(sql: Sql, viewer: DefinitionViewer) {
  const { userId, boundOrgId } = viewer;
  const bound = boundOrgId === null ? sql`` : sql`l.org_id = ${boundOrgId}::uuid desc,`;
  const own =
    userId === null
      ? sql``
      : sql`l.org_id in (select m.org_id from organization_members as m where m.user_id = ${userId}::uuid) desc,`;
  const isPublished = sql`exists (
    select
    from definitions as d
    where d.line_id = l.id and d.status = 'published' and d.quarantined_at is null and ${isVisible(sql, viewer)}
  )`;
  return sql`${bound} ${own} ${isPublished} desc, l.first_published_at nulls last, l.created_at, l.id`;
}

/**
 * Returns a subquery for the line that a name resolves to on a read, with at most one row (`id`, `org_id`): the first in
 * `lineOrder` with a version that the viewer can see. If `versions` are given, a line that has all of them comes first.
 */
export function visibleLine(sql: Sql, query: DefinitionLineQuery, versions: readonly string[]) {
  const isThere = sql`exists (select from definitions as d where d.line_id = l.id and ${isVisible(sql, query.viewer)})`;
  const hasVersions =
    versions.length === 0
      ? sql``
      : sql`(
          select count(*) = ${new Set(versions).size}
          from definitions as d
          where d.line_id = l.id and d.version = any(${[...versions]}::text[]) and ${isVisible(sql, query.viewer)}
        ) desc,`;
  return sql`
    select l.id, l.org_id
    from definition_lines as l
    where l.type = ${query.type} and l.name = ${query.name}
      and (${query.orgId}::uuid is null or l.org_id = ${query.orgId}::uuid)
      and ${isThere}
    order by ${hasVersions} ${lineOrder(sql, query.viewer)}
    limit 1`;
}

/** Finds the line that a name resolves to on a read, preferably one with these versions; null if the viewer sees none. */
export async function findVisibleLine(
  sql: Sql,
  query: DefinitionLineQuery,
  versions: readonly string[] = [],
): Promise<{ id: string; orgId: string } | null> {
  const [row] = await sql<{ id: string; orgId: string }[]>`${visibleLine(sql, query, versions)}`;
  return row ?? null;
}

/** Returns the number of existing forks of a line. */
export async function countLineForks(sql: Sql, id: string): Promise<number> {
  const [row] = await sql<{ forkCount: number }[]>`
    select fork_count
    from definition_lines
    where id = ${id}`;
  return row?.forkCount ?? 0;
}

/** Finds the id of the line of a name in an organization; null if there is none. */
export async function findLineId(sql: Sql, key: DefinitionLineKey): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from definition_lines
    where org_id = ${key.orgId} and type = ${key.type} and name = ${key.name}`;
  return row?.id ?? null;
}

/** Returns how many of these names have a line in the organization. The names must be distinct. */
export async function countLines(
  sql: Sql,
  orgId: string,
  names: readonly Pick<DefinitionLineKey, "type" | "name">[],
): Promise<number> {
  const [row] = await sql<[{ lines: number }]>`
    select count(*) as lines
    from unnest(
      ${names.map(({ type }) => type)}::text[], ${names.map(({ name }) => name)}::text[]
    ) as n (type, name)
    join definition_lines as l on l.org_id = ${orgId} and l.type = n.type and l.name = n.name`;
  return row.lines;
}

/**
 * Inserts the line of a fork and returns its id; null if the organization has a line of the name. Other transactions that
 * insert the same name wait until this one ends. Call inside a transaction.
 */
export async function insertForkLine(
  sql: Sql,
  line: DefinitionLineKey & { forkedFromId: string },
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    insert into definition_lines (org_id, type, name, forked_from_id)
    values (${line.orgId}, ${line.type}, ${line.name}, ${line.forkedFromId})
    on conflict on constraint definition_lines_org_id_type_name_key do nothing
    returning id`;
  return row?.id ?? null;
}

/** A line and its name. */
export interface NamedLine extends Pick<DefinitionLineKey, "type" | "name"> {
  id: string;
}

/**
 * Returns the lines of these distinct names, and creates the missing ones. Locks them in the order of their names: other
 * writers that add or delete versions wait until this transaction ends. Call inside a transaction.
 */
export async function upsertLines(
  sql: Sql,
  orgId: string,
  names: readonly Pick<DefinitionLineKey, "type" | "name">[],
): Promise<NamedLine[]> {
  return sql<NamedLine[]>`
    insert into definition_lines (org_id, type, name)
    select ${orgId}, n.type, n.name
    from unnest(
      ${names.map(({ type }) => type)}::text[], ${names.map(({ name }) => name)}::text[]
    ) as n (type, name)
    order by n.type collate "C", n.name collate "C"
    on conflict on constraint definition_lines_org_id_type_name_key do update
    set name = excluded.name
    returning id, type, name`;
}

/** Locks the line against other transactions that add or delete versions. Call inside a transaction. */
export async function lockLine(sql: Sql, id: string): Promise<void> {
  await sql`
    select
    from definition_lines
    where id = ${id}
    for no key update`;
}

/** Records the first publication of these lines; later ones change nothing. The lines must be locked. */
export async function markLinesPublished(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update definition_lines
    set first_published_at = now()
    where id = any(${[...ids]}::uuid[]) and first_published_at is null`;
}

/** Counts a fork of the line. Call inside a transaction that holds a version, so that the line cannot be deleted. */
export async function incrementForkCount(sql: Sql, id: string): Promise<void> {
  await sql`
    update definition_lines
    set fork_count = fork_count + 1
    where id = ${id}`;
}

/**
 * Deletes a line without versions, so that its name is free, and counts one fork less for its source. Returns false if the
 * line still has versions.
 */
export async function deleteEmptyLine(sql: Sql, id: string): Promise<boolean> {
  const deleted = await sql`
    with deleted as (
      delete from definition_lines as l
      where l.id = ${id} and not exists (select from definitions as d where d.line_id = l.id)
      returning l.id
    ), uncounted as (
      update definition_lines as s
      set fork_count = s.fork_count - 1
      from deleted
      join definition_forks as f on f.line_id = deleted.id
      where s.id = f.source_line_id
    )
    select id from deleted`;
  return deleted.length > 0;
}
