/** The type of an exported column, and the functions that declare columns in `datasets.ts`. */

export const EXPORT_COLUMN_TYPES = [
  "uuid",
  "text",
  "integer",
  "number",
  "boolean",
  "timestamp",
  "json",
] as const;
export type ExportColumnType = (typeof EXPORT_COLUMN_TYPES)[number];

export interface ExportColumn {
  column: string;
  /** The name in JSON and in the CSV header: the column's name in camelCase. */
  name: string;
  type: ExportColumnType;
  /** True if the table's column allows NULL. An exported JSON column may contain null even if this is false. */
  nullable: boolean;
  description: string;
  /** The allowed values, if the database restricts them. */
  values?: readonly string[];
  /** The size of an integer in bits; 32 by default. */
  bits?: 32 | 64;
  /** The maximum number of characters that the database accepts; unlimited if omitted. */
  maxLength?: number;
}

/** Converts a column's name to camelCase: `last_seen_run_id` to `lastSeenRunId`. */
export function toCamelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function makers(nullable: boolean) {
  const maker =
    (type: ExportColumnType, size: Pick<ExportColumn, "bits"> = {}) =>
    (column: string, description: string): ExportColumn => ({
      ...{ column, name: toCamelCase(column), type, nullable, description },
      ...size,
    });
  const text = maker("text");
  return {
    uuid: maker("uuid"),
    integer: maker("integer"),
    /** A 64-bit integer. JavaScript numbers are exact only up to 2^53. */
    bigInteger: maker("integer", { bits: 64 }),
    number: maker("number"),
    boolean: maker("boolean"),
    timestamp: maker("timestamp"),
    json: maker("json"),
    /** A text of at most `maxLength` characters, or of any length. */
    text: (name: string, description: string, maxLength?: number): ExportColumn => ({
      ...text(name, description),
      ...(maxLength === undefined ? {} : { maxLength }),
    }),
    /** A text column that allows only the given values. */
    word: (name: string, values: readonly string[], description: string): ExportColumn => ({
      ...text(name, description),
      values,
    }),
  };
}

export const column = makers(false);
export const nullableColumn = makers(true);

/** Returns whether a column may be null in exports. JSON columns always may, because JSON null is a value. */
export function isNullInExports({ type, nullable }: ExportColumn): boolean {
  return nullable || type === "json";
}

/** Returns whether a value of the column may have more than `length` characters. */
export function canExceed(
  { type, values, maxLength = Number.POSITIVE_INFINITY }: ExportColumn,
  length: number,
): boolean {
  return type === "json" || (type === "text" && !values && maxLength > length);
}
