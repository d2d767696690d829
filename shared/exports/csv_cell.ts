/** The cells of all CSV files, and how formulas in them are escaped (docs/contract.md, Exports). */

/** Tells a spreadsheet that the file is UTF-8. */
export const BYTE_ORDER_MARK = "\uFEFF";

/**
 * First characters that make a spreadsheet read a cell as a formula, full-width forms too. Text that begins with one gets
 * a leading apostrophe.
 */
const FORMULA_STARTS: readonly string[] = [..."=+-@\t\r\n＝＋－＠"];

/** Needs quotes. Spreadsheets also separate fields at semicolons and tabs, LibreOffice by default. */
const SEPARATORS = /[",;\t\r\n]/;

export type CsvValue = string | number | boolean | null;

/** Returns a value as a cell, for files that the API writes. */
export function csvCell(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA_STARTS.includes(value.charAt(0)) ? `'${value}` : value;
  // An empty field without quotes is null.
  return text === "" || SEPARATORS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** As code points, for PostgreSQL's ascii(). */
const FORMULA_CODES = FORMULA_STARTS.map((character) => character.codePointAt(0)).join(", ");

/** Returns the SQL of a text with its formula escaped, for cells that COPY writes; it adds the quotes. */
export function escapeFormulaSql(text: string): string {
  // ascii() returns the code point of the first character. It is cheaper than left(), which allocates a string.
  return `case when ascii(${text}) in (${FORMULA_CODES}) then '''' || ${text} else ${text} end`;
}
