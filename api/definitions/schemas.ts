/** What endpoints of definitions share in their declarations: parameters, schemas and errors. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../shared/errors.ts";
import { record } from "../../shared/json_schema.ts";
import { DEFINITION_TYPES } from "../../shared/vocabulary.ts";
import type { DefinitionFields, FieldValues } from "../../sql/definitions/field_type.ts";
import type { Definition as DefinitionJson } from "../../sql/definitions/fields.ts";
import { oneOf } from "../http/schemas.ts";
import { DEFINITION, exampleOf, SUMMARY, schemasOf, WARNING } from "./openapi/operations.ts";
import type { Warning as WarningJson } from "./warnings/warnings.ts";

/** A read of one definition. */
export const READ = {
  method: "GET",
  access: "public",
  tag: "Definitions",
  usesOrg: true,
  conditional: true,
  fails: ["NOT_FOUND", "ORG_ACCESS_DENIED"],
} as const;

/** Errors of every write. */
export const WRITE_FAILURES: readonly ErrorCode[] = [
  "ORG_ACCESS_DENIED",
  "INSUFFICIENT_ORG_ROLE",
  "INSUFFICIENT_SCOPE",
];

/** Errors of every write to an existing definition. */
export const LINE_WRITE_FAILURES: readonly ErrorCode[] = [
  ...WRITE_FAILURES,
  "NOT_FOUND",
  "AMBIGUOUS_ORGANIZATION",
];

/** Errors of a document. */
export const DOCUMENT_FAILURES: readonly ErrorCode[] = [
  "PAYLOAD_TOO_LARGE",
  "UNPROCESSABLE_ENTITY",
  "NAME_MISMATCH",
];

export const TypeName = oneOf(DEFINITION_TYPES);

/** The parameters of the path, where `name` says whether there is a version. */
function address(name: string, example: string) {
  const organization = "`@org/name` (encoded: `%40org%2Fname`) stands for the name in one organization.";
  return {
    type: oneOf(DEFINITION_TYPES, { description: "Definition type", examples: ["agent"] }),
    name: Type.String({ description: `${name}. ${organization}`, examples: [example] }),
  };
}

/** The name of a new definition. */
export const NewName = address("`name`, the same as in the YAML", "reviewer");
/** For writes. The example is what the prefilled request of `createDefinition` creates. */
export const VersionNeeded = address("`name@version`", "reviewer@1.0.0");
export const VersionPossible = address(
  "`name` for the highest published version, else the highest deprecated one, or `name@version`",
  "reviewer@1.0.0",
);
/** For reads. */
export const VersionOrId = address(
  "`name` for the highest published version, else the highest deprecated one, `name@version`, or the id of a version",
  "code-reviewer@1.0.0",
);
/** For reads that concern all versions. */
export const NameOrId = address(
  "`name` without a version, or the id of one of its versions",
  "code-reviewer",
);
/** A draft has a lineage, but only its version's address finds it. */
export const LineOrVersion = address("`name`, `name@version`, or the id of a version", "code-reviewer");

/** The schema of an object with these fields, and its example. */
export function objectOf<const Fields extends DefinitionFields>(fields: Fields, title?: string) {
  const shape = { ...record(schemasOf(fields)), examples: [exampleOf(fields)] };
  return Type.Unsafe<FieldValues<Fields>>(title === undefined ? shape : { title, ...shape });
}

/** The JSON of the database. */
export const DefinitionSummary = Type.Unsafe<never>(SUMMARY);
export const Definition = Type.Unsafe<DefinitionJson>(DEFINITION);
export const Warning = Type.Unsafe<WarningJson>(WARNING);
export type Warning = WarningJson;

/** A response with `data`, and `warnings` beside it. */
export function dataAndWarnings<Schema extends TSchema>(schema: Schema, description: string) {
  const warnings = Type.Unsafe<readonly WarningJson[]>(Type.Array(Warning, { examples: [[]] }));
  return Type.Object({ data: schema, warnings }, { description });
}
