/** Table `definitions`: one row per version of a definition. Queries also join the version's line and organization. */
import type { DefinitionName } from "../../shared/definitions/name.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { type Fragment, firstRow, firstValue, fragment, rawFragment, type Sql } from "../connection/pool.ts";
import { selectFields } from "./definition_field.ts";
import { joinDefinition, type ShownTexts } from "./definition_json.ts";
import { type DefinitionLineQuery, namesTable, visibleLine } from "./definition_lines.ts";
import { type Definition, type DefinitionRow, ROW_FIELDS, VERSION_FIELDS, type Version } from "./fields.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

const COLUMNS = rawFragment(selectFields(ROW_FIELDS, "sql"));

/** FROM items for a version with its line and organization. */
const DEFINITION_TABLES = fragment`
  definitions as d
  join definition_lines as l on l.id = d.line_id
  join organizations as o on o.id = d.org_id`;

/** A version with its JSON for the viewer. */
export interface ShownDefinitionRow extends DefinitionRow {
  shown: Definition;
}

/** Selects `DefinitionRow`. The caller appends the conditions. */
const SELECT_DEFINITIONS = fragment`select ${COLUMNS} from ${DEFINITION_TABLES}`;

/**
 * Finds a version by id, with its JSON for the viewer; null if the version does not exist. Does not check whether the viewer can
 * see the version.
 */
export async function findDefinitionById(
  sql: Sql,
  { id, viewer }: { id: string; viewer: DefinitionViewer },
): Promise<ShownDefinitionRow | null> {
  return firstRow(sql<ShownDefinitionRow[]>`
    select ${COLUMNS}, row_to_json(shown) as shown
    from ${DEFINITION_TABLES}
    ${joinDefinition({ includeYaml: true, includeRuntime: true }, viewer)}
    where d.id = ${id}`);
}

/**
 * Finds a version and locks it against changes by other transactions. Returns null if the line does not have the version. Call
 * inside a transaction.
 */
export async function lockDefinition(
  sql: Sql,
  key: { lineId: string; version: string },
): Promise<DefinitionRow | null> {
  return firstRow(sql<DefinitionRow[]>`
    ${SELECT_DEFINITIONS}
    where d.line_id = ${key.lineId} and d.version = ${key.version}
    for no key update of d`);
}

/**
 * Finds a version that the viewer can see, and locks it `for share`: other transactions can also hold the lock, but cannot change
 * the version. Returns null if the viewer sees no version with this id. Call inside a transaction.
 */
export async function holdDefinition(
  sql: Sql,
  { id, viewer }: { id: string; viewer: DefinitionViewer },
): Promise<DefinitionRow | null> {
  return firstRow(sql<DefinitionRow[]>`
    ${SELECT_DEFINITIONS}
    where d.id = ${id} and ${isVisible(viewer)}
    for share of d`);
}

/** Finds the highest version of a line, in any status; null if the line has no versions. */
export async function findLatestDefinition(sql: Sql, lineId: string): Promise<DefinitionRow | null> {
  return firstRow(sql<DefinitionRow[]>`
    ${SELECT_DEFINITIONS}
    where d.line_id = ${lineId}
    order by d.version_major desc, d.version_minor desc, d.version_patch desc
    limit 1`);
}

/** Returns the YAML of a version; null if the version does not exist. */
export async function findYaml(sql: Sql, id: string): Promise<string | null> {
  return firstValue(sql<{ yaml: string }[]>`
    select yaml
    from definitions
    where id = ${id}`);
}

type VersionPlace = Pick<DefinitionRow, "orgId" | "orgSlug" | "name" | "version">;

/**
 * Finds the address of a version by id and type, in one organization or, if `orgId` is null, in all. Returns null if there is no
 * such version or the viewer cannot see it.
 */
export async function findVisibleVersion(
  sql: Sql,
  query: { id: string; type: DefinitionType; viewer: DefinitionViewer; orgId: string | null },
): Promise<VersionPlace | null> {
  return firstRow(sql<VersionPlace[]>`
    select d.org_id, o.slug as org_slug, d.name, d.version
    from definitions as d
    join organizations as o on o.id = d.org_id
    where d.id = ${query.id} and d.type = ${query.type} and ${isVisible(query.viewer)}
      and (${query.orgId}::uuid is null or d.org_id = ${query.orgId}::uuid)`);
}

/** Result of resolving a name: whether the viewer can see a line of that name, and the matching version, if any. */
export interface ResolvedDefinition<Row = DefinitionRow> {
  hasLine: boolean;
  definition: Row | null;
}

/** A name to resolve. */
export interface DefinitionQuery extends DefinitionLineQuery {
  /** Version number to find. Null means the highest published version, or else the highest deprecated one. */
  version: string | null;
  /**
   * If `version` is null and the line has no resolvable version, selects the highest version in any status, even if it is
   * quarantined.
   */
  anyStatus?: boolean;
}

/** Resolves the name in a read request to a version with all its columns. */
export async function resolveDefinition(sql: Sql, query: DefinitionQuery): Promise<ResolvedDefinition> {
  return resolveName<DefinitionRow>(sql, query, SELECT_DEFINITIONS);
}

/**
 * Resolves the name in a read request to a version of the `chosenLine` (docs/contract.md, Definitions). A line that has the
 * requested version is preferred. If no version is requested, the highest published version of the line is selected, else its
 * highest deprecated version. Quarantined versions are excluded. `select` must read from the alias `d` of `definitions`, and its
 * rows must have an id.
 */
