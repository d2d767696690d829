/** The schemas of the OpenAPI document: simplified, and those with a title as components of that name. */

import type { JsonSchema } from "../../shared/schemas.ts";

/** Keywords whose value is a schema, a list of them, or an object of them. */
const SINGLE = ["items", "additionalProperties", "not", "contentSchema"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "$defs"];

/** Values that may have a member `schema` of their own. */
const VALUES = ["example", "examples"];

/**
 * Replaces every `schema` in a part of the document: by a reference if it has a title. Returns the part, and the schemas
 * with a title by that title.
 */
export function collectSchemas<Part>(part: Part): { part: Part; schemas: Record<string, JsonSchema> } {
  const schemas: Record<string, JsonSchema> = {};
  const texts = new Map<string, string>();

  function add(value: unknown): JsonSchema {
    const { $schema: _, ...simple } = simplify(mapSchemas(value as JsonSchema, add));
    if (typeof simple["title"] !== "string") return simple;
    // The component has the title as its name, and bodies and responses have the examples.
    const { title, examples: __, ...schema } = simple;
    const text = JSON.stringify(schema);
    if ((texts.get(title) ?? text) !== text) {
      throw new Error(`Cannot describe the API: two schemas have the title "${title}"`);
    }
    texts.set(title, text);
    schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  function replaceIn(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(replaceIn);
    if (typeof node !== "object" || node === null) return node;
    const entries = Object.entries(node).map(([key, value]) => {
      if (VALUES.includes(key)) return [key, value];
      return [key, key === "schema" ? add(value) : replaceIn(value)];
    });
    return Object.fromEntries(entries);
  }

  // Only schemas have changed.
  return { part: replaceIn(part) as Part, schemas };
}

/** The schema with every schema in it replaced. */
function mapSchemas(schema: JsonSchema, map: (inner: unknown) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (typeof value !== "object" || value === null) return [keyword, value];
      if (SINGLE.includes(keyword)) return [keyword, map(value)];
      if (LISTS.includes(keyword)) return [keyword, (value as unknown[]).map(map)];
      if (!MAPS.includes(keyword)) return [keyword, value];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(inner)]))];
    }),
  );
}

/** True for an object without declared properties, which client generators would treat as an empty object. */
function isOpenObject({ type, properties, additionalProperties, patternProperties }: JsonSchema): boolean {
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  return isObject && !properties && additionalProperties === undefined && !patternProperties;
}

/** Shortens what TypeBox writes for nullable values and records, and drops `nullable` (OpenAPI 3.0). */
function simplify({ nullable: _, ...schema }: JsonSchema): JsonSchema {
  const { anyOf, patternProperties, ...rest } = schema;
  if (isOpenObject(schema)) return { ...schema, additionalProperties: true };
  if (typeof patternProperties === "object" && patternProperties !== null) {
    const [additionalProperties] = Object.values(patternProperties);
    return { ...rest, additionalProperties };
  }
  if (!Array.isArray(anyOf)) return schema;
  const branches = anyOf as JsonSchema[];
  const [value, nothing, ...others] = branches;
  const isNullable = nothing?.["type"] === "null" && others.length === 0;
  // Generators of clients break on null among the words of an enum.
  if (!value || !isNullable || typeof value["type"] !== "string" || "enum" in value) return schema;
  return { ...value, ...rest, type: [value["type"], "null"] };
}
