/** What all CSV files have in common (docs/contract.md, Exports). */

/** Tells a spreadsheet that the file is UTF-8. */
export const BYTE_ORDER_MARK = "\uFEFF";

/**
 * First characters that make a spreadsheet read a cell as a formula, full-width forms too. Datasets are escaped by
 * PostgreSQL: `csvCell` in sql/exports/query.ts.
 */
export const FORMULA_STARTS: readonly string[] = [..."=+-@\t\r\n＝＋－＠"];

/** Needs quotes. Spreadsheets also separate fields at semicolons and tabs, LibreOffice by default. */
const SEPARATORS = /[",;\t\r\n]/;

export type CsvValue = string | number | boolean | null;

/** Returns a line of CSV. Text that a spreadsheet would read as a formula gets a leading apostrophe. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(csvField).join(",")}\r\n`;
}

function csvField(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA_STARTS.includes(value.charAt(0)) ? `'${value}` : value;
  // An empty field without quotes is null.
  return text === "" || SEPARATORS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
