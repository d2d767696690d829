/** The Parquet schema of a dataset. */
import type { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { ExportColumn, ExportColumnType } from "../../../shared/exports/column.ts";
import type { ExportDataset } from "../../../shared/exports/datasets.ts";

export type FileMetadata = Parameters<typeof writeMetadata>[1];
export type SchemaElement = FileMetadata["schema"][number];
export type PhysicalType = NonNullable<SchemaElement["type"]>;

type Type = Pick<SchemaElement, "converted_type" | "logical_type"> & { type: PhysicalType };

/** Spark and others cannot read the logical type UUID, and everybody can join text. */
const STRING: Type = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };

const TYPES: Readonly<Record<ExportColumnType, Type>> = {
  uuid: STRING,
  text: STRING,
  integer: { type: "INT32" },
  number: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
  timestamp: {
    type: "INT64",
    converted_type: "TIMESTAMP_MILLIS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
  json: { type: "BYTE_ARRAY", converted_type: "JSON", logical_type: { type: "JSON" } },
};

/** Returns how the values of a column are stored. */
export function parquetType(column: ExportColumn): Type {
  return column.bits === 64 ? { type: "INT64" } : TYPES[column.type];
}

/** Returns the root and its columns. All are optional: a tracker's view may return null where the table cannot. */
export function parquetSchema(dataset: ExportDataset): SchemaElement[] {
  const columns = dataset.columns.map(
    (column): SchemaElement => ({
      name: column.name,
      repetition_type: "OPTIONAL",
      ...parquetType(column),
    }),
  );
  return [{ name: dataset.table, num_children: columns.length }, ...columns];
}
