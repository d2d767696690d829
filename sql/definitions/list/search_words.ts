/** Turns the words of a search into text search queries over `definition_listings.words` (docs/search.md). */
import { fragment, type Sql } from "../../connection/pool.ts";
import { type ListScope, listedRows, selectListed } from "./list_scope.ts";

/** Maximum number of search words. Further words are ignored. */
const MAX_WORDS = 8;
/** Maximum number of hyphenated names that a search without hyphens finds. Older names take precedence. */
const MAX_HYPHENATED_NAMES = 20;
/** Minimum length of a word that matches a part of a name. Shorter words match only as a whole or as a prefix. */
const MIN_PART_LETTERS = 3;
/** Length of the longest suffix lexeme. Longer search words are cut to this length. */
const MAX_PART_LETTERS = 30;

export interface SearchWord {
  word: string;
  /** Stem of the word. A corrected word has the stems of its corrections. */
  stems: readonly string[];
  /** Whether the word is a stop word. Stop words are indexed in names and display names, but not in descriptions. */
  isStopWord: boolean;
  isCorrected: boolean;
}

export interface SearchWords {
  words: readonly SearchWord[];
  /** The whole search text in lower case, with one hyphen between words. */
  text: string;
  /**
   * Names that the search text spells without hyphens, such as `code-reviewer` for `codereviewer`. They match in addition to the
   * words.
   */
  names: readonly string[];
}

/**
 * Returns the words of a search. Stop words are returned only if there are no other words. `names` has only names of listed rows.
 */
export async function readSearchWords(sql: Sql, scope: ListScope, search: string): Promise<SearchWords> {
  const condition = fragment`v.line_id = l.id`;
  const rows = await sql<
    { text: string; word: string; stem: string; isStopWord: boolean; names: string[] }[]
  >`
    select
      definition_search_text(${search}) as text, w.word, w.stem, w.is_stop_word,
      array(
        select l.name
        from definition_lines as l
        where replace(l.name, '-', '') = definition_search_text(${search}) and l.name like '%-%'
          and exists (${selectListed(listedRows(scope), { columns: fragment`1`, condition })})
        group by l.name
        order by min(l.created_at)
        limit ${MAX_HYPHENATED_NAMES}
      ) as names
    from definition_words(${search}) as w
    order by w.place`;
  const others = rows.filter(({ isStopWord }) => !isStopWord);
  const words = (others.length > 0 ? others : rows).slice(0, MAX_WORDS);
  return {
    words: words.map(({ word, stem, isStopWord }) => ({
      word,
      stems: [stem],
      isStopWord,
      isCorrected: false,
    })),
    text: rows[0]?.text ?? "",
    names: rows[0]?.names ?? [],
  };
}

/** The marks that prefix lexemes, by the field to search: the name, the display name, or any text. */
const MARKS = { name: ["@"], title: ["@", "#"], text: [""] } as const;
type Place = keyof typeof MARKS;

/**
 * Returns the query for all matches. Every word must match as a whole, as a prefix or as a part of a name. The whole search text
 * may match as a part of a name instead.
 */
export function matchQuery({ words, text }: SearchWords): string {
  const all = every(words, wordQuery);
  // A part of a name can span several words. Its ends may then be too short to match alone, and it may contain stop words.
  const isCut = words.some(({ word }) => word !== text && [...word].length < MIN_PART_LETTERS);
  return isCut && [...text].length >= MIN_PART_LETTERS ? `(${all}) | ${part(text)}` : all;
}

/** Returns the alternative lexemes for one word. */
export function wordQuery(word: SearchWord): string[] {
  const isPart = !word.isCorrected && [...word.word].length >= MIN_PART_LETTERS;
  return [...beginning("text", word), ...(isPart ? [part(word.word)] : [])];
}

/** Returns a query in which every word must match one of its alternatives. */
export function every(
  words: readonly SearchWord[],
  alternatives: (word: SearchWord) => readonly string[],
): string {
  return words.map((word) => `(${alternatives(word).join(" | ")})`).join(" & ");
}

/** Returns lexemes that match a whole word by its stems. */
export function whole(place: Place, { stems }: SearchWord): string[] {
  return MARKS[place].flatMap((mark) => stems.map((stem) => quote(`${mark}${stem}`)));
}

/** Returns lexemes that match a word as a prefix or as a whole. */
export function beginning(place: Place, word: SearchWord): string[] {
  if (word.isCorrected) return whole(place, word);
  // A prefix of one letter would match too many lexemes, so first letters are indexed as separate lexemes.
  if (place === "text" && [...word.word].length === 1) return [quote(`^${word.word}`)];
  const prefixes = MARKS[place].map((mark) => `${quote(`${mark}${word.word}`)}:*`);
  return word.stems.includes(word.word) ? prefixes : [...prefixes, ...whole(place, word)];
}

function part(text: string): string {
  return `${quote(`*${[...text].slice(0, MAX_PART_LETTERS).join("")}`)}:*`;
}

/** Quotes a lexeme. Words contain no quotes or backslashes, because both characters separate words. */
function quote(lexeme: string): string {
  return `'${lexeme}'`;
}

/**
 * Returns the names that a search text may mean: the text itself in lower case, and the text in kebab case, such as `code-reviewer`
 * for "Code reviewer" and "code_reviewer".
 */
export function possibleNames(search: string): string[] {
  const asked = search.trim().toLowerCase();
  const kebab = asked.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  return [...new Set([asked, kebab])];
}
