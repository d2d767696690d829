/** The JSON Schema of a dataset's rows, for `GET /export/datasets`, the OpenAPI document and the `schema.json` of archives. */
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
    // Client generators require schemas for array items and properties, even if they allow any value.
    items: {},
    additionalProperties: true,
  },
};

/** Returns a schema that also allows null. An enum is not extended, because client generators fail if it contains null. */
function orNull(schema: JsonSchema): JsonSchema {
  if ("enum" in schema) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [schema["type"], "null"].flat() };
}

function columnSchema(column: ExportColumn): object {
  const schema = { ...TYPES[column.type], ...(column.values ? { enum: column.values } : {}) };
  return { ...(isNullInExports(column) ? orNull(schema) : schema), description: column.description };
}

/** Returns the schema of an NDJSON line, which always contains every column. */
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
