/** Texts as people count their characters, and as messages and PostgreSQL take them. */

/**
 * True for a text of more than `max` characters. They are code points, as in JSON Schema and PostgreSQL, so an emoji counts
 * once.
 */
export function isLongerThan(text: string, max: number): boolean {
  // A character has at most two UTF-16 units, so a text of any size is never counted further than twice the limit.
  return text.length > 2 * max || (text.length > max && countCharacters(text) > max);
}

export function countCharacters(text: string): number {
  return [...text].length;
}

/** More marks on one letter than any language has. Unicode's Stream-Safe Text Format allows as many (UAX 15, D4). */
const EXCESS_MARKS = /(\p{Mark}{30})\p{Mark}+/gu;

/**
 * Normalizes a text in linear time. The engine takes a second for 10,000 marks that follow each other, so only the first 30
 * of them stay.
 */
export function normalizeText(text: string, form: "NFKC" | "NFKD"): string {
  return text.replace(EXCESS_MARKS, "$1").normalize(form);
}

/** Returns the first `max` UTF-16 units of a longer text, with an ellipsis, for messages. */
export function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
}

/** True if PostgreSQL can store the text: it rejects NUL and half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
