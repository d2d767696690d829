/** Table `definition_lines`: a row per name in an organization. The versions of a line are in `definitions`. */
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

/** A lookup of a name. */
export interface DefinitionLineQuery extends DefinitionName {
  viewer: DefinitionViewer;
  /** Looks in this organization only; null looks in all. */
  orgId: string | null;
}

/** The lines `l` that a name may mean. */
interface NamedLines {
  /** Expressions for the type and the name. */
  type: Fragment;
  name: Fragment;
  /** The only organization whose line it may be; null if it may be any line. */
  orgId: string | null;
  /** Further conditions, the preferred one first. */
  preferences: readonly Fragment[];
  /** Whether a line of the viewer's organizations comes first even if it has drafts only. */
  countsDrafts: boolean;
}

/**
 * Returns a subquery for the line of a key, with at most one row. It reads the first line at or after the key, which only the
 * index of the key can find. For an equal key, the planner may read all lines of the name: thousands of organizations may have
 * one.
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
 * Returns an expression for a column of the line that a name means to the viewer, or null. Of the lines with a visible version
 * it is the first in this order: the organization of a bound key, then the viewer's organizations, then lines with a
 * published version, then the line that was published first (docs/contract.md, Definitions). A line of the viewer's
 * organizations comes before all others even if all its versions are deprecated or archived. Otherwise another organization
 * could take over a name that the viewer trusts. A line of drafts has never had the name, so without `countsDrafts` it
 * comes last: otherwise a draft would hide the published definition that its organization uses.
 *
 * Each choice is a subquery that runs only if those before it find nothing, and reads lines in the order of their index up
 * to the first match: thousands of organizations may use the same name.
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
  // Read as in `lineOfKey`. Without it, a name that thousands use and none of them shares would be looked for in all of their lines.
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
 * Returns a subquery for the line that a name resolves to on a read, with at most one row (`id`, `org_id`). If `versions` are
 * set, a line that has all of them comes first. Reads that cannot return a draft do not count drafts.
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

/** Finds the line that a name resolves to on a read, preferably one with these versions; null if the viewer sees none. */
export async function findVisibleLine(
  sql: Sql,
  query: DefinitionLineQuery,
  versions: readonly string[] = [],
): Promise<{ id: string; orgId: string } | null> {
  return firstRow(sql<{ id: string; orgId: string }[]>`${visibleLine(query, versions)}`);
}

/** Returns the counters of a line; null if it has been deleted. */
export async function findLineCounts(
  sql: Sql,
  id: string,
): Promise<{ executionCount: number; forkCount: number } | null> {
  return firstRow(sql<{ executionCount: number; forkCount: number }[]>`
    select execution_count, fork_count
    from definition_lines
    where id = ${id}`);
}

/** Finds the id of the line of a name in an organization; null if there is none. */
export async function findLineId(sql: Sql, key: DefinitionLineKey): Promise<string | null> {
  const orgId = fragment`${key.orgId}::uuid`;
  const line = lineOfKey({ orgId, type: fragment`${key.type}::text`, name: fragment`${key.name}::text` });
  return firstValue(sql<{ id: string }[]>`select id from ${line} as l`);
}

/** Returns names as a table `n (type, name)`. */
export function namesTable(names: readonly DefinitionName[]): Fragment {
  return fragment`unnest(
    ${names.map(({ type }) => type)}::text[], ${names.map(({ name }) => name)}::text[]
  ) as n (type, name)`;
}

/** Returns how many of these names have a line in the organization. The names must be distinct. */
export async function countLines(sql: Sql, orgId: string, names: readonly DefinitionName[]): Promise<number> {
  return onlyValue(sql<[{ lines: number }]>`
    select count(*) as lines
    from ${namesTable(names)}
    join definition_lines as l on l.org_id = ${orgId} and l.type = n.type and l.name = n.name`);
}

/**
 * Inserts the line of a fork and returns its id; null if the organization has a line of the name. Other transactions that
 * insert the same name wait until this one ends. Call inside a transaction.
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
 * Returns the lines of these distinct names, and creates the missing ones. Locks them in the order of their names: other
 * writers that add or delete versions wait until this transaction ends. Call inside a transaction.
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

/** Deletes a line if it has no versions, so that its name is free, and counts one fork less for its source. */
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
