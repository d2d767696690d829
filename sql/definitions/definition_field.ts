/** Describes a field of a definition by its SQL, JSON Schema and example. `fields.ts` declares all fields. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Instant, Natural, Nullable, oneOf, Text, Uuid } from "../../shared/schemas.ts";
import { isoText } from "../iso_text.ts";

export interface DefinitionField<Schema extends TSchema = TSchema> {
  /** Expression for the value in a query over DEFINITION_TABLES. */
  sql: string;
  /** Expression for the value in JSON. Times are texts, and values that the viewer may not see are null. */
  json: string;
  schema: Schema;
  example: Static<Schema> | null;
}

export type FieldMap = Readonly<Record<string, DefinitionField>>;

export type FieldValues<Fields extends FieldMap> = {
  -readonly [Name in keyof Fields]: Static<Fields[Name]["schema"]>;
};

export function field<Schema extends TSchema>(
  schema: Schema,
  sql: string,
  example: Static<Schema> | null,
  description?: string,
): DefinitionField<Schema> {
  return { sql, json: sql, schema: description ? { ...schema, description } : schema, example };
}

function maker<Schema extends TSchema>(schema: Schema) {
  return (sql: string, example: Static<Schema> | null, description?: string) =>
    field(schema, sql, example, description);
}

export const textField = maker(Text);
export const uuidField = maker(Uuid());
export const countField = maker(Natural);
export const textsField = maker(Type.Array(Text));

export function instantField(sql: string, example: string | null, description?: string) {
  return { ...field(Instant(), sql, example, description), json: isoText(sql) };
}

export function wordField<const Word extends string>(
  sql: string,
  words: readonly Word[],
  example: Word | null,
  description?: string,
) {
  return field(oneOf(words), sql, example, description);
}

export function nullableField<Schema extends TSchema>({ schema, ...of }: DefinitionField<Schema>) {
  return { ...of, schema: Nullable(schema) };
}

/** Returns the select list for a row of these fields. */
export function selectFields(fields: FieldMap, as: "sql" | "json"): string {
  return Object.entries(fields)
    .map(([name, field]) => `${field[as]} as "${name}"`)
    .join(", ");
}

/** Returns an expression for a JSON object of these fields. */
export function buildJson(fields: FieldMap): string {
  const members = Object.entries(fields).map(([name, { json }]) => `'${name}', ${json}`);
  return `json_build_object(${members.join(", ")})`;
}
