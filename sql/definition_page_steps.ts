/** The steps of a page's SQL: from the bits of a list to rows in an order, and from those to entries of the page. */
import { DEFINITION_WRITERS } from "./definition_json.ts";
import type { matchTiers } from "./definition_matches.ts";
import {
  DEFINITION_SORTS,
  type DefinitionOrder,
  SORT_ORDERS,
  sortColumn,
  sortDirection,
  sortKeys,
  sortsByLine,
} from "./definition_order.ts";
import type { Sql } from "./pool.ts";
import { SERVER_START } from "./row_texts.ts";

/** A definition on a page, and the version of the rows that its item is made from. */
export interface PageEntry {
  id: string;
  version: string;
}

export interface PageRow {
  /** What `readEntries` reads; `null` when there are none. */
  entries: string | null;
}

const UUID_LENGTH = 36;

/** A piece of SQL with its parameters. */
export type Fragment = ReturnType<typeof matchTiers>;

/** The parts of the SQL that an order decides: put together once, as no value of a request is in them. */
const ORDER_TEXTS = mapWords(DEFINITION_SORTS, (sortBy) =>
  mapWords(SORT_ORDERS, (sortOrder) => orderTexts({ sortBy, sortOrder })),
);

function orderTexts(order: DefinitionOrder) {
  return {
    sortColumn: sortColumn(order),
    sortKeys: sortKeys(order),
    lineJoin: sortsByLine(order) ? "join definition_lines as l on l.id = v.line_id" : "",
    entries: pageEntriesText(order),
  };
}

function mapWords<Word extends string, Value>(
  words: readonly Word[],
  make: (word: Word) => Value,
): Readonly<Record<Word, Value>> {
  return Object.fromEntries(words.map((word) => [word, make(word)])) as Record<Word, Value>;
}

/**
 * The entries of `page` as a text with commas: how all versions end, then for each, in the order that the page was made
 * in, its id and how its version begins. Each is looked up on its own: the planner does not know how short a page is, and
 * would join it with everything there is.
 */
function pageEntriesText(order: DefinitionOrder): string {
  const direction = sortDirection(order);
  const ofLine = sortsByLine(order) ? `found.line_id ${direction},` : "";
  return `
    select ${SERVER_START} || ',' || string_agg(
      p.definition_id || found.writers,
      ','
      order by p.level, p.sort_key ${direction}, ${ofLine} p.definition_id ${direction}
    ) as entries
    from page as p
    cross join lateral (
      select d.line_id, ${DEFINITION_WRITERS} as writers
      from definitions as d
      join definition_lines as l on l.id = d.line_id
      join organizations as o on o.id = d.org_id
      where d.id = p.definition_id
      limit 1
    ) as found`;
}

/** Selects the one `PageRow` of `page`, which has the columns that both ways to it make. */
export function pageEntries(sql: Sql, order: DefinitionOrder): Fragment {
  return sql.unsafe(ORDER_TEXTS[order.sortBy][order.sortOrder].entries);
}

export function readEntries({ entries }: PageRow): PageEntry[] {
  const [serverStart, ...found] = entries?.split(",") ?? [];
  return found.map((text) => ({
    id: text.slice(0, UUID_LENGTH),
    version: `${text.slice(UUID_LENGTH)}.${serverStart}`,
  }));
}

/** Rows of an order to take; the numbers are SQL. */
export interface PageRows {
  order: DefinitionOrder;
  limit: Fragment;
  offset: Fragment;
}

/**
 * A common table expression `name` of the rows that the bits of `tiers` stand for, looked up by their slots and sorted:
 * for few. Most blocks of 1,024 bits have no ones, and most words of 64 in the others. A word printed as text and split at
 * its ones gives the zeros between them, of which positions are the sums; with the end that follows its last zeros, each
 * word adds up to 65.
 */
export function sortedPage(
  sql: Sql,
  name: string,
  { tiers, order, limit, offset }: PageRows & { tiers: Fragment },
) {
  const text = ORDER_TEXTS[order.sortBy][order.sortOrder];
  return sql`
    words as (
      select t.level, (t.chunk << 15) + (block << 10) + (number << 6) as first_slot, word.bits
      from (${tiers}) as t
      cross join generate_series(0, 31) as block
      cross join generate_series(0, 15) as number
      cross join lateral (
        select substring(t.bits from (block << 10) + (number << 6) + 1 for 64) as bits
      ) as word
      where bit_count(substring(t.bits from (block << 10) + 1 for 1024)) > 0 and bit_count(word.bits) > 0
    ), gaps as (
      select
        w.level,
        w.first_slot,
        (
          sum(length(gap.zeros) + 1) over (
            order by w.level, w.first_slot, gap.number rows between unbounded preceding and current row
          ) - 1
        )::int % 65 as place
      from words as w
      cross join lateral string_to_table(w.bits::text, '1') with ordinality as gap (zeros, number)
    ), slots as (
      select g.level, g.first_slot + g.place as slot from gaps as g where g.place < 64
    ), ${sql.unsafe(name)} as (
      select s.level, v.definition_id, ${sql.unsafe(text.sortColumn)} as sort_key
      from slots as s
      cross join lateral (select * from definition_listings as v where v.slot = s.slot limit 1) as v
      ${sql.unsafe(text.lineJoin)}
      order by s.level, ${sql.unsafe(text.sortKeys)}
      limit ${limit}
      offset ${offset}
    )`;
}

/**
 * A common table expression `name` of the rows of one level that are found by reading the listings in their order until
 * there are enough: for many. It begins where `hasBegun` is true.
 */
export function walkedPage(
  sql: Sql,
  name: string,
  { level, hasBegun, order, limit, offset }: PageRows & { level: Fragment; hasBegun: Fragment },
) {
  const text = ORDER_TEXTS[order.sortBy][order.sortOrder];
  return sql`
    chunks as materialized (
      select array_agg(coalesce(t.bits, 0::bit(32768)) order by c.chunk) as bits
      from generate_series(0, (select max(v.slot) >> 15 from definition_listings as v)) as c (chunk)
      left join tiers as t on t.chunk = c.chunk and t.level = ${level}
    ), ${sql.unsafe(name)} as (
      select ${level} as level, v.definition_id, ${sql.unsafe(text.sortColumn)} as sort_key
      from definition_listings as v
      ${sql.unsafe(text.lineJoin)}
      where get_bit((select c.bits from chunks as c)[(v.slot >> 15) + 1], v.slot & 32767) = 1
        and ${hasBegun}
      order by ${sql.unsafe(text.sortKeys)}
      limit ${limit}
      offset ${offset}
    )`;
}
