/** The rows of `definition_listings` that the viewer finds and that match the filters. */
import { type Fragment, fragment, type Sql } from "../../connection/pool.ts";
import type { DefinitionRow } from "../fields.ts";
import { type DefinitionViewer, memberOrgIds } from "../visibility.ts";

/** Fields with a filter for one value. */
type FieldFilters = {
  [Name in Exclude<keyof typeof COLUMNS, "isFork">]: DefinitionRow[Name] | null;
};

/** Filters; null matches everything. */
export interface DefinitionFilters extends FieldFilters {
  /** Slugs of the organization. Two different ones match nothing; empty matches everything. */
  organizations: readonly string[];
  isFork: boolean | null;
  /** Matches any of the tags; empty matches everything. */
  tags: readonly string[];
  /** Only the highest version of each line visible to the viewer with that status; other filters apply afterwards. */
  latestOnly: boolean;
  /**
   * With `latestOnly` and no status, rows of the viewer's organizations are the versions that names without a version mean:
   * the highest published one of each line, else the highest deprecated one, else the highest draft. Quarantined ones come
   * last.
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
  const rows = await sql<{ orgId: string }[]>`${memberOrgIds(viewer)}`;
  return { ownOrgIds: rows.map((row) => row.orgId), hasPublic: true };
}

const LISTINGS = fragment`definition_listings`;
/** The partition of the latest versions. */
const LATEST = fragment`definition_listings_latest`;

/** Rows `v` of one kind. */
export interface ListedRows {
  table: Fragment;
  rule: Fragment;
}

/**
 * Returns the rows that the viewer finds and that match the filters: public rows, and all rows of the viewer's
 * organizations. They are selected separately, so that each kind uses its own indexes and private rows of other
 * organizations are never read.
 */
export function listedRows(scope: ListScope): ListedRows[] {
  const rows = rowsOfScope(scope);
  const filters = filterConditions(scope.filters);
  return [rows.public, rows.member]
    .filter((kind) => kind !== null)
    .map(({ table, rule }) => ({ table, rule: fragment`${rule} and ${filters}` }));
}

/** Selects columns of listed rows. */
export function selectListed(listed: readonly ListedRows[], select: ListedSelect): Fragment {
  const { columns, condition, join = fragment``, rest = fragment`` } = select;
  const selects = listed.map(
    ({ table, rule }) => fragment`(
      select ${columns}
      from ${table} as v
      ${join}
      where ${rule} and ${condition}
      ${rest}
    )`,
  );
  return selects.reduce((all, one) => fragment`${all} union all ${one}`);
}

/**
 * Counts listed rows: all public rows, minus those of the viewer's organizations, plus the rows that members list. The
 * viewer's organizations have few, and comparing the organization of every public row would take longer than counting them.
 */
export function countListed(scope: ListScope, { matches, counted }: Matching): Fragment {
  const filters = filterConditions(scope.filters);
  const count = ({ table, rule }: ListedRows, condition: Fragment): Fragment =>
    fragment`(select count(*) from ${table} as v where ${rule} and ${filters} and ${condition})`;
  const { member } = rowsOfScope(scope);
  const all = publicRows(scope.filters);
  const counts = [
    ...(scope.hasPublic ? [count(all, counted)] : []),
    ...(member ? [count(member, matches)] : []),
  ];
  const total = counts.reduce((sum, one) => fragment`${sum} + ${one}`);
  if (!scope.hasPublic || !member) return total;
  return fragment`${total} - ${count(all, fragment`${isOwn(scope)} and ${matches}`)}`;
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
export function rowsOfScope(scope: ListScope): { public: ListedRows | null; member: ListedRows | null } {
  const { ownOrgIds, hasPublic, filters } = scope;
  const { table, rule } = publicRows(filters);
  const isMember = ownOrgIds.length > 0;
  const isPublic = isMember ? fragment`${rule} and ${isOthers(scope)}` : rule;
  const isOfMember = fragment`${isOwn(scope)} and ${isMembersVersion(filters)}`;
  return {
    public: hasPublic ? { table, rule: isPublic } : null,
    member: isMember ? { table: LISTINGS, rule: isOfMember } : null,
  };
}

/** Returns the public rows of all organizations. The latest ones are a partition, where nothing has to be compared. */
function publicRows({ latestOnly, status }: DefinitionFilters): ListedRows {
  // The indexes of public rows are `where is_public`.
  const rule = fragment`v.is_public`;
  if (!latestOnly) return { table: LISTINGS, rule };
  if (status === null) return { table: LATEST, rule };
  return { table: LISTINGS, rule: fragment`${rule} and v.is_public_latest_of_status` };
}

function isMembersVersion({ latestOnly, status, publishedFirst }: DefinitionFilters): Fragment {
  if (!latestOnly) return fragment`true`;
  if (status !== null) return fragment`v.is_latest_of_status`;
  return publishedFirst ? fragment`v.is_first` : fragment`v.is_latest`;
}

function isOwn({ ownOrgIds }: ListScope): Fragment {
  return fragment`v.org_id = any(${[...ownOrgIds]}::uuid[])`;
}

/**
 * Whether a public row is of another organization. A search reads the row anyway. Other lists are read from the index of
 * their order, which has no organization: there the ids are compared, or a page far down would visit every row above it.
 */
function isOthers(scope: ListScope): Fragment {
  if (scope.search !== null) return fragment`not ${isOwn(scope)}`;
  const { table } = publicRows(scope.filters);
  return fragment`v.definition_id not in (
    select v.definition_id
    from ${table} as v
    where ${isOwn(scope)}
  )`;
}

/** Columns with a filter for one value. */
const COLUMNS = {
  type: fragment`v.type`,
  status: fragment`v.status`,
  agentType: fragment`v.agent_type`,
  domain: fragment`v.domain`,
  tier: fragment`v.tier`,
  visibility: fragment`v.visibility`,
  authorId: fragment`v.author_id`,
  authorshipType: fragment`v.authorship_type`,
  isFork: fragment`v.is_fork`,
};

/** True if any filter is set other than those that choose a version of each line. */
export function hasFilters(filters: DefinitionFilters): boolean {
  return listConditions(filters).length > 0;
}

function filterConditions(filters: DefinitionFilters): Fragment {
  return listConditions(filters).reduce(
    (all, condition) => fragment`${all} and ${condition}`,
    fragment`true`,
  );
}

function listConditions(filters: DefinitionFilters): Fragment[] {
  const names = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
  const conditions = names.flatMap((name) => {
    const value = filters[name];
    return value === null ? [] : [fragment`${COLUMNS[name]} = ${value}`];
  });
  for (const slug of filters.organizations) {
    conditions.push(fragment`v.org_id = (select o.id from organizations as o where o.slug = ${slug})`);
  }
  if (filters.tags.length > 0) conditions.push(fragment`v.tags && ${[...filters.tags]}::text[]`);
  return conditions;
}
