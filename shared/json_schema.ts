/** The parts that JSON Schemas are built from. */

export type JsonSchema = { readonly [keyword: string]: unknown };

export const TEXT = { type: "string" } as const;
export const FLAG = { type: "boolean" } as const;
export const COUNT = { type: "integer", minimum: 0 } as const;
export const ID = { type: "string", format: "uuid" } as const;
export const INSTANT = { type: "string", format: "date-time" } as const;

/** The schema of an object with these fields, all of them required but the optional ones. */
export function record(fields: Readonly<Record<string, object>>, optional: readonly string[] = []) {
  const required = Object.keys(fields).filter((name) => !optional.includes(name));
  return { type: "object", required, properties: fields };
}

/** The same schema under a title: the OpenAPI document has it once, as the component of that name. */
export function named<Schema extends object>(title: string, schema: Schema) {
  return { title, ...schema };
}

export function listSchema(items: object) {
  return { type: "array", items };
}

/** One of the words. */
export function wordSchema(words: readonly string[]) {
  return { type: "string", enum: words };
}

/**
 * The same or null. A schema with a title stays whole, so that it can be referred to. So does one with an enum: generators
 * of clients break on null among its words.
 */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type, description, ...rest } = schema;
  if (!("title" in schema) && !("enum" in schema)) return { ...schema, type: [type, "null"].flat() };
  if ("title" in schema || description === undefined) return { anyOf: [schema, { type: "null" }] };
  return { description, anyOf: [{ type, ...rest }, { type: "null" }] };
}
