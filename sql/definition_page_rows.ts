/** The items of a page as JSON texts: of few matches, looked up and sorted, or of many that an order is walked for. */
import { JOIN_LIST_ITEM } from "./definition_json.ts";
import { type MatchQuery, matchTiers } from "./definition_matches.ts";
import {
  type Bucket,
  DEFINITION_SORTS,
  type DefinitionOrder,
  lowestKey,
  SORT_ORDERS,
  sortColumn,
  sortDirection,
  sortKeys,
  sortsByLine,
} from "./definition_order.ts";
import type { Sql } from "./pool.ts";

interface PageRow {
  /** JSON texts with commas between them; `null` when there are none. */
  items: string | null;
}

/** The parts of a page's SQL that its order decides: put together once, as no value of a request is in them. */
const PAGE_TEXTS = mapWords(DEFINITION_SORTS, (sortBy) =>
  mapWords(SORT_ORDERS, (sortOrder) => pageTexts({ sortBy, sortOrder })),
);

function pageTexts(order: DefinitionOrder) {
  return {
    sortColumn: sortColumn(order),
    sortKeys: sortKeys(order),
    lineJoin: sortsByLine(order) ? "join definition_lines as l on l.id = v.line_id" : "",
    items: pageItems(order),
  };
}

/**
 * The items of a page, in the order it was made in. Each is looked up on its own: the planner does not know how short a
 * page is, and would join it with everything there is.
 */
function pageItems(order: DefinitionOrder): string {
  const direction = sortDirection(order);
  const ofLine = sortsByLine(order) ? `found.line_id ${direction},` : "";
  return `
    select string_agg(
      found.item, ','
      order by p.level, p.sort_key ${direction}, ${ofLine} p.definition_id ${direction}
    ) as items
    from page as p
    cross join lateral (
      select d.line_id, row_to_json(shown)::text as item
      from definitions as d
      join definition_lines as l on l.id = d.line_id
      join organizations as o on o.id = d.org_id
      ${JOIN_LIST_ITEM}
      where d.id = p.definition_id
      limit 1
    ) as found`;
}

function mapWords<Word extends string, Value>(
  words: readonly Word[],
  make: (word: Word) => Value,
): Readonly<Record<Word, Value>> {
  return Object.fromEntries(words.map((word) => [word, make(word)])) as Record<Word, Value>;
}

export interface SortedQuery {
  order: DefinitionOrder;
  /** Better ones come first. */
  levels: readonly number[];
  limit: number;
  offset: number;
}

/** Few matches: each is looked up by its slot, and they are sorted. */
export async function listSorted(sql: Sql, match: MatchQuery, query: SortedQuery): Promise<string> {
  const { order, levels, limit, offset } = query;
  // Bits printed as text and split at its ones give the zeros between them, of which positions are the sums. A block of
  // 1,024 at a time, as most have no ones; with the end that follows its last zeros, each adds up to 1,025.
  const text = PAGE_TEXTS[order.sortBy][order.sortOrder];
  const [row] = await sql<[PageRow]>`
    with ${matchTiers(sql, match)}, blocks as (
      select t.level, (t.chunk << 15) + (number << 10) as first_slot, block.bits
      from tiers as t
      cross join generate_series(0, 31) as number
      cross join lateral (select substring(t.bits from (number << 10) + 1 for 1024) as bits) as block
      where t.level = any(${[...levels]}::int[]) and bit_count(block.bits) > 0
    ), gaps as (
      select
        b.level,
        b.first_slot,
        (
          sum(length(gap.zeros) + 1) over (
            order by b.level, b.first_slot, gap.number rows between unbounded preceding and current row
          ) - 1
        )::int % 1025 as place
      from blocks as b
      cross join lateral string_to_table(b.bits::text, '1') with ordinality as gap (zeros, number)
    ), slots as (
      select g.level, g.first_slot + g.place as slot from gaps as g where g.place < 1024
    ), page as (
      select s.level, v.definition_id, ${sql.unsafe(text.sortColumn)} as sort_key
      from slots as s
      cross join lateral (select * from definition_listings as v where v.slot = s.slot limit 1) as v
      ${sql.unsafe(text.lineJoin)}
      order by s.level, ${sql.unsafe(text.sortKeys)}
      limit ${limit}
      offset ${offset}
    )
    ${sql.unsafe(text.items)}`;
  return row.items ?? "";
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
export async function listInOrder(sql: Sql, match: MatchQuery, query: WalkQuery): Promise<string> {
  const { order, level, limit, offset } = query;
  const text = PAGE_TEXTS[order.sortBy][order.sortOrder];
  const [row] = await sql<[PageRow]>`
    with ${matchTiers(sql, match)}, chunks as materialized (
      select array_agg(coalesce(t.bits, 0::bit(32768)) order by c.chunk) as bits
      from generate_series(0, (select max(v.slot) >> 15 from definition_listings as v)) as c (chunk)
      left join tiers as t on t.chunk = c.chunk and t.level = ${level}
    ), page as (
      select 0 as level, v.definition_id, ${sql.unsafe(text.sortColumn)} as sort_key
      from definition_listings as v
      ${sql.unsafe(text.lineJoin)}
      where get_bit((select c.bits from chunks as c)[(v.slot >> 15) + 1], v.slot & 32767) = 1
        and ${hasBegun(sql, query)}
      order by ${sql.unsafe(text.sortKeys)}
      limit ${limit}
      offset ${offset}
    )
    ${sql.unsafe(text.items)}`;
  return row.items ?? "";
}

/** The condition that skips everything before the first bucket; the walk ends by itself. */
function hasBegun(sql: Sql, { order, first, previous }: WalkQuery) {
  const column = sql.unsafe(sortColumn(order));
  if (order.sortOrder === "asc" && first) return sql`${column} >= ${lowestKey(order, first)}`;
  if (order.sortOrder === "desc" && previous) return sql`${column} < ${lowestKey(order, previous)}`;
  return sql`true`;
}
