/** Reads scalars. Columns, Markdown, graph, scan and comparison all use these functions, so they never disagree. */

/** A number of YAML 1.2 core. */
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const OCTAL_OR_HEXADECIMAL = /^0(?:o[0-7]+|x[\da-fA-F]+)$/;
/** A double has at least as many significant decimal digits. */
const MAX_DIGITS = 15;

/** Words for true and false. YAML 1.1 reads all of them as booleans, YAML 1.2 only the first of each. */
const TRUE = /^(?:true|yes|on|y)$/i;
const FALSE = /^(?:false|no|off|n)$/i;

/**
 * Returns the value that documents have for a scalar of the text. A number or boolean that does not print as it is
 * written stays text, so nothing of `3.10`, `0x1F`, `1e3`, `12345678901234567890` or `.inf` is lost.
 */
export function plainScalar(value: unknown, source: string | undefined): unknown {
  if (typeof value !== "number" && typeof value !== "boolean") return value;
  return source === undefined || String(value) === source ? value : source;
}

/** Returns the text of a scalar; null for blank text and for everything else. */
export function scalarText(value: unknown): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value;
  return typeof value === "boolean" || Number.isFinite(value) ? String(value) : null;
}

/** Returns a number, even if written as text such as `80.0`; null for everything else, and if digits would be lost. */
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

/** Returns a boolean, even if written as a word such as `no`, `Off` or `"true"`; null for everything else. */
export function scalarFlag(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return null;
  const word = value.trim();
  if (TRUE.test(word)) return true;
  return FALSE.test(word) ? false : null;
}
