/** Simplifies the schemas of the OpenAPI document and turns titled schemas into named components. */
import { isRecord } from "../../shared/plain_values.ts";
import type { JsonSchema } from "../../shared/schemas.ts";

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
const SINGLE = ["items", "additionalProperties", "not", "contentSchema"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "$defs"];

/** Members with example data, whose `schema` members are not schemas. */
const VALUES = ["example", "examples"];

/**
 * Simplifies every `schema` in a part of the document, and replaces titled schemas with references. Returns the new part, and
 * the titled schemas by title.
 */
export function collectSchemas<Part>(part: Part): { part: Part; schemas: Record<string, JsonSchema> } {
  const schemas: Record<string, JsonSchema> = {};

  function add(value: unknown): JsonSchema {
    const { $schema: _, ...simple } = simplify(mapSchemas(value as JsonSchema, add));
    if (typeof simple["title"] !== "string") return simple;
    // Drops the title, which is the component's name, and the examples, which bodies and responses contain.
    const { title, examples: __, ...schema } = simple;
    if (title in schemas && JSON.stringify(schemas[title]) !== JSON.stringify(schema)) {
      throw new Error(`Cannot describe the API: two schemas have the title "${title}"`);
    }
    schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  }

  const replaced = replaceMembers(part, (key, value) => {
    if (VALUES.includes(key)) return value;
    return key === "schema" ? add(value) : undefined;
  });
  // The type still applies, because only schemas have changed.
  return { part: replaced as Part, schemas };
}

/** Returns a tree with members replaced by `replace`. Recurses into a member if `replace` returns undefined. */
export function replaceMembers(node: unknown, replace: (key: string, value: unknown) => unknown): unknown {
  if (Array.isArray(node)) return node.map((item) => replaceMembers(item, replace));
  if (!isRecord(node)) return node;
  return mapValues(node, (value, key) => replace(key, value) ?? replaceMembers(value, replace));
}

export function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  map: (value: In, key: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}

/** Returns a schema with its nested schemas replaced by `map`. */
function mapSchemas(schema: JsonSchema, map: (inner: unknown) => JsonSchema): JsonSchema {
  return mapValues(schema, (value, keyword) => {
    if (typeof value !== "object" || value === null) return value;
    if (SINGLE.includes(keyword)) return map(value);
    if (LISTS.includes(keyword)) return (value as unknown[]).map(map);
    return MAPS.includes(keyword) ? mapValues(value as JsonSchema, map) : value;
  });
}

/** Returns whether a schema is an object without declared properties, which client generators treat as empty. */
function isOpenObject({ type, properties, additionalProperties, patternProperties }: JsonSchema): boolean {
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  return isObject && !properties && additionalProperties === undefined && !patternProperties;
}

/** Shortens TypeBox's schemas of nullable values and records, and drops `nullable` (OpenAPI 3.0). */
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
  // Client generators fail on null in an enum.
  if (!value || !isNullable || typeof value["type"] !== "string" || "enum" in value) return schema;
  return { ...value, ...rest, type: [value["type"], "null"] };
}
