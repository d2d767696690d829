/** TypeBox schemas that several routes use. */
import {
  type SchemaOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "@sinclair/typebox";

export const Text = Type.String();
export const Count = Type.Integer({ minimum: 0, examples: [1] });
export const Details = Type.Record(Type.String(), Type.Unknown());
export const NullableText = Type.Union([Type.String(), Type.Null()]);
export const NullableInstant = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

export function Instant(options: SchemaOptions = {}) {
  return Type.String({ format: "date-time", ...options });
}

/** The same or null. */
export function Nullable<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

export function listOf<Schema extends TSchema>(items: Schema, options: SchemaOptions = {}) {
  return Type.Unsafe<readonly Static<Schema>[]>(Type.Array(items, options));
}

export function each<const Name extends string, Schema extends TSchema>(
  names: readonly Name[],
  schema: Schema,
): Record<Name, Schema> {
  // Every name is there.
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** The body of a request. Unknown fields are errors: a misspelled one would be ignored, and the rest written. */
export function requestBody<Fields extends TProperties>(
  title: string,
  fields: Fields,
  example: Static<TObject<Fields>>,
) {
  return Type.Object(fields, { title, additionalProperties: false, examples: [example] });
}

/** A response whose fields are wrapped in `data`. */
export function data<Fields extends TProperties>(fields: Fields, description: string, example?: object) {
  return dataOf(Type.Object(fields), description, example);
}

/** The same for a schema with a title of its own. */
export function dataOf<Schema extends TSchema>(schema: Schema, description: string, example?: object) {
  const examples = example === undefined ? {} : { examples: [{ data: example }] };
  return Type.Object({ data: schema }, { description, ...examples });
}

/**
 * One of a list of words. `Unsafe` keeps the type, which a union of a mapped list loses; `t.UnionEnum` would default to
 * the first word.
 */
export function oneOf<const Word extends string>(words: readonly Word[], options: SchemaOptions = {}) {
  return Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  );
}
