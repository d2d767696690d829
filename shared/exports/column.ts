/** Describes an exported column, and the functions that declare one in `datasets.ts`. */

export type ExportColumnType = "uuid" | "text" | "integer" | "number" | "boolean" | "timestamp" | "json";

export interface ExportColumn {
  column: string;
  /** Name in JSON and in the CSV header: the camelCase of the column. */
  name: string;
  type: ExportColumnType;
  /** Whether the table's column takes NULL. In an export, a JSON column may be null even if this is false. */
  nullable: boolean;
  description: string;
  /** The allowed values, if the database restricts them. */
  values?: readonly string[];
  /** Size of an integer; 32 by default. */
  bits?: 32 | 64;
  /** The most characters of a text that the database accepts; no limit if omitted. */
  maxLength?: number;
}

/** `last_seen_run_id` → `lastSeenRunId`. */
export function toCamelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

type Maker = (column: string, description: string) => ExportColumn;

function maker(type: ExportColumnType): Maker {
  return (column, description) => ({
    column,
    name: toCamelCase(column),
    type,
    nullable: false,
    description,
  });
}

export const uuidColumn = maker("uuid");
export const integerColumn = maker("integer");
export const numberColumn = maker("number");
export const booleanColumn = maker("boolean");
export const timestampColumn = maker("timestamp");
export const jsonColumn = maker("json");

/** Text of at most `maxLength` characters, or of any length. */
export function textColumn(column: string, description: string, maxLength?: number): ExportColumn {
  return { ...maker("text")(column, description), ...(maxLength === undefined ? {} : { maxLength }) };
}

/** A 64-bit integer. JavaScript is not exact above 2^53. */
export function bigIntegerColumn(column: string, description: string): ExportColumn {
  return { ...integerColumn(column, description), bits: 64 };
}

/** A text column with a closed list of words. */
export function wordColumn(column: string, values: readonly string[], description: string): ExportColumn {
  return { ...textColumn(column, description), values };
}

/** Returns whether exported rows may have null in a column; JSON columns always may, because JSON null is a value. */
export function isNullInExports({ type, nullable }: ExportColumn): boolean {
  return nullable || type === "json";
}

/** Returns whether a value may have more characters than that. */
export function canExceed(
  { type, values, maxLength = Number.POSITIVE_INFINITY }: ExportColumn,
  length: number,
): boolean {
  return type === "json" || (type === "text" && !values && maxLength > length);
}

export function nullableColumn(column: ExportColumn): ExportColumn {
  return { ...column, nullable: true };
}
