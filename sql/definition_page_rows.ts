/** Which definitions a page has: of few matches, looked up and sorted, or of many that an order is walked for. */
import { type MatchQuery, matchTiers } from "./definition_matches.ts";
import { type Bucket, type DefinitionOrder, lowestKey, sortColumn } from "./definition_order.ts";
import {
  type PageEntry,
  type PageRow,
  pageEntries,
  readEntries,
  sortedPage,
  walkedPage,
} from "./definition_page_steps.ts";
import type { Sql } from "./pool.ts";

export interface SortedQuery {
  order: DefinitionOrder;
  /** Better ones come first. */
  levels: readonly number[];
  limit: number;
  offset: number;
}

/** Few matches: each is looked up by its slot, and they are sorted. */
export async function listSorted(sql: Sql, match: MatchQuery, query: SortedQuery): Promise<PageEntry[]> {
  const { order, levels, limit, offset } = query;
  const tiers = sql`select level, chunk, bits from tiers where level = any(${[...levels]}::int[])`;
  const [row] = await sql<[PageRow]>`
    with ${matchTiers(sql, match)},
    ${sortedPage(sql, "page", { tiers, order, limit: sql`${limit}::bigint`, offset: sql`${offset}::bigint` })}
    ${pageEntries(sql, order)}`;
  return readEntries(row);
}

export interface WalkQuery {
  order: DefinitionOrder;
  level: number;
  limit: number;
  /** After the beginning of the first bucket. */
  offset: number;
  /** The bucket to begin with and the one before it; `null` at the beginning of the order. */
  first: Bucket | null;
  previous: Bucket | null;
}

/** Many matches: the listings are read in their order until the page is full. */
export async function listInOrder(sql: Sql, match: MatchQuery, query: WalkQuery): Promise<PageEntry[]> {
  const { order, limit, offset } = query;
  const level = sql`${query.level}::int`;
  const [row] = await sql<[PageRow]>`
    with ${matchTiers(sql, match)},
    ${walkedPage(sql, "page", {
      ...{ order, level, hasBegun: hasBegun(sql, query) },
      ...{ limit: sql`${limit}::bigint`, offset: sql`${offset}::bigint` },
    })}
    ${pageEntries(sql, order)}`;
  return readEntries(row);
}

/** The condition that skips everything before the first bucket; the walk ends by itself. */
function hasBegun(sql: Sql, { order, first, previous }: WalkQuery) {
  const column = sql.unsafe(sortColumn(order));
  if (order.sortOrder === "asc" && first) return sql`${column} >= ${lowestKey(order, first)}`;
  if (order.sortOrder === "desc" && previous) return sql`${column} < ${lowestKey(order, previous)}`;
  return sql`true`;
}