async function resolveName<Row extends { id: string }>(
  sql: Sql,
  query: DefinitionQuery,
  select: Fragment,
): Promise<ResolvedDefinition<Row>> {
  const isResolvable = fragment`d.status in ('published', 'deprecated') and d.quarantined_at is null`;
  const countsDrafts = query.version !== null || query.anyStatus === true;
  const isNamed =
    query.version !== null
      ? fragment`d.version = ${query.version}`
      : query.anyStatus
        ? fragment`true`
        : isResolvable;
  const [row] = await sql<(Row | { id: null })[]>`
    with line as (${visibleLine(query, query.version === null ? [] : [query.version], { countsDrafts })})
    select found.*
    from line
    left join lateral (
      ${select}
      where d.line_id = line.id and ${isVisible(query.viewer)} and ${isNamed}
      order by case when ${isResolvable} then d.status = 'published' end desc nulls last,
        d.version_major desc, d.version_minor desc, d.version_patch desc
      limit 1
    ) as found on true`;
  if (!row) return { hasLine: false, definition: null };
  return { hasLine: true, definition: row.id === null ? null : (row as Row) };
}

/** A version as JSON, with further values that responses need. */
export interface DefinitionTextRow
  extends Pick<DefinitionRow, "id" | "orgId" | "type" | "name" | "version" | "deprecatedAt" | "successor"> {
  /** Slug of the version's organization. */
  organization: string;
  /** The document or its rendering, as requested by `text` of the query. Null if no text is requested or the version has none. */
  text: string | null;
  /** The `Definition` as JSON text. */
  json: string;
}

type TextsQuery = ShownTexts & { text: "yaml" | "runtimeMd" | null };

const TEXT_COLUMNS = { yaml: fragment`d.yaml`, runtimeMd: fragment`d.runtime_md` };

/** Resolves the name in a read request to a version as JSON, with the requested text. */
export async function resolveDefinitionText(
  sql: Sql,
  query: DefinitionQuery,
  { text, ...shown }: TextsQuery,
): Promise<ResolvedDefinition<DefinitionTextRow>> {
  return resolveName<DefinitionTextRow>(
    sql,
    query,
    fragment`
      select
        d.id, d.org_id, o.slug as organization, d.type, d.deprecated_at, d.successor,
        ${text === null ? fragment`null` : TEXT_COLUMNS[text]} as text, d.name, d.version,
        row_to_json(shown)::text as json
      from ${DEFINITION_TABLES}
      ${joinDefinition(shown, query.viewer)}`,
  );
}

/**
 * Returns a page of the line's versions that the viewer can see, in any status, highest first, and the total number of these
 * versions.
 */
export async function listVersionHistory(
  sql: Sql,
  query: { lineId: string; viewer: DefinitionViewer; limit: number; offset: number },
): Promise<{ total: number; versions: Version[] }> {
  const visible = fragment`d.line_id = ${query.lineId} and ${isVisible(query.viewer)}`;
  const rows = await sql<(Version & { total: number })[] | { id: null; total: number }[]>`
    select counted.total, page.*
    from (select count(*) as total from definitions as d where ${visible}) as counted
    left join lateral (
      select ${rawFragment(selectFields(VERSION_FIELDS, "sql"))}
      from definitions as d
      where ${visible}
      order by d.version_major desc, d.version_minor desc, d.version_patch desc
      limit ${query.limit} offset ${query.offset}
    ) as page on true`;
  // The outer join returns one row with the total even for a page past the end.
  const found = rows.filter((row) => row.id !== null);
  return { total: rows[0]?.total ?? 0, versions: found.map(({ total: _, ...version }) => version) };
}

/** Returns the version numbers of a line, lowest first. */
export async function listVersionNumbers(sql: Sql, lineId: string): Promise<string[]> {
  return (await listVersionNumbersOf(sql, [lineId])).get(lineId) ?? [];
}

/** Returns the version numbers of each line, lowest first. Lines without versions are omitted. */
export async function listVersionNumbersOf(
  sql: Sql,
  lineIds: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await sql<{ lineId: string; versions: string[] }[]>`
    select line_id, array_agg(version order by version_major, version_minor, version_patch) as versions
    from definitions
    where line_id = any(${[...lineIds]}::uuid[])
    group by line_id`;
  return new Map(rows.map(({ lineId, versions }) => [lineId, versions]));
}

/** A version of a line, in any status. */
export interface LineVersionRow extends Pick<DefinitionRow, "id" | "type" | "name" | "version"> {
  /** Whether a range can resolve to this version: it is published or deprecated, visible to the viewer and not quarantined. */
  isResolvable: boolean;
}

/**
 * Returns the versions of the organization's lines with these names, in ascending order within each line. The names must be
 * distinct.
 */
export async function listLineVersions(
  sql: Sql,
  options: { orgId: string; names: readonly DefinitionName[]; viewer: DefinitionViewer },
): Promise<LineVersionRow[]> {
  return sql<LineVersionRow[]>`
    select
      d.id, d.type, d.name, d.version,
      d.status in ('published', 'deprecated') and d.quarantined_at is null and ${isVisible(options.viewer)}
        as is_resolvable
    from ${namesTable(options.names)}
    join definition_lines as l on l.org_id = ${options.orgId} and l.type = n.type and l.name = n.name
    join definitions as d on d.line_id = l.id
    order by d.line_id, d.version_major, d.version_minor, d.version_patch`;
}
