/** Building blocks of schemas for operations, errors, rows and settings. Their types are derived with `Static`. */
import {
  Kind,
  type SchemaOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";

/** A schema as plain JSON, such as the schema of an exported row. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export const Text = Type.String();
export const Natural = Type.Integer({ minimum: 0 });
/** The number of items in a list. The example is 1, because examples of lists have one item. */
export const Count = Type.Integer({ minimum: 0, examples: [1] });
/** A line or column number in a document. */
export const Line = Type.Integer({ minimum: 1, description: "From 1" });
export const Details = Type.Record(Type.String(), Type.Unknown());
/** The page of a list, as requested. */
export const PAGE = { limit: Type.Integer({ minimum: 0, examples: [50] }), offset: Natural };

export function Uuid(options: SchemaOptions = {}) {
  return Type.String({ format: "uuid", ...options });
}

export function Instant(options: SchemaOptions = {}) {
  return Type.String({ format: "date-time", ...options });
}

/** Returns a schema that also allows null. */
export function Nullable<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

export const NullableText = Nullable(Text);
export const NullableInstant = Nullable(Instant());

export function listOf<Schema extends TSchema>(items: Schema, options: SchemaOptions = {}) {
  return Type.Unsafe<readonly Static<Schema>[]>(Type.Array(items, options));
}

/**
 * Returns a schema for one of several words. TypeBox has no string enum, and its union of literals would be a union of
 * constants in the OpenAPI document.
 */
export function oneOf<const Word extends string>(words: readonly Word[], options: SchemaOptions = {}) {
  TypeRegistry.Set<{ enum: readonly unknown[] }>("Word", (schema, value) => schema.enum.includes(value));
  return Type.Unsafe<Word>({ ...options, [Kind]: "Word", type: "string", enum: words });
}

/**
 * Returns a schema for one of several objects with titles. `field` distinguishes them, because it has a single allowed value
 * in each object.
 */
export function taggedUnion<Value>(field: string, schemas: readonly TObject[], options: SchemaOptions = {}) {
  const mapping = schemas.map(({ title, properties }) => [
    properties[field]?.["enum"][0],
    `#/components/schemas/${title}`,
  ]);
  const discriminator = { propertyName: field, mapping: Object.fromEntries(mapping) };
  return Type.Unsafe<Value>({ ...options, oneOf: schemas, discriminator });
}

export function each<const Name extends string, Schema extends TSchema>(
  names: readonly Name[],
  schema: Schema,
): Record<Name, Schema> {
  // The result has an entry for every name.
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** Returns the schema of a request body. Unknown fields are errors, because a misspelled field would otherwise be ignored. */
export function requestBody<Fields extends TProperties>(
  title: string,
  fields: Fields,
  example: Static<TObject<Fields>>,
) {
  return Type.Object(fields, { title, additionalProperties: false, examples: [example] });
}

/** Returns the schema of a response whose fields are wrapped in `data`. */
export function data<Fields extends TProperties>(fields: Fields, description: string, example?: object) {
  return dataOf(Type.Object(fields), description, example);
}

/** Like `data`, but for a schema with its own title. */
export function dataOf<Schema extends TSchema>(schema: Schema, description: string, example?: object) {
  const examples = example === undefined ? {} : { examples: [{ data: example }] };
  return Type.Object({ data: schema }, { description, ...examples });
}
