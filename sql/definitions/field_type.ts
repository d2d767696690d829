/** The fields of a definition, as declared in `fields.ts`: SQL, JSON Schema and example of each. */
import * as schemas from "../../shared/json_schema.ts";
import { isoText } from "../iso_text.ts";

export interface DefinitionField<Value> {
  /** Expression for the value in a query over DEFINITION_TABLES. */
  sql: string;
  /** Expression for the value in JSON: times as text, null where the viewer may not see the value. */
  json: string;
  schema: schemas.JsonSchema;
  example: Value | null;
}

export type FieldMap = Readonly<Record<string, DefinitionField<unknown>>>;

export type FieldValues<Fields extends FieldMap> = {
  -readonly [Name in keyof Fields]: Fields[Name] extends DefinitionField<infer Value> ? Value : never;
};

export function field<Value>(
  schema: schemas.JsonSchema,
  sql: string,
  example: Value | null,
  description?: string,
): DefinitionField<Value> {
  return { sql, json: sql, schema: description ? { ...schema, description } : schema, example };
}

function maker<Value>(schema: schemas.JsonSchema) {
  return (sql: string, example: Value | null, description?: string) =>
    field<Value>(schema, sql, example, description);
}

export const textField = maker<string>(schemas.TEXT);
export const uuidField = maker<string>(schemas.ID);
export const countField = maker<number>(schemas.COUNT);
export const textsField = maker<string[]>(schemas.listSchema(schemas.TEXT));

export function instantField(
  sql: string,
  example: string | null,
  description?: string,
): DefinitionField<string> {
  return { ...field<string>(schemas.INSTANT, sql, example, description), json: isoText(sql) };
}

export function wordField<Word extends string>(
  sql: string,
  words: readonly Word[],
  example: Word | null,
  description?: string,
): DefinitionField<Word> {
  return field<Word>(schemas.wordSchema(words), sql, example, description);
}

export function nullableField<Value>(of: DefinitionField<Value>): DefinitionField<Value | null> {
  return { ...of, schema: schemas.nullable(of.schema) };
}

/** Returns the field with another expression in JSON. */
export function shownAs<Value>(json: string, of: DefinitionField<Value>): DefinitionField<Value> {
  return { ...of, json };
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
