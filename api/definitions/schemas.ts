/** The common parts of the definition endpoints' declarations: parameters, schemas and errors. */
import { type SchemaOptions, type Static, type TSchema, Type } from "@sinclair/typebox";
import { KEY_WARNING_CODES } from "../../shared/definitions/language/check_keys.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { Line, listOf, Nullable, NullableText, oneOf, Text } from "../../shared/schemas.ts";
import { DEFINITION_TYPES } from "../../shared/vocabulary.ts";
import type { FieldMap } from "../../sql/definitions/definition_field.ts";
import {
  DEFINITION_FIELDS,
  type Definition as DefinitionJson,
  SUMMARY_FIELDS,
} from "../../sql/definitions/fields.ts";

/** A read of one definition. */
export const READ = {
  method: "GET",
  access: "public",
  tag: "Definitions",
  usesOrg: true,
  conditional: true,
  fails: ["NOT_FOUND", "ORG_ACCESS_DENIED"],
} as const;

/** A write of the registry, by POST unless it says otherwise. */
export const WRITE = { method: "POST", access: "caller", tag: "Definitions", usesOrg: true } as const;

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

/** A reference and the version it resolves to. */
const Reference = Type.Object(
  {
    type: TypeName,
    name: Type.String({ description: "As written in the YAML: `reviewer` or `@acme/reviewer`" }),
    range: Text,
    context: Type.String({ description: "Where the YAML names it" }),
    resolvedVersion: NullableText,
  },
  { title: "DefinitionReference" },
);

function schemasOf<const Fields extends FieldMap>(fields: Fields) {
  const entries = Object.entries(fields).map(([name, { schema }]) => [name, schema]);
  // Every field has its schema.
  return Object.fromEntries(entries) as { [Name in keyof Fields]: Fields[Name]["schema"] };
}

export function exampleOfRow(fields: FieldMap) {
  return Object.fromEntries(Object.entries(fields).map(([name, { example }]) => [name, example]));
}

export const DefinitionSummary = Type.Object(
  {
    ...schemasOf(SUMMARY_FIELDS),
    draftVersion: Type.Optional(
      Nullable(Text, {
        description: "With `publishedFirst=true`: the highest draft of the definition that you can see",
      }),
    ),
  },
  { title: "DefinitionSummary", examples: [exampleOfRow(SUMMARY_FIELDS)] },
);
export type ListedDefinition = Static<typeof DefinitionSummary>;

export const EXAMPLE_DEFINITION = exampleOfRow(DEFINITION_FIELDS);
const DefinitionSchema = Type.Object(
  {
    ...schemasOf(DEFINITION_FIELDS),
    yaml: Type.Optional(DEFINITION_FIELDS.yaml.schema),
    runtimeMd: Type.Optional(DEFINITION_FIELDS.runtimeMd.schema),
    refs: Type.Optional(
      listOf(Reference, {
        description: "With `includeRefs=true`: the references in the YAML, and the version each resolves to",
      }),
    ),
    normalized: Type.Optional(
      Type.Unsafe<object | null>({
        type: ["object", "null"],
        description: "With `normalize=true`: the canonical document; null if it cannot be normalized",
      }),
    ),
    normalizationError: Type.Optional(Type.String({ description: "Why the document cannot be normalized" })),
  },
  { title: "Definition", examples: [EXAMPLE_DEFINITION] },
);

/** A full definition. A read leaves out the texts that it was not asked for. */
export const Definition = Type.Unsafe<DefinitionJson>(DefinitionSchema);

const WARNING_CODES = [
  ...(["TRANSLATION_FAILED", "UNRESOLVED_REFERENCE", "REFERENCE_NOT_PUBLIC", "FOREIGN_REFERENCE"] as const),
  ...(["SAFETY_SIGNAL", "SAFETY_SCAN_FAILED", "UNKNOWN_MODEL", "UNKNOWN_TOOL"] as const),
  ...KEY_WARNING_CODES,
  "SAME_NAME_ELSEWHERE",
  "ALIAS_REPLACED",
] as const;

/** A problem of a version, for its author, that does not block the write. */
export const Warning = Type.Object(
  {
    code: oneOf(WARNING_CODES),
    message: Text,
    details: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
    path: Type.Optional(Type.String({ description: "Path in the YAML, where it is known" })),
    line: Type.Optional(Line),
    column: Type.Optional(Line),
  },
  { title: "Warning" },
);
export type Warning = Static<typeof Warning>;

/** The schema of an object with these fields, and its example. */
export function objectOf<const Fields extends FieldMap>(fields: Fields, options: SchemaOptions = {}) {
  return Type.Object(schemasOf(fields), { ...options, examples: [exampleOfRow(fields)] });
}

/** Warnings next to the `data` of a response. */
export const Warnings = listOf(Warning, { examples: [[]] });

/** A response with `data`, and `warnings` next to it if there are any. */
export function dataAndWarnings<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Object({ data: schema, warnings: Type.Optional(Warnings) }, { description });
}

/** A body for `dataAndWarnings`. */
export function withWarnings<Data>(data: Data, warnings: readonly Warning[]) {
  return warnings.length === 0 ? { data } : { data, warnings };
}
