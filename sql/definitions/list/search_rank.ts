/** Ranks search results: whole words before prefixes, and names before display names. */
import { type Fragment, fragment, rawFragment } from "../../connection/pool.ts";
import type { ListScope } from "./list_scope.ts";
import { beginning, every, type SearchWords, whole } from "./search_words.ts";
import { type DefinitionOrder, firstRows, orderKeys } from "./sort_columns.ts";

/** Maximum number of ranked matches. */
const RANKED_MATCHES = 1000;

/**
 * Returns the ranks as `tsquery` texts, best first. Whole words in the name or the display name rank above prefixes in the name or
 * the display name. Whole words in any text come last.
 */
export function rankQueries({ words }: SearchWords) {
  return {
    inName: every(words, (word) => whole("name", word)),
    inTitle: every(words, (word) => whole("title", word)),
    beginsInName: every(words, (word) => beginning("name", word)),
    beginsInTitle: every(words, (word) => beginning("title", word)),
    inText: every(words, (word) => whole("text", word)),
  };
}

export interface RankedPage {
  matches: Fragment;
  /** Conditions that select subsets of `matches`, best first. */
  ranks: readonly Fragment[];
  /** Sort order by `createdAt` within a rank. */
  sortOrder: "asc" | "desc";
  limit: number;
  offset: number;
}

/**
 * Selects a page with the best matches first, by `createdAt` within a rank. The matches after the first RANKED_MATCHES are ordered
 * only by `createdAt`. A rank is read only if better ranks do not fill the page, so a search that matches half of the registry
 * costs little more than a page.
 */
export function rankedPage(
  scope: ListScope,
  { matches, ranks, sortOrder, limit, offset }: RankedPage,
): Fragment {
  const order: DefinitionOrder = { sortBy: "createdAt", sortOrder };
  const end = offset + limit;
  const select = firstRows(scope, order);
  const steps = [...ranks, matches].map((condition, rank) => {
    const count = rank < ranks.length ? Math.min(end, RANKED_MATCHES) : end;
    const rows = (where: Fragment) => select({ condition: where, count: fragment`${count}::bigint` });
    const [name, before] = [rawFragment(`rank_${rank}`), rawFragment(`rank_${rank - 1}`)];
    if (rank === 0)
      return fragment`${name} as materialized (select p.*, 0 as rank from (${rows(condition)}) as p)`;
    const others = rows(
      fragment`${condition} and v.definition_id not in (select b.definition_id from ${before} as b)`,
    );
    return fragment`${name} as materialized (
      select * from ${before}
      union all
      select p.*, ${rank}::int from (${others}) as p where (select count(*) from ${before}) < ${count}::bigint
    )`;
  });
  return fragment`
    with ${steps.reduce((all, step) => fragment`${all}, ${step}`)}
    select p.definition_id, row_number() over () as place
    from (
      select *
      from ${rawFragment(`rank_${ranks.length}`)}
      order by rank, ${orderKeys(order)}
      limit ${limit}
      offset ${offset}
    ) as p`;
}
