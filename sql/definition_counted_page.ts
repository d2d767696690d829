/** The totals of a list together with its page, when that is cheap to find: one look at the bits does for both. */
import { type LevelCount, levelCounts, type MatchQuery, matchTiers } from "./definition_matches.ts";
import type { DefinitionOrder } from "./definition_order.ts";
import {
  type PageEntry,
  type PageRow,
  pageEntries,
  readEntries,
  sortedPage,
  walkedPage,
} from "./definition_page_steps.ts";
import type { Sql } from "./pool.ts";

export interface CountedQuery {
  order: DefinitionOrder;
  limit: number;
  offset: number;
  /** The last level that may be listed. */
  lastLevel: number;
  /** How many matches may be sorted, and how many listings read in their order. */
  mostSorted: number;
  mostWalked: number;
}

export interface CountedPage {
  /** How many match in each level, the best first. */
  counts: LevelCount[];
  /** How many listings there are, whoever may see them. */
  listings: number;
  /** The page; `null` when it takes more than was allowed. */
  entries: PageEntry[] | null;
}

interface CountedRow extends PageRow {
  isListed: boolean;
  listings: number;
  /** Pairs of a level and its total; `null` when there are none. */
  counts: [number, number][] | null;
}

/** Counts, and lists the page by sorting the matches of its levels, or of one level by walking through the order. */
export async function countAndList(sql: Sql, match: MatchQuery, query: CountedQuery): Promise<CountedPage> {
  const { order, limit, lastLevel, mostSorted, mostWalked } = query;
  const end = query.offset + limit;
  const offset = sql`(select ${query.offset}::bigint - first from choice)`;
  const level = sql`(select level from choice)`;
  const [row] = await sql<[CountedRow]>`
    with ${matchTiers(sql, match)}, counts as materialized (${levelCounts(sql)}), stretches as (
      select level, total, (sum(total) over (order by level))::bigint - total as first
      from counts
    ), shown as materialized (
      select level, total, first
      from stretches
      where total > 0 and first < ${end}::bigint and first + total > ${query.offset}::bigint
    ), registry as materialized (
      -- Slots of versions that are gone stay empty, so that this is a bound, and a close one.
      select coalesce(max(v.slot) + 1, 0) as listings from definition_listings as v
    ), choice as materialized (
      select
        coalesce(min(s.first), 0) as first,
        max(s.level) as level,
        coalesce(max(s.level), 0) <= ${lastLevel} and coalesce(sum(s.total), 0) <= ${mostSorted} as is_sorted,
        -- As if the matches were spread evenly: where they are all far down, the whole order is read.
        max(s.level) <= ${lastLevel} and sum(s.total) > ${mostSorted} and count(*) = 1
          and (${end}::bigint - min(s.first)) * (select listings from registry) <= ${mostWalked} * sum(s.total)
          as is_walked
      from shown as s
    ), ${sortedPage(sql, "sorted", {
      tiers: sql`
        select t.level, t.chunk, t.bits
        from tiers as t
        join shown as s on s.level = t.level
        where (select is_sorted from choice)`,
      ...{ order, limit, offset },
    })}, ${walkedPage(sql, "walked", {
      ...{ level, hasBegun: sql`(select is_walked from choice)` },
      ...{ order, limit, offset },
    })}, page as (
      select * from sorted
      union all
      select * from walked
    )
    select
      (select json_agg(json_build_array(level, total) order by level) from counts) as counts,
      (select listings from registry) as listings,
      (select is_sorted or is_walked from choice) as is_listed,
      (${pageEntries(sql, order)}) as entries`;
  return {
    counts: (row.counts ?? []).map(([level, total]) => ({ level, total })),
    listings: row.listings,
    entries: row.isListed ? readEntries(row) : null,
  };
}
