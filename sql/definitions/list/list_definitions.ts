/** Reads pages of definitions, with filters, search and sort order. */
import { type Fragment, fragment, type Pool, sendCommit, type Transaction } from "../../connection/pool.ts";
import { joinSummary } from "../definition_json.ts";
import type { DefinitionViewer } from "../visibility.ts";
import { correctWords } from "./correct_words.ts";
import {
  countListed,
  type DefinitionFilters,
  findScope,
  hasFilters,
  type ListScope,
  type Matching,
} from "./list_scope.ts";
import { rankedPage, rankQueries } from "./search_rank.ts";
import { matchQuery, possibleNames, readSearchWords, type SearchWords } from "./search_words.ts";
import { type DefinitionOrder, type DefinitionSort, firstRows, orderKeys } from "./sort_columns.ts";

export interface DefinitionListQuery extends PageQuery {
  viewer: DefinitionViewer;
  /** Organization to list; the viewer must be a member. Null lists all organizations. */
  orgId: string | null;
  filters: DefinitionFilters;
}

interface PageQuery {
  /** Search text; null for a list without a search. */
  search: string | null;
  /** Sort column. Null sorts a search by relevance, and any other list by `createdAt`. */
  sortBy: DefinitionSort | null;
  sortOrder: "asc" | "desc";
  limit: number;
  offset: number;
}

export interface DefinitionPage {
  /** Items as JSON texts separated by commas, as PostgreSQL sent them. */
  items: Uint8Array;
  /** Exact number of items on all pages. */
  total: number;
}

const NO_ITEMS = new Uint8Array();

/** Timeout of a statement that reads a list. */
export const LIST_TIMEOUT_MS = 5_000;

/**
 * Lists a page and counts all matches. If a search finds nothing, repeats it with corrected words. Rejects with SQLSTATE 57014 if a
 * statement takes longer than `LIST_TIMEOUT_MS`.
 */
export async function listDefinitions(sql: Pool, query: DefinitionListQuery): Promise<DefinitionPage> {
  const { page, search } = await withListSettings(sql, (tx) => readList(tx, query));
  if (page.total > 0 || search === null) return page;
  return withListSettings(sql, async (tx) => {
    const words = await correctWords(tx, wholeScope(search.query), search.asked.words);
    return words === null ? page : searchPage(tx, search.query, { ...search.asked, words });
  });
}

/**
 * Runs `read` in a read-only transaction. Rejects with SQLSTATE 57014 if a statement takes longer than `LIST_TIMEOUT_MS`.
 *
 * The cost settings reflect that rows are mostly in memory, where page reads are cheap and the main cost is comparing the words
 * of a row. `work_mem` is large enough for a hashed subplan over the ids of a member's versions (`isOthers`). Without hashing, the
 * subplan would run again for every public row.
 */
async function withListSettings<Result>(
  sql: Pool,
  read: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await sql.begin("read only", async (tx) => {
    // Sent with the first statement of `read`, which saves a round trip.
    const settings = tx`
      select
        set_config('statement_timeout', ${String(LIST_TIMEOUT_MS)}, true),
        set_config('random_page_cost', '0.1', true),
        set_config('seq_page_cost', '0.1', true),
        set_config('work_mem', '32MB', true),
        set_config('max_parallel_workers_per_gather', '0', true),
        set_config('jit', 'off', true)`.execute();
    const [value] = await Promise.all([read(tx), settings]);
    return { value };
  });
  return result.value;
}

/**
 * Reads a page and returns it with the words of the search. `search` is null if the list has no search or the search has no words.
 */
async function readList(
  sql: Transaction,
  asking: DefinitionListQuery,
): Promise<{ page: DefinitionPage; search: { query: ScopedQuery; asked: SearchWords } | null }> {
  const query: ScopedQuery = { ...asking, ...(await findScope(sql, asking)) };
  if (query.search === null) {
    const all = fragment`true`;
    return { page: await readPage(sql, query, { matches: all, counted: all, ranks: [] }), search: null };
  }
  const asked = await readSearchWords(sql, query, query.search);
  if (asked.words.length === 0) return { page: { items: NO_ITEMS, total: 0 }, search: null };
  return { page: await searchPage(sql, query, asked), search: { query, asked } };
}

type ScopedQuery = PageQuery & ListScope & { viewer: DefinitionViewer };

