/** Reads scalars. Columns, Markdown, graph, scan and comparison all use these functions, so their results are consistent. */

/** A decimal number of YAML 1.2 core. */
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const OCTAL_OR_HEXADECIMAL = /^0(?:o[0-7]+|x[\da-fA-F]+)$/;
/** A double can represent at least this many significant decimal digits. */
const MAX_DIGITS = 15;

/** Words for true and false. `plainScalar` keeps only `true` and `false` as booleans; all other words stay text. */
const TRUE = /^(?:true|yes|on|y)$/i;
const FALSE = /^(?:false|no|off|n)$/i;

/**
 * Returns the value of a scalar in a document. A number or boolean stays text if it would print differently, so `3.10`,
 * `0x1F`, `1e3`, `12345678901234567890` and `.inf` lose nothing.
 */
export function plainScalar(value: unknown, source: string | undefined): unknown {
  if (typeof value !== "number" && typeof value !== "boolean") return value;
  return source === undefined || String(value) === source ? value : source;
}

/** Returns the text of a scalar; null for blank text and for any other value. */
export function scalarText(value: unknown): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value;
  return typeof value === "boolean" || Number.isFinite(value) ? String(value) : null;
}

/**
 * Returns a number, even if it is written as text such as `80.0`. Returns null for any other value, and if digits would be
 * lost.
 */
export function scalarNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (OCTAL_OR_HEXADECIMAL.test(text)) {
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : null;
  }
  if (!DECIMAL.test(text)) return null;
  const digits = text
    .replace(/[eE].*$/, "")
    .replace(/[-+.]/g, "")
    .replace(/^0+|0+$/g, "");
  const number = Number(text);
  return digits.length <= MAX_DIGITS && Number.isFinite(number) ? number : null;
}

/** Returns a boolean, even if it is written as a word such as `no`, `Off` or `"true"`. Returns null for any other value. */
export function scalarFlag(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return null;
  const word = value.trim();
  if (TRUE.test(word)) return true;
  return FALSE.test(word) ? false : null;
}
