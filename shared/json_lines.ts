/** JSON that is one line to every program that reads lines. */

/**
 * Characters that JSON allows in a text, but that Python's splitlines(), readline of Node.js and Bun, and others treat as the
 * end of a line. The other characters that they split at (CR, VT, FF, FS, GS, RS) are always escaped in JSON.
 */
const LINE_ENDS = ["\u0085", "\u2028", "\u2029"].map((character) => {
  const bytes = Buffer.from(character);
  return { bytes, latin1: bytes.toString("latin1"), escaped: escapeCharacter(character) };
});
const ANY_LINE_END = /[\u0085\u2028\u2029]/g;

/** Returns a value as JSON on one line, without the LF that ends it. */
export function toJsonLine(value: object): string {
  return escapeLineEnds(JSON.stringify(value));
}

/** Returns the same JSON without line ends in its texts. */
export function escapeLineEnds(json: string): string {
  return json.replace(ANY_LINE_END, escapeCharacter);
}

/**
 * Returns the same JSON, in UTF-8, without line ends in its texts: `json` itself where there are none. Searching takes 0.05 ms
 * per MB, so it is done for all rows of an export.
 */
export function escapeLineEndBytes(json: Buffer): Buffer {
  const found = LINE_ENDS.filter(({ bytes }) => json.includes(bytes));
  if (found.length === 0) return json;
  // In Latin-1 each byte is a character, so nothing is decoded.
  const text = found.reduce(
    (line, { latin1, escaped }) => line.replaceAll(latin1, escaped),
    json.toString("latin1"),
  );
  return Buffer.from(text, "latin1");
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
