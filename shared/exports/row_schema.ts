/**
 * The JSON Schema of a dataset's rows, for `GET /export/datasets`, the OpenAPI document and `schema.json` of archives.
 */
import type { JsonSchema } from "../schemas.ts";
import { type ExportColumn, type ExportColumnType, isNullInExports } from "./column.ts";
import type { ExportDataset } from "./datasets.ts";

const TYPES: Readonly<Record<ExportColumnType, JsonSchema>> = {
  uuid: { type: "string", format: "uuid" },
  text: { type: "string" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  timestamp: { type: "string", format: "date-time" },
  json: {
    type: ["object", "array", "string", "number", "boolean"],
    // Generators of clients want to know what is in an array or object, even if it is anything.
    items: {},
    additionalProperties: true,
  },
};

/** The same or null. An enum stays whole: generators of clients break on null among its words. */
function orNull(schema: JsonSchema): JsonSchema {
  if ("enum" in schema) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [schema["type"], "null"].flat() };
}

function columnSchema(column: ExportColumn): object {
  const schema = { ...TYPES[column.type], ...(column.values ? { enum: column.values } : {}) };
  return { ...(isNullInExports(column) ? orNull(schema) : schema), description: column.description };
}

/** Describes an NDJSON line, which always has every column. */
export function rowJsonSchema(dataset: ExportDataset): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: dataset.name,
    type: "object",
    properties: Object.fromEntries(dataset.columns.map((column) => [column.name, columnSchema(column)])),
    required: dataset.columns.map((column) => column.name),
    additionalProperties: false,
  };
}
