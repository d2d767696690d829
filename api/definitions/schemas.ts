/** Shared parts of the definition endpoints: parameters, schemas and errors. */
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

/** Common declaration of the read endpoints. */
export const READ = {
  method: "GET",
  access: "public",
  tag: "Definitions",
  usesOrg: true,
  conditional: true,
  fails: ["NOT_FOUND", "ORG_ACCESS_DENIED"],
} as const;

/** Common declaration of the write endpoints. The method is POST unless the endpoint overrides it. */
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

/** Errors of endpoints that accept a document. */
export const DOCUMENT_FAILURES: readonly ErrorCode[] = [
  "PAYLOAD_TOO_LARGE",
  "UNPROCESSABLE_ENTITY",
  "NAME_MISMATCH",
];

export const TypeName = oneOf(DEFINITION_TYPES);

/** Returns the path parameters. `name` describes the accepted forms of the name. */
function address(name: string, example: string) {
  const organization = "`@org/name` (encoded: `%40org%2Fname`) stands for the name in one organization.";
  return {
    type: oneOf(DEFINITION_TYPES, { description: "Definition type", examples: ["agent"] }),
    name: Type.String({ description: `${name}. ${organization}`, examples: [example] }),
  };
}

export const NewName = address("`name`, the same as in the YAML", "reviewer");
/** For writes to one version. The example is the version that the prefilled request of `createDefinition` creates. */
export const VersionNeeded = address("`name@version`", "reviewer@1.0.0");
export const VersionPossible = address(
  "`name` for the highest published version, else the highest deprecated one, or `name@version`",
  "reviewer@1.0.0",
);
/** For reads that resolve a name to one version. */
export const VersionOrId = address(
  "`name` for the highest published version, else the highest deprecated one, `name@version`, or the id of a version",
  "code-reviewer@1.0.0",
);
/** For reads that cover all versions of a definition. */
export const NameOrId = address(
  "`name` without a version, or the id of one of its versions",
  "code-reviewer",
);
/** For reads about a line, addressed by its name or any of its versions. */
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
  // The cast restores the type of each field's schema.
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

/** A full definition. A read omits the texts that its query excludes. */
export const Definition = Type.Unsafe<DefinitionJson>(DefinitionSchema);

const WARNING_CODES = [
  ...(["TRANSLATION_FAILED", "UNRESOLVED_REFERENCE", "REFERENCE_NOT_PUBLIC", "FOREIGN_REFERENCE"] as const),
  ...(["SAFETY_SIGNAL", "SAFETY_SCAN_FAILED", "UNKNOWN_MODEL", "UNKNOWN_TOOL"] as const),
  ...KEY_WARNING_CODES,
  "SAME_NAME_ELSEWHERE",
  "ALIAS_REPLACED",
] as const;

/** A non-fatal problem of a version, reported to its author. */
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

/** Returns the schema of an object with these fields and their examples. */
export function objectOf<const Fields extends FieldMap>(fields: Fields, options: SchemaOptions = {}) {
  return Type.Object(schemasOf(fields), { ...options, examples: [exampleOfRow(fields)] });
}

/** The `warnings` next to the `data` of a response. */
export const Warnings = listOf(Warning, { examples: [[]] });

/** Returns the schema of a response with `data` and, if there are any, `warnings`. */
export function dataAndWarnings<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Object({ data: schema, warnings: Type.Optional(Warnings) }, { description });
}

/** Returns a response body for the schema of `dataAndWarnings`. */
export function withWarnings<Data>(data: Data, warnings: readonly Warning[]) {
  return warnings.length === 0 ? { data } : { data, warnings };
}
