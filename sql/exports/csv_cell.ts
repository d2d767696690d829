/** A cell of a CSV export, as SQL. */
import type { ExportColumn } from "../../shared/exports/column.ts";
import { FORMULA_STARTS } from "../../shared/exports/csv_syntax.ts";
import { isoText } from "../iso_text.ts";

/** As code points, for PostgreSQL's ascii(). */
const FORMULA_CODES = FORMULA_STARTS.map((character) => character.codePointAt(0)).join(", ");

/** Returns the expression of a cell. Free text that a spreadsheet would read as a formula gets a leading quote. */
export function csvCell(column: ExportColumn): string {
  const value = `r."${column.column}"`;
  if (column.type === "timestamp") return isoText(value);
  if (column.type === "boolean") return `${value}::text`;
  const isFreeText = column.type === "json" || (column.type === "text" && column.values === undefined);
  if (!isFreeText) return value;
  const cell = column.type === "json" ? `${value}::text` : value;
  // ascii() is the code point of the first character: cheaper than left(), which makes a string.
  return `case when ascii(${cell}) in (${FORMULA_CODES}) then '''' || ${cell} else ${cell} end`;
}
