/** The rows of `definition_listings` that the viewer finds and that match the filters. */
import type {
  AuthorshipType,
  DefinitionAgentType,
  DefinitionDomain,
  DefinitionStatus,
  DefinitionTier,
  DefinitionType,
  DefinitionVisibility,
} from "../../../shared/vocabulary.ts";
import type { Fragment, Sql } from "../../connection/pool.ts";
import { type DefinitionViewer, memberOrgIds } from "../visibility.ts";

/** Filters; null matches everything. */
export interface DefinitionFilters {
  type: DefinitionType | null;
  status: DefinitionStatus | null;
  agentType: DefinitionAgentType | null;
  domain: DefinitionDomain | null;
  tier: DefinitionTier | null;
  visibility: DefinitionVisibility | null;
  /** Slug of the organization. */
  organization: string | null;
  authorId: string | null;
  authorshipType: AuthorshipType | null;
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
}

/** Returns the scope of a viewer: everything, or with `orgId` only this organization, which the viewer is a member of. */
export async function findScope(
  sql: Sql,
  { viewer, orgId, filters }: { viewer: DefinitionViewer; orgId: string | null; filters: DefinitionFilters },
): Promise<ListScope> {
  if (orgId !== null) return { ownOrgIds: [orgId], hasPublic: false, filters };
  if (viewer.userId === null) return { ownOrgIds: [], hasPublic: true, filters };
  const rows = await sql<{ orgId: string }[]>`${memberOrgIds(sql, viewer)}`;
  return { ownOrgIds: rows.map((row) => row.orgId), hasPublic: true, filters };
}

/**
 * Returns the rows that the viewer finds and that match the filters, as conditions on `v`: public rows, and all rows of the
 * viewer's organizations. They are selected separately, so that each kind uses its own indexes and private rows of other
 * organizations are never read.
 */
export function listedRows(sql: Sql, scope: ListScope): Fragment[] {
  const rows = rowsOfScope(sql, scope);
  const filters = filterConditions(sql, scope.filters);
  return [rows.public, rows.member]
    .filter((rule) => rule !== null)
    .map((rule) => sql`${rule} and ${filters}`);
}

/** Selects columns of listed rows. */
export function selectListed(sql: Sql, listed: readonly Fragment[], select: ListedSelect): Fragment {
  const { columns, condition, join = sql``, rest = sql`` } = select;
  const selects = listed.map(
    (rule) => sql`(
      select ${columns}
      from definition_listings as v
      ${join}
      where ${rule} and ${condition}
      ${rest}
    )`,
  );
  return selects.reduce((all, one) => sql`${all} union all ${one}`);
}

/** SQL fragments on rows `v`. */
export interface ListedSelect {
  columns: Fragment;
  condition: Fragment;
  join?: Fragment;
  /** An order and a limit. */
  rest?: Fragment;
}

/** Returns the two disjoint kinds of rows of a list as conditions on `v`; null if the list has none of a kind. */
export function rowsOfScope(
  sql: Sql,
  { ownOrgIds, hasPublic, filters }: ListScope,
): { public: Fragment | null; member: Fragment | null } {
  const { latestOnly, status, publishedFirst } = filters;
  const latest = status === null ? "latest" : "latest_of_status";
  // The indexes of public rows are `where is_public`.
  const isPublic = latestOnly ? sql`v.is_public and ${sql(`v.is_public_${latest}`)}` : sql`v.is_public`;
  const isLatest = publishedFirst && status === null ? isFirstByStatus(sql) : sql(`v.is_${latest}`);
  const isOfMember = latestOnly ? sql`${isLatest}` : sql`true`;
  const own = sql`${[...ownOrgIds]}::uuid[]`;
  const isOthers = ownOrgIds.length > 0 ? sql`v.org_id <> all(${own})` : sql`true`;
  return {
    public: hasPublic ? sql`${isPublic} and ${isOthers}` : null,
    member: ownOrgIds.length > 0 ? sql`v.org_id = any(${own}) and ${isOfMember}` : null,
  };
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
} as const satisfies Partial<Record<keyof DefinitionFilters, string>>;

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
