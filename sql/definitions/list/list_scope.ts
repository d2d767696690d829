/** The rows of `definition_listings` that the viewer finds and that match the filters. */
import type { Fragment, Sql } from "../../connection/pool.ts";
import type { DefinitionRow } from "../fields.ts";
import { type DefinitionViewer, memberOrgIds } from "../visibility.ts";

/** Fields with a filter for one value. */
type FieldFilters = {
  [Name in Exclude<keyof typeof COLUMNS, "isFork">]: DefinitionRow[Name] | null;
};

/** Filters; null matches everything. */
export interface DefinitionFilters extends FieldFilters {
  /** Slug of the organization. */
  organization: string | null;
  isFork: boolean | null;
  /** Matches any of the tags; empty matches everything. */
  tags: readonly string[];
  /** Only the highest version of each line visible to the viewer with that status; other filters apply afterwards. */
  latestOnly: boolean;
  /**
   * With `latestOnly` and no status, rows of the viewer's organizations are the versions that names without a version mean:
   * the highest published one of each line, else the highest deprecated one, else the highest draft.
   */
  publishedFirst: boolean;
}

export interface ListScope {
  /** The viewer's organizations, whose private versions and drafts are listed too. */
  ownOrgIds: readonly string[];
  /** Whether public versions of other organizations are listed. */
  hasPublic: boolean;
  filters: DefinitionFilters;
  /** Words to search for, or null. */
  search: string | null;
}

/** Returns the organizations of a list: all, or with `orgId` only this one, which the viewer is a member of. */
export async function findScope(
  sql: Sql,
  { viewer, orgId }: { viewer: DefinitionViewer; orgId: string | null },
): Promise<Pick<ListScope, "ownOrgIds" | "hasPublic">> {
  if (orgId !== null) return { ownOrgIds: [orgId], hasPublic: false };
  if (viewer.userId === null) return { ownOrgIds: [], hasPublic: true };
  const rows = await sql<{ orgId: string }[]>`${memberOrgIds(sql, viewer)}`;
  return { ownOrgIds: rows.map((row) => row.orgId), hasPublic: true };
}

/** Rows `v` of one kind. */
export interface ListedRows {
  table: "definition_listings" | "definition_listings_latest";
  rule: Fragment;
}

/**
 * Returns the rows that the viewer finds and that match the filters: public rows, and all rows of the viewer's
 * organizations. They are selected separately, so that each kind uses its own indexes and private rows of other
 * organizations are never read.
 */
export function listedRows(sql: Sql, scope: ListScope): ListedRows[] {
  const rows = rowsOfScope(sql, scope);
  const filters = filterConditions(sql, scope.filters);
  return [rows.public, rows.member]
    .filter((kind) => kind !== null)
    .map(({ table, rule }) => ({ table, rule: sql`${rule} and ${filters}` }));
}

/** Selects columns of listed rows. */
export function selectListed(sql: Sql, listed: readonly ListedRows[], select: ListedSelect): Fragment {
  const { columns, condition, join = sql``, rest = sql`` } = select;
  const selects = listed.map(
    ({ table, rule }) => sql`(
      select ${columns}
      from ${sql(table)} as v
      ${join}
      where ${rule} and ${condition}
      ${rest}
    )`,
  );
  return selects.reduce((all, one) => sql`${all} union all ${one}`);
}

/**
 * Counts listed rows: all public rows, minus those of the viewer's organizations, plus the rows that members list. The
 * viewer's organizations have few, and comparing the organization of every public row would take longer than counting them.
 */
export function countListed(sql: Sql, scope: ListScope, { matches, counted }: Matching): Fragment {
  const filters = filterConditions(sql, scope.filters);
  const count = ({ table, rule }: ListedRows, condition: Fragment): Fragment =>
    sql`(select count(*) from ${sql(table)} as v where ${rule} and ${filters} and ${condition})`;
  const { member } = rowsOfScope(sql, scope);
  const all = publicRows(sql, scope.filters);
  const counts = [
    ...(scope.hasPublic ? [count(all, counted)] : []),
    ...(member ? [count(member, matches)] : []),
  ];
  const total = counts.reduce((sum, one) => sql`${sum} + ${one}`);
  if (!scope.hasPublic || !member) return total;
  return sql`${total} - ${count(all, sql`${isOwn(sql, scope)} and ${matches}`)}`;
}

