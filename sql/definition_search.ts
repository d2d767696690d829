/** Lists of definitions: filtered, searched, sorted, a page at a time (contract section 5). */
import { countMatches, type LevelCount, type MatchQuery, matchTiers } from "./definition_matches.ts";
import { type DefinitionFilters, filterParts } from "./definition_terms.ts";
import type { DefinitionViewer } from "./definition_visibility.ts";
import {
  findSearchWords,
  findSimilarWords,
  rankedParts,
  type SearchWord,
  widestParts,
} from "./definition_words.ts";
import { type DefinitionHeadRow, headColumns } from "./definitions.ts";
import type { Pool, Sql } from "./pool.ts";

export const DEFINITION_SORTS = [
  "name",
  "createdAt",
  "updatedAt",
  "executionCount",
  "uniqueExecutionCount",
] as const;
export type DefinitionSort = (typeof DEFINITION_SORTS)[number];

export interface DefinitionListQuery {
  viewer: DefinitionViewer;
  /** The one organization that counts, of which the viewer is a member; `null` when all do. */
  orgId: string | null;
  filters: DefinitionFilters;
  /** Words to look for; `null` when nothing is searched for. */
  search: string | null;
  /** `null`: the best matches first in a search, the latest first in other lists. */
  sortBy: DefinitionSort | null;
  sortOrder: "asc" | "desc";
  limit: number;
  offset: number;
}

export interface DefinitionPage {
  rows: DefinitionHeadRow[];
  /** Of all pages; exact. */
  total: number;
}

/** Up to so many matches are looked up and sorted (some 4 ms); of more, the index of the sort column is read in order. */
const MOST_SORTED = 800;

/** Of `definition_listings as v`, or of its `definition_lines as l`. */
const SORT_COLUMNS: Readonly<Record<DefinitionSort, string>> = {
  name: "v.name",
  createdAt: "v.created_at",
  updatedAt: "v.updated_at",
  executionCount: "l.execution_count",
  uniqueExecutionCount: "l.unique_execution_count",
};

/** Lists a page, and how many there are, as of one moment. */
export async function listDefinitions(sql: Pool, query: DefinitionListQuery): Promise<DefinitionPage> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    await prepareSearch(tx);
    const { viewer, orgId, filters } = query;
    const base: MatchQuery = { viewer, orgId, parts: filterParts(filters) };
    const { match, counts } = await findMatches(tx, base, query);
    const total = sumOf(counts);
    const rows = total > query.offset ? await listPage(tx, match, { ...query, counts, total }) : [];
    return { rows, total };
  });
}

/**
 * Until the transaction ends. The planner cannot know how many bits are set and thinks of rare matches: workers,
 * compiled code and sorting all of them, which it then asks for, cost more than the whole page. Two letters in each other's place leave few
 * trigrams of a short word.
 */
async function prepareSearch(sql: Sql): Promise<void> {
  await sql`
    select
      set_config('max_parallel_workers_per_gather', '0', true),
      set_config('jit', 'off', true),
      set_config('enable_sort', 'off', true),
      set_config('pg_trgm.similarity_threshold', '0.15', true)`;
}

interface Matches {
  match: MatchQuery;
  counts: readonly LevelCount[];
}

async function findMatches(
  sql: Sql,
  base: MatchQuery,
  query: Pick<DefinitionListQuery, "search" | "sortBy">,
): Promise<Matches> {
  const { search, sortBy } = query;
  if (search === null) return { match: base, counts: await countMatches(sql, base) };
  const words = await findSearchWords(sql, search);
  if (words.length === 0) return { match: base, counts: [] };
  const matchWords = async (meant: readonly SearchWord[]): Promise<Matches> => {
    const wordParts = sortBy === null ? rankedParts(meant, search) : widestParts(meant);
    const match = { ...base, parts: [...base.parts, ...wordParts] };
    return { match, counts: await countMatches(sql, match) };
  };
  const matches = await matchWords(words);
  if (sumOf(matches.counts) > 0) return matches;
  const meant = await forgiveSlips(sql, base, words);
  return meant === null ? matches : matchWords(meant);
}

/**
 * Words that nothing has which the viewer may see are taken for misspelled ones; `null` when there is no such word.
 * What others cannot see must not decide it: else a private text would tell by the answer which words it has.
 */
async function forgiveSlips(
  sql: Sql,
  base: MatchQuery,
  words: readonly SearchWord[],
): Promise<SearchWord[] | null> {
  const scope = base.parts.filter(({ level }) => level === "public" || level === "member");
  const meant: SearchWord[] = [];
  for (const word of words) {
    const counts = await countMatches(sql, { ...base, parts: [...scope, ...widestParts([word])] });
    meant.push(sumOf(counts) > 0 ? word : { ...word, kin: await findSimilarWords(sql, word.word) });
  }
  return meant.every((word, index) => word === words[index]) ? null : meant;
}

function sumOf(counts: readonly LevelCount[]): number {
  return counts.reduce((sum, { total }) => sum + total, 0);
}

interface PageQuery extends Pick<DefinitionListQuery, "sortBy" | "sortOrder" | "limit" | "offset"> {
  counts: readonly LevelCount[];
  total: number;
}

