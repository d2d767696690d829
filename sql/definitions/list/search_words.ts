/** Turns the words of a search into text search queries over `definition_listings.words` (docs/search.md). */
import { fragment, type Sql } from "../../connection/pool.ts";
import { type ListScope, listedRows, selectListed } from "./list_scope.ts";

/** Further words of a search are ignored. */
const MAX_WORDS = 8;
/** Further names, in the order of their creation, are not found by their letters alone. */
const MAX_HYPHENATED_NAMES = 20;
/** Shorter words match only as a whole or as a prefix. */
const MIN_PART_LETTERS = 3;
/** Maximum length of the suffix lexemes. */
const MAX_PART_LETTERS = 30;

export interface SearchWord {
  word: string;
  /** Its own stem, or those of the words that a misspelled one is corrected to. */
  stems: readonly string[];
  /** Texts are indexed without stop words; names have them. */
  isStopWord: boolean;
  isCorrected: boolean;
}

export interface SearchWords {
  words: readonly SearchWord[];
  /** The whole text in lower case, with one hyphen between words. */
  text: string;
  /** The names that the text spells without their hyphens: `code-reviewer` for `codereviewer`. They match beside the words. */
  names: readonly string[];
}

/** Returns the words of a search; stop words only if there are no others. Only names of listed rows are found. */
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

/** The marks of lexemes by place: the name, the display name, or any text. */
const MARKS = { name: ["@"], title: ["@", "#"], text: [""] } as const;
type Place = keyof typeof MARKS;

/** Returns the query for all matches: every word whole, as a prefix or as part of a name; or the whole text as such a part. */
export function matchQuery({ words, text }: SearchWords): string {
  const all = every(words, wordQuery);
  // A part of a name that spans words may begin or end with too few letters of one, and may hold stop words.
  const isCut = words.some(({ word }) => word !== text && [...word].length < MIN_PART_LETTERS);
  return isCut && [...text].length >= MIN_PART_LETTERS ? `(${all}) | ${part(text)}` : all;
}

/** Returns the alternatives that match one word. */
export function wordQuery(word: SearchWord): string[] {
  const isPart = !word.isCorrected && [...word.word].length >= MIN_PART_LETTERS;
  return [...beginning("text", word), ...(isPart ? [part(word.word)] : [])];
}

/** Joins the alternatives of each word; every word must match. */
export function every(
  words: readonly SearchWord[],
  alternatives: (word: SearchWord) => readonly string[],
): string {
  return words.map((word) => `(${alternatives(word).join(" | ")})`).join(" & ");
}

/** Matches whole words by their stems. */
export function whole(place: Place, { stems }: SearchWord): string[] {
  return MARKS[place].flatMap((mark) => stems.map((stem) => quote(`${mark}${stem}`)));
}

/** Matches prefixes and whole words. */
export function beginning(place: Place, word: SearchWord): string[] {
  if (word.isCorrected) return whole(place, word);
  // A prefix of one letter would match too many lexemes, so first letters are lexemes of their own.
  if (place === "text" && [...word.word].length === 1) return [quote(`^${word.word}`)];
  const prefixes = MARKS[place].map((mark) => `${quote(`${mark}${word.word}`)}:*`);
  return word.stems.includes(word.word) ? prefixes : [...prefixes, ...whole(place, word)];
}

function part(text: string): string {
  return `${quote(`*${[...text].slice(0, MAX_PART_LETTERS).join("")}`)}:*`;
}

/** Quotes a lexeme. Words contain no quotes or backslashes, because these separate words. */
function quote(lexeme: string): string {
  return `'${lexeme}'`;
}

/** Returns the names that a search may mean: `code-reviewer` for "Code reviewer" and "code_reviewer", and the text itself. */
export function possibleNames(search: string): string[] {
  const asked = search.trim().toLowerCase();
  const kebab = asked.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  return [...new Set([asked, kebab])];
}