/** Conditions for the same rows `v`. */
export interface Matching {
  matches: Fragment;
  /** For the total, planned so that the words of a row are not compared. */
  counted: Fragment;
}

/** SQL fragments on rows `v`. */
export interface ListedSelect {
  columns: Fragment;
  condition: Fragment;
  join?: Fragment;
  /** An order and a limit. */
  rest?: Fragment;
}

/** Returns the two disjoint kinds of rows of a list; null if the list has none of a kind. */
export function rowsOfScope(
  sql: Sql,
  scope: ListScope,
): { public: ListedRows | null; member: ListedRows | null } {
  const { ownOrgIds, hasPublic, filters } = scope;
  const { table, rule } = publicRows(sql, filters);
  const isMember = ownOrgIds.length > 0;
  const isPublic = isMember ? sql`${rule} and ${isOthers(sql, scope)}` : rule;
  const isOfMember = sql`${isOwn(sql, scope)} and ${isMembersVersion(sql, filters)}`;
  return {
    public: hasPublic ? { table, rule: isPublic } : null,
    member: isMember ? { table: "definition_listings", rule: isOfMember } : null,
  };
}

/** Returns the public rows of all organizations. The latest ones are a partition, where nothing has to be compared. */
function publicRows(sql: Sql, { latestOnly, status }: DefinitionFilters): ListedRows {
  // The indexes of public rows are `where is_public`.
  const rule = sql`v.is_public`;
  if (!latestOnly) return { table: "definition_listings", rule };
  if (status === null) return { table: "definition_listings_latest", rule };
  return { table: "definition_listings", rule: sql`${rule} and v.is_public_latest_of_status` };
}

function isMembersVersion(sql: Sql, { latestOnly, status, publishedFirst }: DefinitionFilters): Fragment {
  if (!latestOnly) return sql`true`;
  if (status !== null) return sql`v.is_latest_of_status`;
  return publishedFirst ? isFirstByStatus(sql) : sql`v.is_latest`;
}

function isOwn(sql: Sql, { ownOrgIds }: ListScope): Fragment {
  return sql`v.org_id = any(${[...ownOrgIds]}::uuid[])`;
}

/**
 * Whether a public row is of another organization. A search reads the row anyway. Other lists are read from the index of
 * their order, which has no organization: there the ids are compared, or a page far down would visit every row above it.
 */
function isOthers(sql: Sql, scope: ListScope): Fragment {
  if (scope.search !== null) return sql`not ${isOwn(sql, scope)}`;
  const { table } = publicRows(sql, scope.filters);
  return sql`v.definition_id not in (
    select v.definition_id
    from ${sql(table)} as v
    where ${isOwn(sql, scope)}
  )`;
}

/** Whether no version of the line has a status that comes before. Deprecated ones come before drafts. */
function isFirstByStatus(sql: Sql): Fragment {
  return sql`(
    v.is_latest_of_status and (v.status = 'published' or not exists (
      select
      from definition_listings as p
      where p.line_id = v.line_id and (p.status = 'published' or v.status = 'draft' and p.status = 'deprecated')
    ))
  )`;
}

/** Columns with a filter for one value. */
const COLUMNS = {
  type: "type",
  status: "status",
  agentType: "agent_type",
  domain: "domain",
  tier: "tier",
  visibility: "visibility",
  authorId: "author_id",
  authorshipType: "authorship_type",
  isFork: "is_fork",
} as const;

/** True if any filter is set besides those that choose a version of each line. */
export function hasFilters(filters: DefinitionFilters): boolean {
  const names = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
  const { tags, organization } = filters;
  return tags.length > 0 || organization !== null || names.some((name) => filters[name] !== null);
}

function filterConditions(sql: Sql, filters: DefinitionFilters): Fragment {
  const names = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
  const conditions = names.flatMap((name) => {
    const value = filters[name];
    return value === null ? [] : [sql`${sql(`v.${COLUMNS[name]}`)} = ${value}`];
  });
  const { organization } = filters;
  if (organization !== null) {
    conditions.push(sql`v.org_id = (select o.id from organizations as o where o.slug = ${organization})`);
  }
  if (filters.tags.length > 0) conditions.push(sql`v.tags && ${[...filters.tags]}::text[]`);
  return conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`true`);
}
