/** Selects the rows of `definition_listings` that the viewer can find and that match the filters. */
import { type Fragment, fragment, type Sql } from "../../connection/pool.ts";
import type { DefinitionRow } from "../fields.ts";
import { type DefinitionViewer, memberOrgIds } from "../visibility.ts";

/** Filters that compare a field with one value. */
type FieldFilters = {
  [Name in Exclude<keyof typeof COLUMNS, "isFork">]: DefinitionRow[Name] | null;
};

/** Filters of a list. Null matches everything. */
export interface DefinitionFilters extends FieldFilters {
  /** Slugs that the organization must have, so two different slugs match nothing. Empty matches everything. */
  organizations: readonly string[];
  isFork: boolean | null;
  /** A version must have at least one of these tags. Empty matches everything. */
  tags: readonly string[];
  /**
   * Lists only the highest version of each line that the viewer can see and that has the requested `status`, if any. Other filters
   * apply afterwards.
   */
  latestOnly: boolean;
  /**
   * With `latestOnly` and no status, each line of the viewer's organizations is listed with the version that its name alone
   * resolves to. This is the highest published version, else the highest deprecated version, else the highest draft. A quarantined
   * version is listed only if the line has no other version.
   */
  publishedFirst: boolean;
}

export interface ListScope {
  /** Ids of the viewer's organizations to list. Their private versions and drafts are included. */
  ownOrgIds: readonly string[];
  /** Whether public versions of other organizations are listed. */
  hasPublic: boolean;
  filters: DefinitionFilters;
  /** Search text; null for a list without a search. */
  search: string | null;
}

/** Returns the organizations that a list covers. If `orgId` is set, it is the only one, and the viewer must be a member. */
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
/** Partition of the latest public versions. */
const LATEST = fragment`definition_listings_latest`;

/** A source of listed rows `v`: a table and a condition on its rows. */
export interface ListedRows {
  table: Fragment;
  rule: Fragment;
}

/**
 * Returns the sources of the rows that the viewer can find and that match the filters: public rows, and all rows of the viewer's
 * organizations. The two kinds are selected separately, so that each kind uses its own indexes. Private rows of other organizations
 * are never read.
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
 * Returns an expression for the number of listed rows: all public rows, minus the public rows of the viewer's organizations, plus
 * the rows that members can list. The viewer's organizations have few rows. Comparing the organization of every public row would
 * take longer than counting these rows.
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

/** Two equivalent conditions on rows `v`. */
export interface Matching {
  matches: Fragment;
  /** Condition for the total, worded so that the planner reads the index on words instead of comparing the words of each row. */
  counted: Fragment;
}

/** SQL fragments of a query over rows `v`. */
export interface ListedSelect {
  columns: Fragment;
  condition: Fragment;
  join?: Fragment;
  /** The `order by` and `limit` clauses. */
  rest?: Fragment;
}

/** Returns the two disjoint kinds of listed rows. A kind is null if the list excludes it. */
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

/**
 * Returns the public rows of all organizations. The latest versions have a partition of their own, which needs no condition on the
 * version.
 */
function publicRows({ latestOnly, status }: DefinitionFilters): ListedRows {
  // The partial indexes of public rows require this condition (`where is_public`).
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
 * Returns the condition that a public row belongs to another organization. A search reads the row anyway, so it compares the
 * organization. Other lists read an index of their sort order, which does not contain the organization, so they compare ids.
 * Otherwise a page with a high offset would fetch every row before it from the table.
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

/** Columns that a filter compares with one value. */
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

/** Returns whether any filter is set, except the filters that choose a version of each line. */
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
