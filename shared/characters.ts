/** Functions for text: counting characters, normalizing, and checking whether PostgreSQL can store a text. */

/**
 * Returns true if a text has more than `max` characters. Characters are code points, as in JSON Schema and PostgreSQL, so an
 * emoji counts once.
 */
export function isLongerThan(text: string, max: number): boolean {
  // A character has at most two UTF-16 units, so a text longer than twice the limit need not be counted.
  return text.length > 2 * max || (text.length > max && countCharacters(text) > max);
}

export function countCharacters(text: string): number {
  return [...text].length;
}

/** A run of more combining marks than any language uses. Unicode's Stream-Safe Text Format has the same limit (UAX 15, D4). */
const EXCESS_MARKS = /(\p{Mark}{30})\p{Mark}+/gu;

/**
 * Normalizes a text in linear time. The engine takes a second for 10,000 consecutive marks, so only the first 30 marks of a
 * run are kept.
 */
export function normalizeText(text: string, form: "NFKC" | "NFKD"): string {
  return text.replace(EXCESS_MARKS, "$1").normalize(form);
}

/** Returns the text, or the first `max` UTF-16 units and an ellipsis if the text is longer. Used in messages. */
export function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
}

/** Returns true if PostgreSQL can store the text. It rejects NUL and lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
