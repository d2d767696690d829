/** Table `definitions`: a row per version of a definition, read together with its line and its organization. */
import type { DefinitionName } from "../../shared/definitions/name.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { type Fragment, firstRow, firstValue, fragment, rawFragment, type Sql } from "../connection/pool.ts";
import { selectFields } from "./definition_field.ts";
import { joinDefinition, type ShownTexts } from "./definition_json.ts";
import { type DefinitionLineQuery, namesTable, visibleLine } from "./definition_lines.ts";
import { type Definition, type DefinitionRow, ROW_FIELDS, VERSION_FIELDS, type Version } from "./fields.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

const COLUMNS = rawFragment(selectFields(ROW_FIELDS, "sql"));

/** A version with its line and organization. */
const DEFINITION_TABLES = fragment`
  definitions as d
  join definition_lines as l on l.id = d.line_id
  join organizations as o on o.id = d.org_id`;

/** A version, with its JSON for the viewer. */
export interface ShownDefinitionRow extends DefinitionRow {
  shown: Definition;
}

/** Selects `DefinitionRow`; the caller adds the conditions. */
const SELECT_DEFINITIONS = fragment`select ${COLUMNS} from ${DEFINITION_TABLES}`;

/** Finds a version by its id, with its JSON for a viewer who can see it; null if there is none. */
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
 * Finds a version and locks it against changes by other transactions; null if there is none. Call inside a transaction.
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
 * Finds a version that the viewer can see, and locks it against changes with a lock that other transactions can share; null
 * if there is none. Call inside a transaction.
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

/** Finds the highest version of a line, in any status; null if it has none. */
export async function findLatestDefinition(sql: Sql, lineId: string): Promise<DefinitionRow | null> {
  return firstRow(sql<DefinitionRow[]>`
    ${SELECT_DEFINITIONS}
    where d.line_id = ${lineId}
    order by d.version_major desc, d.version_minor desc, d.version_patch desc
    limit 1`);
}

/** Returns the YAML of a version; null if it does not exist. */
export async function findYaml(sql: Sql, id: string): Promise<string | null> {
  return firstValue(sql<{ yaml: string }[]>`
    select yaml
    from definitions
    where id = ${id}`);
}

type VersionPlace = Pick<DefinitionRow, "orgId" | "orgSlug" | "name" | "version">;

/** Finds the address of a version by its id, in one organization or in all; null if the viewer cannot see it. */
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

/** The result of resolving a name: whether the viewer can see such a line, and the version. */
export interface ResolvedDefinition<Row = DefinitionRow> {
  hasLine: boolean;
  definition: Row | null;
}

/** A name to resolve. */
export interface DefinitionQuery extends DefinitionLineQuery {
  /** Null for the highest published version. */
  version: string | null;
  /** Without a version: if none resolves, takes the highest in any status, quarantined ones too. */
  anyStatus?: boolean;
}

/** Resolves a name on a read to a version with all its columns. */
export async function resolveDefinition(sql: Sql, query: DefinitionQuery): Promise<ResolvedDefinition> {
  return resolveName<DefinitionRow>(sql, query, SELECT_DEFINITIONS);
}

/**
 * Resolves a name on a read (docs/contract.md, Definitions) to a version in the `chosenLine`,
 * preferably one that has the version. Without a version, takes the highest published version of the line, or
 * else its highest deprecated one. `select` selects from versions `d`; its rows must have an id.
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

/** A version as JSON, with the values that a response needs beside it. */
export interface DefinitionTextRow
  extends Pick<DefinitionRow, "id" | "orgId" | "type" | "name" | "version" | "deprecatedAt" | "successor"> {
  /** The slug of its organization. */
  organization: string;
  /** The document or its rendering, as requested by `text` of the query; null if there is none. */
  text: string | null;
  /** A `Definition` as JSON text. */
  json: string;
}

type TextsQuery = ShownTexts & { text: "yaml" | "runtimeMd" | null };

const TEXT_COLUMNS = { yaml: fragment`d.yaml`, runtimeMd: fragment`d.runtime_md` };

/** Resolves a name on a read to a version as JSON, with one of its texts. */
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

/** Returns a page of the versions of a line visible to the viewer, in any status, highest first, and their total number. */
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
  // An outer join, so that a page after the last one still has a row with the total.
  const found = rows.filter((row) => row.id !== null);
  return { total: rows[0]?.total ?? 0, versions: found.map(({ total: _, ...version }) => version) };
}

/** Returns the versions of a line, lowest first. */
export async function listVersionNumbers(sql: Sql, lineId: string): Promise<string[]> {
  return (await listVersionNumbersOf(sql, [lineId])).get(lineId) ?? [];
}

/** Returns the versions of each line, lowest first. Lines without versions are omitted. */
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
  /** Whether a range can resolve to it: published or deprecated, visible and not quarantined. */
  isResolvable: boolean;
}

/** Returns the versions of the organization's lines of these distinct names, those of each line in ascending order. */
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
