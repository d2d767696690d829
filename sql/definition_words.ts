/** What the words of a search stand for: the words of the registry with the same stem or beginning, or a slip away. */
import type { PostingPart } from "./definition_terms.ts";
import type { Sql } from "./pool.ts";

/** Words after these are not looked for. */
const MOST_WORDS = 16;
/** Beginnings of up to three letters have postings of their own, as too many words begin so. */
const SHORT_LETTERS = 3;

/** A word of a search, with the words of the registry that will do for it. */
export interface SearchWord {
  word: string;
  /** With the same stem; mostly the word itself is among them. */
  kin: string[];
  /** That begin with it. */
  longer: string[];
}

/**
 * How well a definition answers, best first: whole words before beginnings, and both in a name before the description.
 * The last holds all others.
 */
const SEARCH_LEVELS = {
  exactName: 0,
  inName: 1,
  inTitle: 2,
  beginsInName: 3,
  beginsInTitle: 4,
  inText: 5,
  anywhere: 6,
} as const;

/**
 * The words of a search, without stop words (unless there are no others), and what they stand for. Empty when the text
 * has no words.
 */
export async function findSearchWords(sql: Sql, search: string): Promise<SearchWord[]> {
  return sql<SearchWord[]>`
    with asked as materialized (
      select w.word, w.stem
      from (select *, bool_and(is_stop_word) over () as are_stop_words from definition_words(${search})) as w
      where w.are_stop_words or not w.is_stop_word
      order by strpos(lower(${search}), w.word), w.word
      limit ${MOST_WORDS}
    )
    select
      a.word,
      array(select v.word from definition_vocabulary as v where v.stem = a.stem) as kin,
      array(
        select v.word
        from definition_vocabulary as v
        where length(a.word) > ${SHORT_LETTERS} and v.word > a.word and v.word < a.word || chr(1114111)
      ) as longer
    from asked as a`;
}

/**
 * The words that are one slip away from a word (a letter too many, too few, another one, or two in each other's place;
 * two slips from eight letters on), with their kin. `sql` is of `openListPool`, which says how like they have to be.
 */
export async function findSimilarWords(sql: Sql, word: string): Promise<string[]> {
  if (word.length < 4) return [];
  const rows = await sql<{ word: string }[]>`
    with slips as materialized (
      select v.stem
      from definition_vocabulary as v
      cross join lateral (select levenshtein_less_equal(v.word, ${word}, 2) as edits) as distance
      where v.word % ${word}
        and length(v.word) between ${word.length - 2} and ${word.length + 2}
        and (
          distance.edits <= 1
          or distance.edits = 2 and (
            length(${word}) >= 8
            or array(select unnest(string_to_array(v.word, null)) order by 1)
              = array(select unnest(string_to_array(${word}, null)) order by 1)
          )
        )
    )
    select v.word
    from definition_vocabulary as v
    where v.stem in (select stem from slips)`;
  return rows.map((row) => row.word);
}

/** The terms of every level, for a list that puts the best first. */
export function rankedParts(words: readonly SearchWord[], search: string): PostingPart[] {
  const { beginsInName, beginsInTitle, inText } = SEARCH_LEVELS;
  return [
    ...nearParts(words, search),
    ...words.flatMap((word, part): PostingPart[] => [
      { level: beginsInName, part, terms: [...wholeTerms("name", word), ...beginningTerms("name", word)] },
      { level: beginsInTitle, part, terms: [...wholeTerms("title", word), ...beginningTerms("title", word)] },
      { level: inText, part, terms: wholeTerms("text", word) },
    ]),
  ];
}

/**
 * The terms of the best levels and of the widest, where everything else is then found: enough for the first pages of
 * common words, at half the cost.
 */
export function nearParts(words: readonly SearchWord[], search: string): PostingPart[] {
  const { exactName, inName, inTitle } = SEARCH_LEVELS;
  return [
    { level: exactName, part: 0, terms: possibleNames(search).map((name) => `exact=${name}`) },
    ...words.flatMap((word, part): PostingPart[] => [
      { level: inName, part, terms: wholeTerms("name", word) },
      { level: inTitle, part, terms: wholeTerms("title", word) },
    ]),
    ...widestParts(words),
  ];
}

/** The terms of the widest level, which holds all others: enough for a list that is sorted otherwise. */
export function widestParts(words: readonly SearchWord[]): PostingPart[] {
  return words.map((word, part) => ({
    level: SEARCH_LEVELS.anywhere,
    part,
    // A stop word stands in names, and a name may be one.
    terms: [...wholeTerms("text", word), ...beginningTerms("text", word), `text~${word.word}`],
  }));
}

/** Only `rankedParts` tell how well a match after this level answers. */
export const LAST_NEAR_LEVEL: number = SEARCH_LEVELS.inTitle;
/** The widest. */
export const LAST_LEVEL: number = SEARCH_LEVELS.anywhere;

/** Where words are: in the name, in name or display name, anywhere. */
type Place = "name" | "title" | "text";

const START_TERMS: Readonly<Record<Place, string>> = {
  name: "nameStart",
  title: "titleStart",
  text: "start",
};

function wholeTerms(place: Place, { kin }: SearchWord): string[] {
  return kin.map((found) => `${place}~${found}`);
}

function beginningTerms(place: Place, { word, longer }: SearchWord): string[] {
  return word.length <= SHORT_LETTERS
    ? [`${START_TERMS[place]}~${word}`]
    : longer.map((found) => `${place}~${found}`);
}

/** "Code reviewer" and "code_reviewer" as a name would be written; and as it is, as names may have hyphens anywhere. */
function possibleNames(search: string): string[] {
  const asked = search.trim().toLowerCase();
  const spelled = asked.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  return [...new Set([asked, spelled])];
}
