/** Makes examples from schemas. */
import type { JsonSchema } from "../../shared/json_schema.ts";

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-11-20T10:00:00.000Z",
  date: "2026-11-19",
  uuid: "0b4f8f3e-7d2a-4c55-8f0e-2a1f6f1c9d10",
};

/**
 * Returns the first of a schema's examples; otherwise one that is made of its parts: an object of its required fields, a list
 * of one item, the first of several words or schemas. Throws for a text without an example.
 */
export function exampleOf(schema: JsonSchema): unknown {
  const { examples, const: word, enum: words, anyOf, type, properties, items, format, minimum } = schema;
  const [first] = [examples ?? words ?? []].flat();
  if (first !== undefined) return first;
  if (word !== undefined) return word;
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0]);
  if (type === "object") return exampleOfFields(schema, (properties ?? {}) as Record<string, JsonSchema>);
  if (type === "array") return [exampleOf(items as JsonSchema)];
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return minimum ?? 0;
  const text = FORMATS[String(format)];
  if (text === undefined) throw new Error(`Cannot make an example: ${JSON.stringify(schema)} has none`);
  return text;
}

function exampleOfFields(schema: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): object {
  const required = (schema["required"] ?? []) as readonly string[];
  const shown = Object.entries(fields).filter(
    ([name, field]) => required.includes(name) || "examples" in field,
  );
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]));
}
