/** Helpers that describe parameters and responses in the OpenAPI document. */
import { record, TEXT } from "../../shared/json_schema.ts";

/** Describes a JSON response with an example. */
function jsonResponse(description: string, schema: object, example: unknown) {
  return { description, content: { "application/json": { schema, example } } };
}

/** Describes a JSON response whose schema and example are wrapped in `data`. */
export function dataResponse(description: string, schema: object, example: unknown) {
  return jsonResponse(description, record({ data: schema }), { data: example });
}

/** Describes a path parameter. */
export function pathParameter(name: string, description: string, example: string, schema: object = TEXT) {
  return { name, in: "path", required: true, description, example, schema };
}

/** Describes an optional request header. */
export function headerParameter(name: string, description: string) {
  return { name, in: "header", description, schema: TEXT };
}
