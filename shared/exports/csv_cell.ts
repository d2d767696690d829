/** Formats the cells of all CSV files and escapes formulas in them (docs/contract.md, Exports). */

/** Identifies the file as UTF-8 to spreadsheets. */
export const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Initial characters, including full-width forms, at which a spreadsheet treats a cell as a formula. A text that starts with
 * one of them gets a leading apostrophe.
 */
const FORMULA_STARTS: readonly string[] = [..."=+-@\t\r\n＝＋－＠"];

/**
 * Characters that require quotes around a cell. Spreadsheets also split fields at semicolons and tabs; LibreOffice does so by
 * default.
 */
const SEPARATORS = /[",;\t\r\n]/;

export type CsvValue = string | number | boolean | null;

/** Returns the cell for a value, in files that the API writes. */
export function csvCell(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA_STARTS.includes(value.charAt(0)) ? `'${value}` : value;
  // An empty field without quotes is null.
  return text === "" || SEPARATORS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The code points of FORMULA_STARTS, for PostgreSQL's ascii(). */
const FORMULA_CODES = FORMULA_STARTS.map((character) => character.codePointAt(0)).join(", ");

/** Returns SQL that escapes formulas in a text, for cells that COPY writes. COPY adds the quotes. */
export function escapeFormulaSql(text: string): string {
  // ascii() returns the code point of the first character. It is cheaper than left(), which allocates a string.
  return `case when ascii(${text}) in (${FORMULA_CODES}) then '''' || ${text} else ${text} end`;
}
