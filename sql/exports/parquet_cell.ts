/** A cell of a Parquet export, as SQL. */
import type { ExportColumn, ExportColumnType } from "../../shared/exports/column.ts";

const TYPES: Readonly<Record<ExportColumnType, string>> = {
  uuid: "uuid",
  text: "text",
  integer: "int4",
  number: "float8",
  boolean: "boolean",
  timestamp: "timestamptz",
  // Binary jsonb begins with its version.
  json: "text",
};

/** Returns the expression of a cell. A tracker's view may have another type, whose binary form is another one. */
export function parquetCell(column: ExportColumn): string {
  return `r."${column.column}"::${column.bits === 64 ? "int8" : TYPES[column.type]}`;
}
