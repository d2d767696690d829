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

/**
 * Counts, and lists the page: the matches of its levels are sorted, but for the last level when that has too many, which
 * is found by walking through the order.
 */
export async function countAndList(sql: Sql, match: MatchQuery, query: CountedQuery): Promise<CountedPage> {
  const { order, limit, offset, lastLevel, mostSorted, mostWalked } = query;
  const end = offset + limit;
  const [row] = await sql<[CountedRow]>`
    with ${matchTiers(sql, match)}, counts as materialized (${levelCounts(sql)}), stretches as (
      select level, total, (sum(total) over (order by level))::bigint - total as first
      from counts
    ), shown as materialized (
      select level, total, first
      from stretches
      where total > 0 and first < ${end}::bigint and first + total > ${offset}::bigint
    ), registry as materialized (
      -- Slots of versions that are gone stay empty, so that this is a bound, and a close one.
      select coalesce(max(v.slot) + 1, 0) as listings from definition_listings as v
    ), choice as materialized (
      select
        -- Of the last level on the page, and of the first one.
        last.level,
        coalesce(last.first, 0) as first,
        coalesce(all_shown.first, 0) as sorted_first,
        all_shown.total is null or last.level <= ${lastLevel} and all_shown.total <= ${mostSorted} as is_sorted,
        -- As if the matches were spread evenly: where they are all far down, the whole order is read.
        coalesce(
          last.level <= ${lastLevel}
          and all_shown.total > ${mostSorted}
          and all_shown.total - last.total <= ${mostSorted}
          and (${end}::bigint - last.first) * (select listings from registry) <= ${mostWalked} * last.total,
          false
        ) as is_walked
      from (select sum(total) as total, min(first) as first, max(level) as level from shown) as all_shown
      left join shown as last on last.level = all_shown.level
    ), ${sortedPage(sql, "sorted", {
      tiers: sql`
        select t.level, t.chunk, t.bits
        from tiers as t
        join shown as s on s.level = t.level
        where (select is_sorted or is_walked from choice)
          and t.level <= (select case when is_walked then level - 1 else level end from choice)`,
      ...{
        order,
        limit: sql`${limit}::bigint`,
        offset: sql`(select ${offset}::bigint - sorted_first from choice)`,
      },
    })}, ${walkedPage(sql, "walked", {
      level: sql`(select level from choice)`,
      hasBegun: sql`(select is_walked from choice)`,
      order,
      limit: sql`(select least(${limit}::bigint, ${end}::bigint - first) from choice)`,
      offset: sql`(select greatest(${offset}::bigint - first, 0) from choice)`,
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
