/** Table `definition_lines`: one row per name in an organization. The versions of a line are in table `definitions`. */
import type { DefinitionName } from "../../shared/definitions/name.ts";
import {
  type Fragment,
  firstRow,
  firstValue,
  fragment,
  onlyValue,
  rawFragment,
  type Sql,
} from "../connection/pool.ts";
import { type DefinitionViewer, isOpenVersion, isVisible } from "./visibility.ts";

export interface DefinitionLineKey extends DefinitionName {
  orgId: string;
}

/** A name to look up. */
export interface DefinitionLineQuery extends DefinitionName {
  viewer: DefinitionViewer;
  /** Organization to search; null searches all organizations. */
  orgId: string | null;
}

/** The lines `l` that a name may resolve to, and the order of preference. */
interface NamedLines {
  /** Expressions for the type and the name. */
  type: Fragment;
  name: Fragment;
  /** Organization that the line must belong to; null allows every organization. */
  orgId: string | null;
  /** Further conditions on the line, in order of preference. */
  preferences: readonly Fragment[];
  /** Whether a line of the viewer's organizations is preferred even if it has only drafts. */
  countsDrafts: boolean;
}

/**
 * Returns a subquery for the line of a key, with at most one row. It reads the first line at or after the key, so the planner can
 * use only the index on the key. With an equality condition, the planner may use the index on the name, and thousands of
 * organizations may have a line of that name.
 */
export function lineOfKey(key: { orgId: Fragment; type: Fragment; name: Fragment }): Fragment {
  const { orgId, type, name } = key;
  return fragment`(
    select k.*
    from (
      select f.id, f.org_id, f.type, f.name, f.first_published_at, f.created_at
      from definition_lines as f
      where (f.org_id, f.type, f.name) >= (${orgId}, ${type}, ${name})
      order by f.org_id, f.type, f.name
      limit 1
    ) as k
    where k.org_id = ${orgId} and k.type = ${type} and k.name = ${name}
  )`;
}

/**
 * Returns an expression for a column of the line that a name resolves to for the viewer. The value is null if there is no such
 * line. Only lines with a visible version qualify. The order of preference is: the organization of a bound key, the viewer's
 * organizations, lines with a published version, then the line that was published first (docs/contract.md, Definitions). A line of
 * the viewer's organizations is preferred even if all its versions are deprecated or archived. This prevents another organization
 * from taking over a name that the viewer trusts. Without `countsDrafts`, a line with only drafts comes last, so that a draft does
 * not hide the published definition that its organization uses.
 *
 * Each choice is a subquery that runs only if the preceding choices find nothing. It reads lines in index order and stops at the
 * first match, because thousands of organizations may use the same name.
 */
export function chosenLine(
  viewer: DefinitionViewer,
  { column, type, name, orgId, preferences, countsDrafts }: { column: "id" | "org_id" } & NamedLines,
): Fragment {
  const { userId, boundOrgId } = viewer;
  const hasVersion = (condition: Fragment) =>
    fragment`exists (select from definitions as d where d.line_id = l.id and ${condition} and ${isVisible(viewer)})`;
  const isThere = hasVersion(fragment`true`);
  const isFirst = countsDrafts ? isThere : hasVersion(fragment`d.status <> 'draft'`);
  const isPublished = hasVersion(fragment`d.status = 'published' and d.quarantined_at is null`);
  const all =
    orgId === null
      ? fragment`(select * from definition_lines as l where l.type = ${type} and l.name = ${name})`
      : lineOfKey({ orgId: fragment`${orgId}::uuid`, type, name });
  const bound = lineOfKey({ orgId: fragment`${boundOrgId}::uuid`, type, name });
  const own = fragment`(
    select l.*
    from organization_members as m
    cross join lateral ${lineOfKey({ orgId: fragment`m.org_id`, type, name })} as l
    where m.user_id = ${userId}::uuid
  )`;
  // Whether everyone can see a version of this name. Reads the first index entry at or after the name, as in `lineOfKey`. Without
  // this check, the query would read every line of the name, even if none is visible to everyone.
  const isShared = fragment`(
    select d.name = ${name} and d.type = ${type}
    from definitions as d
    where ${isOpenVersion()} and (d.name, d.type) >= (${name}, ${type})
    order by d.name, d.type
    limit 1
  )`;
  const firstOf = (lines: Fragment, condition: Fragment, preference: Fragment) => fragment`(
    select ${rawFragment(`l.${column}`)}
    from ${lines} as l
    where ${condition} and ${preference}
    order by l.first_published_at, l.created_at, l.id
    limit 1
  )`;
  const choices = preferences.flatMap((preference) => [
    ...(boundOrgId === null ? [] : [firstOf(bound, isFirst, preference)]),
    ...(userId === null
      ? []
      : [isPublished, isFirst].map((condition) => firstOf(own, condition, preference))),
    fragment`case when ${viewer.seesAll ? fragment`true` : isShared} then coalesce(
      ${firstOf(all, isPublished, preference)}, ${firstOf(all, isThere, preference)}
    ) end`,
    ...(userId === null || countsDrafts ? [] : [firstOf(own, isThere, preference)]),
  ]);
  return fragment`coalesce(${choices.reduce((before, choice) => fragment`${before}, ${choice}`)})`;
}

/**
 * Returns a subquery for the line that a name resolves to in a read request, with at most one row (`id`, `org_id`). A line that has
 * all `versions` is preferred. Set `countsDrafts` to false for reads that cannot return a draft.
 */
