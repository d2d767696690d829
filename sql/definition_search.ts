/** Lists of definitions: filtered, searched, sorted, a page at a time (contract section 5). */
import type { JsonText } from "../shared/json_text.ts";
import { type CountedPage, countAndList } from "./definition_counted_page.ts";
import { readItems } from "./definition_items.ts";
import { countMatches, type MatchQuery, sumOf } from "./definition_matches.ts";
import type { DefinitionOrder, DefinitionSort } from "./definition_order.ts";
import { isLikelyCostly, listPage, mostWhileCounted } from "./definition_page.ts";
import { type DefinitionFilters, filterParts, type PostingPart } from "./definition_terms.ts";
import type { DefinitionViewer } from "./definition_visibility.ts";
import {
  findSearchWords,
  findSimilarWords,
  LAST_LEVEL,
  LAST_NEAR_LEVEL,
  nearParts,
  rankedParts,
  type SearchWord,
  widestParts,
} from "./definition_words.ts";
import type { Pool, Sql } from "./pool.ts";
import type { RowTexts } from "./row_texts.ts";

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
  items: JsonText[];
  /** Of all pages; exact. */
  total: number;
}

/**
 * Lists a page, and how many there are, as of one moment: mostly by one statement, else in one transaction. `listSql` is
 * what `openListPool` opens.
 */
export async function listDefinitions(
  { listSql, texts }: { listSql: Pool; texts: RowTexts },
  query: DefinitionListQuery,
): Promise<DefinitionPage> {
  const { viewer, orgId, filters, search, sortBy, sortOrder, limit, offset } = query;
  const base: MatchQuery = { viewer, orgId, parts: filterParts(filters) };
  const order: DefinitionOrder = { sortBy: sortBy ?? "createdAt", sortOrder };
  const find = (sql: Sql) =>
    findMatches(sql, base, { search, isRanked: sortBy === null, order, limit, offset });
  if (!isLikelyCostly({ order, offset })) {
    const { counts, entries } = await find(listSql);
    const items = entries && (await readItems(listSql, texts, entries));
    if (items) return { items, total: sumOf(counts) };
  }
  return listSql.begin("isolation level repeatable read read only", async (tx) => {
    const { match, ...found } = await find(tx);
    const page = found.entries ?? (await listPage(tx, match, { order, limit, offset, ...found }));
    return { items: requireItems(await readItems(tx, texts, page)), total: sumOf(found.counts) };
  });
}

function requireItems(items: JsonText[] | null): JsonText[] {
  if (!items) throw new Error("Cannot find a definition that this transaction has listed");
  return items;
}

interface Matches extends CountedPage {
  match: MatchQuery;
}

interface WordQuery extends Pick<DefinitionListQuery, "search" | "limit" | "offset"> {
  /** Whether the best matches come first. */
  isRanked: boolean;
  /** Of matches that are as good as each other. */
  order: DefinitionOrder;
}

async function findMatches(sql: Sql, base: MatchQuery, query: WordQuery): Promise<Matches> {
  const { search } = query;
  if (search === null) return matchParts(sql, base, { ...query, parts: [] });
  const words = await findSearchWords(sql, search);
  if (words.length === 0) return { match: base, counts: [], listings: 0, entries: [] };
  const matches = await matchWords(sql, base, { ...query, search, words });
  if (sumOf(matches.counts) > 0) return matches;
  const meant = await forgiveSlips(sql, base, words);
  return meant === null ? matches : matchWords(sql, base, { ...query, search, words: meant });
}

/** Finds the levels of a search, or only the widest when the list is sorted by something else. */
async function matchWords(
  sql: Sql,
  base: MatchQuery,
  query: WordQuery & { search: string; words: readonly SearchWord[] },
): Promise<Matches> {
  const { search, words, isRanked, limit, offset } = query;
  if (!isRanked) return matchParts(sql, base, { ...query, parts: widestParts(words) });
  const ranked = () => matchParts(sql, base, { ...query, parts: rankedParts(words, search) });
  // Names that have several words fill no page.
  if (words.length > 1) return ranked();
  const near = await matchParts(sql, base, {
    ...query,
    parts: nearParts(words, search),
    lastLevel: LAST_NEAR_LEVEL,
  });
  const far = sumOf(near.counts.filter(({ level }) => level > LAST_NEAR_LEVEL));
  const isEnough = far === 0 || offset + limit <= sumOf(near.counts) - far;
  return isEnough ? near : ranked();
}

async function matchParts(
  sql: Sql,
  base: MatchQuery,
  {
    parts,
    lastLevel = LAST_LEVEL,
    ...query
  }: WordQuery & { parts: readonly PostingPart[]; lastLevel?: number },
): Promise<Matches> {
  const match = { ...base, parts: [...base.parts, ...parts] };
  const { order, limit, offset } = query;
  const page = await countAndList(sql, match, {
    ...{ order, limit, offset, lastLevel },
    ...mostWhileCounted(order),
  });
  return { match, ...page };
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
