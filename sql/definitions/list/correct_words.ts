/** Corrects misspelled search words to words that the viewer can find. */
import { fragment, type Sql } from "../../connection/pool.ts";
import { type ListScope, listedRows, rowsOfScope, selectListed } from "./list_scope.ts";
import { type SearchWord, wordQuery } from "./search_words.ts";

/** Length limits of a corrected word. Shorter words resemble too many others, and longer words have too many spellings. */
const MIN_LETTERS = 4;
const MAX_LETTERS = 24;
/** Maximum number of corrected words. A search with more misspelled words finds nothing. */
const MAX_CORRECTED = 3;
/** Maximum number of rows of the viewer's organizations whose words are compared. */
const MAX_MEMBER_ROWS = 2000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/**
 * Replaces each word that no row in scope contains with words that differ in one letter: an added, a missing or a different letter,
 * or two swapped letters. Returns null if no word needs a correction or if one cannot be corrected. Only rows that the viewer can
 * find are compared, so private texts of other organizations neither suggest a word nor hide a typo.
 */
export async function correctWords(
  sql: Sql,
  scope: ListScope,
  words: readonly SearchWord[],
): Promise<SearchWord[] | null> {
  const unknown = await findUnknown(sql, scope, words);
  const isHopeless = unknown.some(
    ({ word, isStopWord }) => isStopWord || word.length < MIN_LETTERS || word.length > MAX_LETTERS,
  );
  if (unknown.length === 0 || unknown.length > MAX_CORRECTED || isHopeless) return null;
  const corrected = new Map<SearchWord, SearchWord>();
  for (const word of unknown) {
    const stems = await findStems(sql, scope, spellings(word.word));
    if (stems.length === 0) return null;
    corrected.set(word, { ...word, stems, isCorrected: true });
  }
  return words.map((word) => corrected.get(word) ?? word);
}

async function findUnknown(sql: Sql, scope: ListScope, words: readonly SearchWord[]): Promise<SearchWord[]> {
  const queries = words.map((word) => wordQuery(word).join(" | "));
  const condition = fragment`v.words @@ asked.query::tsquery`;
  const rows = await sql<{ place: number }[]>`
    select asked.place::int
    from unnest(${queries}::text[]) with ordinality as asked (query, place)
    where not exists (${selectListed(listedRows(scope), { columns: fragment`1`, condition })})`;
  const places = new Set(rows.map(({ place }) => place - 1));
  return words.filter((_word, index) => places.has(index));
}

/** Returns the stems of the spellings that occur in rows in scope. */
async function findStems(sql: Sql, scope: ListScope, spelled: readonly string[]): Promise<string[]> {
  const rows = rowsOfScope(scope);
  const isPublic =
    rows.public &&
    fragment`exists (
      select
      from ${rows.public.table} as v
      where ${rows.public.rule} and v.words @@ quote_literal(spelled.word)::tsquery
    )`;
  const isOfMember =
    rows.member &&
    fragment`spelled.word in (
      select unnest(tsvector_to_array(v.words))
      from (
        select v.words from ${rows.member.table} as v where ${rows.member.rule} limit ${MAX_MEMBER_ROWS}
      ) as v
    )`;
  const found = await sql<{ stem: string }[]>`
    select distinct w.stem
    from unnest(${[...spelled]}::text[]) as spelled (word)
    cross join lateral definition_words(spelled.word) as w
    where ${isPublic ?? fragment`false`} or ${isOfMember ?? fragment`false`}`;
  return found.map(({ stem }) => stem);
}

/** Returns every text that differs from a word in one letter, or in two swapped adjacent letters. */
function spellings(word: string): string[] {
  const letters = [...word];
  const found = new Set<string>();
  for (let at = 0; at <= letters.length; at += 1) {
    const before = letters.slice(0, at).join("");
    const [here = "", next = "", ...rest] = letters.slice(at);
    const after = next + rest.join("");
    found.add(before + after);
    found.add(before + next + here + rest.join(""));
    for (const letter of LETTERS) {
      found.add(before + letter + after);
      found.add(before + letter + here + after);
    }
  }
  found.delete(word);
  return [...found];
}