export function visibleLine(
  query: DefinitionLineQuery,
  versions: readonly string[],
  { countsDrafts } = { countsDrafts: true },
): Fragment {
  const { orgId, viewer } = query;
  const isInOrg = orgId === null ? fragment`true` : fragment`l.org_id = ${orgId}::uuid`;
  const type = fragment`${query.type}::text`;
  const name = fragment`${query.name}::text`;
  const hasVersions = fragment`(
    select count(*) = ${new Set(versions).size}
    from definitions as d
    where d.line_id = l.id and d.version = any(${[...versions]}::text[]) and ${isVisible(viewer)}
  )`;
  const preferences = [...(versions.length === 0 ? [] : [fragment`${isInOrg} and ${hasVersions}`]), isInOrg];
  return fragment`
    select n.id, n.org_id
    from definition_lines as n
    where n.id = ${chosenLine(viewer, { column: "id", type, name, orgId, preferences, countsDrafts })}`;
}

/**
 * Finds the line that a name resolves to in a read request, preferably a line with all `versions`. Returns null if the viewer sees
 * no line of that name.
 */
export async function findVisibleLine(
  sql: Sql,
  query: DefinitionLineQuery,
  versions: readonly string[] = [],
): Promise<{ id: string; orgId: string } | null> {
  return firstRow(sql<{ id: string; orgId: string }[]>`${visibleLine(query, versions)}`);
}

/** Returns the counters of a line; null if the line has been deleted. */
export async function findLineCounts(
  sql: Sql,
  id: string,
): Promise<{ executionCount: number; forkCount: number } | null> {
  return firstRow(sql<{ executionCount: number; forkCount: number }[]>`
    select execution_count, fork_count
    from definition_lines
    where id = ${id}`);
}

/** Finds the id of an organization's line by name; null if the organization has no such line. */
export async function findLineId(sql: Sql, key: DefinitionLineKey): Promise<string | null> {
  const orgId = fragment`${key.orgId}::uuid`;
  const line = lineOfKey({ orgId, type: fragment`${key.type}::text`, name: fragment`${key.name}::text` });
  return firstValue(sql<{ id: string }[]>`select id from ${line} as l`);
}

/** Returns a FROM item with the names as `n (type, name)`. */
export function namesTable(names: readonly DefinitionName[]): Fragment {
  return fragment`unnest(
    ${names.map(({ type }) => type)}::text[], ${names.map(({ name }) => name)}::text[]
  ) as n (type, name)`;
}

/** Counts the names that have a line in the organization. The names must be distinct. */
export async function countLines(sql: Sql, orgId: string, names: readonly DefinitionName[]): Promise<number> {
  return onlyValue(sql<[{ lines: number }]>`
    select count(*) as lines
    from ${namesTable(names)}
    join definition_lines as l on l.org_id = ${orgId} and l.type = n.type and l.name = n.name`);
}

/**
 * Inserts the line of a fork and returns its id. Returns null if the organization already has a line of that name. Other
 * transactions that insert the same name wait until this transaction ends. Call inside a transaction.
 */
export async function insertForkLine(
  sql: Sql,
  line: DefinitionLineKey & { forkedFromId: string },
): Promise<string | null> {
  return firstValue(sql<{ id: string }[]>`
    insert into definition_lines (org_id, type, name, forked_from_id)
    values (${line.orgId}, ${line.type}, ${line.name}, ${line.forkedFromId})
    on conflict on constraint definition_lines_org_id_type_name_key do nothing
    returning id`);
}

/**
 * Returns the lines with these names, and creates missing lines. The names must be distinct. Locks the lines in the order of their
 * names. Other writers that add or delete versions wait until this transaction ends. Call inside a transaction.
 */
export async function upsertLines(
  sql: Sql,
  orgId: string,
  names: readonly DefinitionName[],
): Promise<(DefinitionName & { id: string })[]> {
  return sql<(DefinitionName & { id: string })[]>`
    insert into definition_lines (org_id, type, name)
    select ${orgId}, n.type, n.name
    from ${namesTable(names)}
    order by n.type collate "C", n.name collate "C"
    on conflict on constraint definition_lines_org_id_type_name_key do update
    set name = excluded.name
    returning id, type, name`;
}

/** Locks a line against other transactions that add or delete versions. Call inside a transaction. */
export async function lockLine(sql: Sql, id: string): Promise<void> {
  await sql`
    select
    from definition_lines
    where id = ${id}
    for no key update`;
}

/** Sets the time of first publication of lines that have none. The lines must be locked. */
export async function markLinesPublished(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    update definition_lines
    set first_published_at = now()
    where id = any(${[...ids]}::uuid[]) and first_published_at is null`;
}

/**
 * Increments the fork count of a line. Call inside a transaction that has locked a version of the line, so that the line cannot be
 * deleted.
 */
export async function incrementForkCount(sql: Sql, id: string): Promise<void> {
  await sql`
    update definition_lines
    set fork_count = fork_count + 1
    where id = ${id}`;
}

/** Deletes a line if it has no versions, which frees its name. If it was a fork, decrements its source's fork count. */
export async function deleteEmptyLine(sql: Sql, id: string): Promise<void> {
  await sql`
    with deleted as (
      delete from definition_lines as l
      where l.id = ${id} and not exists (select from definitions as d where d.line_id = l.id)
      returning l.id
    )
    update definition_lines as s
    set fork_count = s.fork_count - 1
    from deleted
    join definition_forks as f on f.line_id = deleted.id
    where s.id = f.source_line_id`;
}
