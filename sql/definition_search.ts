/** Lists of definitions: filtered, searched, sorted, a page at a time (contract section 5). */
import { countMatches, type LevelCount, type MatchQuery } from "./definition_matches.ts";
import type { DefinitionSort } from "./definition_order.ts";
import { listPage } from "./definition_page.ts";
import { type DefinitionFilters, filterParts, type PostingPart } from "./definition_terms.ts";
import type { DefinitionViewer } from "./definition_visibility.ts";
import {
  findSearchWords,
  findSimilarWords,
  isFar,
  nearParts,
  rankedParts,
  type SearchWord,
  widestParts,
} from "./definition_words.ts";
import type { Pool, Sql } from "./pool.ts";

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
  /** JSON texts with commas between them. */
  items: string;
  /** Of all pages; exact. */
  total: number;
}

/** Lists a page, and how many there are, as of one moment. */
export async function listDefinitions(sql: Pool, query: DefinitionListQuery): Promise<DefinitionPage> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const { viewer, orgId, filters, sortBy, sortOrder, limit, offset } = query;
    const base: MatchQuery = { viewer, orgId, parts: filterParts(filters) };
    // Both are sent at once, and done one after the other.
    const [listings, { match, counts }] = await Promise.all([
      prepareSearch(tx),
      findMatches(tx, base, query),
    ]);
    const total = sumOf(counts);
    const order = { sortBy: sortBy ?? "createdAt", sortOrder } as const;
    const items = total > offset ? await listPage(tx, match, { order, limit, offset, counts, listings }) : "";
    return { items, total };
  });
}

/**
 * Sets what the planner may do until the transaction ends, and returns how many listings there are: a bound that is
 * close, as slots of versions that are gone stay empty. The planner cannot know how many bits are set: workers, compiled
 * code, sorting everything, and planning anew each time cost more than the whole page. Two letters in each other's place
 * leave few trigrams of a short word.
 */
async function prepareSearch(sql: Sql): Promise<number> {
  const [row] = await sql<[{ listings: number }]>`
    select
      (select coalesce(max(slot) + 1, 0) from definition_listings) as listings,
      set_config('max_parallel_workers_per_gather', '0', true),
      set_config('jit', 'off', true),
      set_config('enable_sort', 'off', true),
      set_config('plan_cache_mode', 'force_generic_plan', true),
      set_config('pg_trgm.similarity_threshold', '0.15', true)`;
  return row.listings;
}

interface Matches {
  match: MatchQuery;
  counts: readonly LevelCount[];
}

type SearchQuery = Pick<DefinitionListQuery, "search" | "sortBy" | "limit" | "offset">;

async function findMatches(sql: Sql, base: MatchQuery, query: SearchQuery): Promise<Matches> {
  const { search } = query;
  if (search === null) return { match: base, counts: await countMatches(sql, base) };
  const words = await findSearchWords(sql, search);
  if (words.length === 0) return { match: base, counts: [] };
  const matches = await matchWords(sql, base, { ...query, search, words });
  if (sumOf(matches.counts) > 0) return matches;
  const meant = await forgiveSlips(sql, base, words);
  return meant === null ? matches : matchWords(sql, base, { ...query, search, words: meant });
}

/** Finds the levels of a search, or only the widest when the list is sorted by something else. */
async function matchWords(
  sql: Sql,
  base: MatchQuery,
  query: SearchQuery & { search: string; words: readonly SearchWord[] },
): Promise<Matches> {
  const { search, words, sortBy, limit, offset } = query;
  const matchParts = async (parts: readonly PostingPart[]): Promise<Matches> => {
    const match = { ...base, parts: [...base.parts, ...parts] };
    return { match, counts: await countMatches(sql, match) };
  };
  if (sortBy !== null) return matchParts(widestParts(words));
  const near = await matchParts(nearParts(words, search));
  const far = sumOf(near.counts.filter(({ level }) => isFar(level)));
  const isEnough = far === 0 || offset + limit <= sumOf(near.counts) - far;
  return isEnough ? near : matchParts(rankedParts(words, search));
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
