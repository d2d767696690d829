/**
 * The JSON Schema of a dataset's rows, for `GET /export/datasets`, the OpenAPI document and `schema.json` of archives.
 */
import { type ExportColumn, type ExportColumnType, isNullInExports } from "./column.ts";
import type { ExportDataset } from "./datasets.ts";

const TYPES: Readonly<Record<ExportColumnType, { type: string | readonly string[]; format?: string }>> = {
  uuid: { type: "string", format: "uuid" },
  text: { type: "string" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  timestamp: { type: "string", format: "date-time" },
  json: { type: ["object", "array", "string", "number", "boolean"] },
};

export interface RowSchema {
  $schema: string;
  title: string;
  type: "object";
  properties: Record<string, object>;
  required: string[];
  additionalProperties: false;
}

function columnSchema(column: ExportColumn): object {
  const { type, ...rest } = TYPES[column.type];
  const isNullable = isNullInExports(column);
  const values = column.values && isNullable ? [...column.values, null] : column.values;
  return {
    type: isNullable ? [type, "null"].flat() : type,
    ...rest,
    ...(values ? { enum: values } : {}),
    description: column.description,
  };
}

/** Describes an NDJSON line, which always has every column. */
export function rowJsonSchema(dataset: ExportDataset): RowSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: dataset.name,
    type: "object",
    properties: Object.fromEntries(dataset.columns.map((column) => [column.name, columnSchema(column)])),
    required: dataset.columns.map((column) => column.name),
    additionalProperties: false,
  };
}
