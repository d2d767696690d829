/** The orders of lists of definitions, and the buckets that an order falls into, which are terms of the bitmap index. */
import { type MatchQuery, matchTiers } from "./definition_matches.ts";
import type { Sql } from "./pool.ts";

export const DEFINITION_SORTS = [
  "name",
  "createdAt",
  "updatedAt",
  "executionCount",
  "uniqueExecutionCount",
] as const;
export type DefinitionSort = (typeof DEFINITION_SORTS)[number];

export const SORT_ORDERS = ["desc", "asc"] as const;

export interface DefinitionOrder {
  sortBy: DefinitionSort;
  sortOrder: (typeof SORT_ORDERS)[number];
}

/** Of `definition_listings as v`, or of its `definition_lines as l`. */
const SORT_COLUMNS: Readonly<Record<DefinitionSort, string>> = {
  name: "v.name",
  createdAt: "v.created_at",
  updatedAt: "v.updated_at",
  executionCount: "l.execution_count",
  uniqueExecutionCount: "l.unique_execution_count",
};

/** How deep buckets go, as `definition_sort_terms` makes them: 1 is months, 2 is days. */
const BUCKET_DEPTHS: Readonly<Record<DefinitionSort, number>> = {
  name: 3,
  createdAt: 2,
  updatedAt: 2,
  executionCount: 1,
  uniqueExecutionCount: 1,
};

/** The column that is sorted by, as SQL text; so are the next two. */
export function sortColumn({ sortBy }: DefinitionOrder): string {
  return SORT_COLUMNS[sortBy];
}

export function sortDirection({ sortOrder }: DefinitionOrder): string {
  return sortOrder === "asc" ? "asc" : "desc";
}

/** The order of a page, to the last tie. */
export function sortKeys(order: DefinitionOrder): string {
  const direction = sortDirection(order);
  const ofLine = sortsByLine(order) ? `l.id ${direction},` : "";
  return `${sortColumn(order)} ${direction}, ${ofLine} v.definition_id ${direction}`;
}

/** Whether the line is sorted by, and not the version. */
export function sortsByLine({ sortBy }: DefinitionOrder): boolean {
  return sortBy === "executionCount" || sortBy === "uniqueExecutionCount";
}

/** A part of an order: all that have a month, or how a name begins, or the binary digits of a count in common. */
export interface Bucket {
  term: string;
  /** How many of one level of a list are in it. */
  matches: number;
}

export interface BucketQuery {
  order: DefinitionOrder;
  /** Of the list. */
  level: number;
  depth: number;
  /** How the sort keys begin in the bucket around them; empty when it is the whole order. */
  within: string;
  enough: number;
}

/**
 * Counts the buckets of an order at a depth, one after the other until they hold enough; none when it does not go that
 * deep. Those that nothing matches in are among them.
 */
export async function countBuckets(sql: Sql, match: MatchQuery, query: BucketQuery): Promise<Bucket[]> {
  const { order, level, depth, within, enough } = query;
  if (depth > BUCKET_DEPTHS[order.sortBy]) return [];
  const lowest = `${order.sortBy}${depth}^${within}`;
  const highest = `${lowest}\u{10ffff}`;
  const isAscending = order.sortOrder === "asc";
  // Every step of the recursion looks up the term that follows.
  const before = isAscending ? "" : highest;
  const follows = sql.unsafe(isAscending ? "p.term > b.term" : "p.term < b.term");
  return sql<Bucket[]>`
    with recursive ${matchTiers(sql, match)}, buckets as (
      select ${before}::text collate "C" as term, 0::bigint as matches, 0::bigint as seen
      union all
      select following.term, counted.matches, b.seen + counted.matches
      from buckets as b
      cross join lateral (
        select p.term
        from definition_postings as p
        where ${follows} and p.term >= ${lowest} and p.term < ${highest}
        order by p.term ${sql.unsafe(sortDirection(order))}
        limit 1
      ) as following
      cross join lateral (
        select coalesce(sum(bit_count(p.bits & t.bits)), 0)::bigint as matches
        from definition_postings as p
        join tiers as t on t.chunk = p.chunk and t.level = ${level}
        where p.term = following.term
      ) as counted
      where b.seen < ${enough}
    )
    select term, matches
    from buckets
    where term <> ${before}
    order by term ${sql.unsafe(sortDirection(order))}`;
}

/** How the sort keys of a bucket begin. */
export function bucketKey({ term }: Bucket): string {
  return term.slice(term.indexOf("^") + 1);
}

/** A sort key that is as low as any in the bucket, and above any in the buckets below it. */
export function lowestKey({ sortBy }: DefinitionOrder, bucket: Bucket): string | number {
  const key = bucketKey(bucket);
  if (sortBy === "name") return key;
  if (sortBy === "createdAt" || sortBy === "updatedAt") return `${`${key}-01`.slice(0, 10)}T00:00:00Z`;
  const width = Number(key);
  return width === 0 ? 0 : 2 ** (width - 1);
}
