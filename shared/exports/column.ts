/** Describes an exported column, and the functions that declare one in `datasets.ts`. */

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
    /** A 64-bit integer. JavaScript is not exact above 2^53. */
    bigInteger: maker("integer", { bits: 64 }),
    number: maker("number"),
    boolean: maker("boolean"),
    timestamp: maker("timestamp"),
    json: maker("json"),
    /** Text of at most `maxLength` characters, or of any length. */
    text: (name: string, description: string, maxLength?: number): ExportColumn => ({
      ...text(name, description),
      ...(maxLength === undefined ? {} : { maxLength }),
    }),
    /** A text column with a closed list of words. */
    word: (name: string, values: readonly string[], description: string): ExportColumn => ({
      ...text(name, description),
      values,
    }),
  };
}

export const column = makers(false);
export const nullableColumn = makers(true);

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
