/** The length of a text as people count it. */

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