/** Returns the scope without the filters that apply after the latest versions are chosen. */
function wholeScope({ ownOrgIds, hasPublic, filters, search }: ListScope): ListScope {
  const { latestOnly, publishedFirst, status } = filters;
  const none = { type: null, agentType: null, domain: null, tier: null, visibility: null, authorId: null };
  const rest = { organizations: [], authorshipType: null, isFork: null, tags: [] };
  const chosen = { latestOnly, publishedFirst, status: latestOnly ? status : null };
  return { ownOrgIds, hasPublic, filters: { ...none, ...rest, ...chosen }, search };
}

async function searchPage(sql: Transaction, query: ScopedQuery, asked: SearchWords): Promise<DefinitionPage> {
  const words = matchQuery(asked);
  const { names } = asked;
  const isSpelled = names.length > 0 ? [fragment`v.name = any(${[...names]}::text[])`] : [];
  const inWords = fragment`v.words @@ ${words}::tsquery`;
  const matches = isSpelled.reduce((all, one) => fragment`(${one} or ${all})`, inWords);
  // With a subquery, the planner expects few matches and reads only the GIN index on words. With filters, the plain condition lets
  // the planner combine indexes.
  const isCounted = names.length === 0 && !hasFilters(query.filters);
  const counted = isCounted ? fragment`v.words @@ (select ${words}::tsquery)` : matches;
  if (query.sortBy !== null) return readPage(sql, query, { matches, counted, ranks: [] });
  const ranks = Object.values(rankQueries(asked)).map((words) => fragment`v.words @@ ${words}::tsquery`);
  const [inName = matches] = ranks;
  const isNamed = fragment`${inName} and v.name = any(${possibleNames(query.search ?? "")}::text[])`;
  return readPage(sql, query, { matches, counted, ranks: [isNamed, ...isSpelled, ...ranks] });
}

/** Reads a page. This statement is the last one of the transaction, so the commit is sent with it. */
async function readPage(
  sql: Transaction,
  query: ScopedQuery,
  // Each rank is a subset of `matches`. The best rank is first.
  matching: Matching & { ranks: readonly Fragment[] },
): Promise<DefinitionPage> {
  const total = countListed(query, matching);
  const page =
    matching.ranks.length > 0 ? rankedPage(query, { ...query, ...matching }) : sortedPage(query, matching);
  const rows = sql`
    with page as materialized (${page})
    select
      ${total} as total,
      (
        select string_agg(found.json, ',' order by page.place)
        from page
        cross join lateral (
          select row_to_json(${query.filters.publishedFirst ? fragment`drafted` : fragment`shown`})::text as json
          from definitions as d
          join definition_lines as l on l.id = d.line_id
          join organizations as o on o.id = d.org_id
          ${joinSummary(query.viewer)}
          ${query.filters.publishedFirst ? joinDraft(query) : fragment``}
          where d.id = page.definition_id
          limit 1
        ) as found
      ) as items`
    .raw()
    .execute();
  sendCommit(sql);
  const [[countText = null, items = null] = []] = await rows;
  return { items: items ?? NO_ITEMS, total: Number(countText) };
}

/** Returns a join of the row `drafted`: the summary and the version of the line's highest draft in the viewer's organizations. */
function joinDraft({ ownOrgIds }: ListScope): Fragment {
  return fragment`
    cross join lateral (
      select shown.*, (
        select draft.version
        from definition_listings as v
        join definitions as draft on draft.id = v.definition_id
        where v.line_id = l.id and v.is_latest_of_status and v.status = 'draft' and v.org_id = any(${[...ownOrgIds]}::uuid[])
        limit 1
      ) as "draftVersion"
    ) as drafted`;
}

function sortedPage(query: ScopedQuery, { matches }: Matching): Fragment {
  const { sortBy, sortOrder, limit, offset } = query;
  const order: DefinitionOrder = { sortBy: sortBy ?? "createdAt", sortOrder };
  const count = fragment`${offset}::bigint + ${limit}::bigint`;
  return fragment`
    select p.definition_id, row_number() over () as place
    from (
      select *
      from (${firstRows(query, order)({ condition: matches, count })}) as p
      order by ${orderKeys(order)}
      limit ${limit}
      offset ${offset}
    ) as p`;
}