async function listPage(sql: Sql, match: MatchQuery, page: PageQuery): Promise<DefinitionHeadRow[]> {
  if (page.total <= MOST_SORTED) return listSorted(sql, match, { ...page, level: null });
  const rows: DefinitionHeadRow[] = [];
  let { offset } = page;
  for (const { level, total } of page.counts) {
    const limit = page.limit - rows.length;
    if (limit > 0 && offset < total) {
      const list = total <= MOST_SORTED ? listSorted : listInOrder;
      rows.push(...(await list(sql, match, { ...page, level, limit, offset })));
    }
    offset = Math.max(0, offset - total);
  }
  return rows;
}

interface SegmentQuery extends Pick<DefinitionListQuery, "sortBy" | "sortOrder" | "limit" | "offset"> {
  /** Only of this level; `null` for all, the best first. */
  level: number | null;
}

/** Few matches: each is looked up by its slot, and they are sorted. */
async function listSorted(sql: Sql, match: MatchQuery, segment: SegmentQuery): Promise<DefinitionHeadRow[]> {
  const { level, limit, offset } = segment;
  // A chunk printed as text and split at its ones gives the zeros between them, of which positions are the sums.
  return sql<DefinitionHeadRow[]>`
    with ${matchTiers(sql, match)}, gaps as (
      select t.level, t.chunk, gap.number, length(gap.zeros) as zeros
      from tiers as t
      cross join lateral string_to_table(t.bits::text, '1') with ordinality as gap (zeros, number)
      where bit_count(t.bits) > 0 and (${level}::int is null or t.level = ${level}::int)
    ), slots as (
      select
        g.level,
        (g.chunk << 15) + sum(g.zeros + 1) over (partition by g.level, g.chunk order by g.number)::int - 1 as slot,
        lead(g.number) over (partition by g.level, g.chunk order by g.number) is null as is_rest
      from gaps as g
    ), page as (
      select s.level, v.definition_id, ${sortColumn(sql, segment)} as sort_key
      from slots as s
      cross join lateral (select * from definition_listings as v where v.slot = s.slot limit 1) as v
      ${lineJoin(sql, segment)}
      where not s.is_rest
      order by s.level, ${sortKeys(sql, segment)}
      limit ${limit}
      offset ${offset}
    )
    ${pageRows(sql, segment)}`;
}

/** Many matches: the listings are read in their order until the page is full. */
async function listInOrder(sql: Sql, match: MatchQuery, segment: SegmentQuery): Promise<DefinitionHeadRow[]> {
  const { level, limit, offset } = segment;
  return sql<DefinitionHeadRow[]>`
    with ${matchTiers(sql, match)}, chunks as materialized (
      select array_agg(coalesce(t.bits, 0::bit(32768)) order by c.chunk) as bits
      from generate_series(0, (select max(v.slot) >> 15 from definition_listings as v)) as c (chunk)
      left join tiers as t on t.chunk = c.chunk and t.level = ${level}
    ), page as (
      select 0 as level, v.definition_id, ${sortColumn(sql, segment)} as sort_key
      from definition_listings as v
      ${lineJoin(sql, segment)}
      where get_bit((select c.bits from chunks as c)[(v.slot >> 15) + 1], v.slot & 32767) = 1
      order by ${sortKeys(sql, segment)}
      limit ${limit}
      offset ${offset}
    )
    ${pageRows(sql, segment)}`;
}

/** The order of a page, to the last tie. */
function sortKeys(sql: Sql, segment: SegmentQuery) {
  const direction = sortDirection(sql, segment);
  const ofLine = sortsByLine(segment.sortBy) ? sql`l.id ${direction},` : sql``;
  return sql`${sortColumn(sql, segment)} ${direction}, ${ofLine} v.definition_id ${direction}`;
}

function sortColumn(sql: Sql, { sortBy }: SegmentQuery) {
  return sql`${sql(SORT_COLUMNS[sortBy ?? "createdAt"])}`;
}

function sortDirection(sql: Sql, { sortOrder }: SegmentQuery) {
  return sortOrder === "asc" ? sql`asc` : sql`desc`;
}

function lineJoin(sql: Sql, { sortBy }: SegmentQuery) {
  return sortsByLine(sortBy) ? sql`join definition_lines as l on l.id = v.line_id` : sql``;
}

function sortsByLine(sortBy: DefinitionSort | null): boolean {
  return sortBy === "executionCount" || sortBy === "uniqueExecutionCount";
}

/** The rows of a page, in the order it was made in. */
function pageRows(sql: Sql, segment: SegmentQuery) {
  const direction = sortDirection(sql, segment);
  const ofLine = sortsByLine(segment.sortBy) ? sql`d.line_id ${direction},` : sql``;
  return sql`
    select ${headColumns(sql)}
    from page as p
    join definitions as d on d.id = p.definition_id
    join definition_lines as l on l.id = d.line_id
    join organizations as o on o.id = d.org_id
    order by p.level, p.sort_key ${direction}, ${ofLine} p.definition_id ${direction}`;
}
