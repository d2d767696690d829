/** OpenAPI parts that the routes of definitions share. */
import { listOf, named, nullable, oneOf, record, TEXT } from "../../../shared/json_schema.ts";
import { DEFINITION_TYPES } from "../../../shared/vocabulary.ts";
import type { DefinitionFields } from "../../../sql/definitions/field_type.ts";
import { DEFINITION_FIELDS, SUMMARY_FIELDS } from "../../../sql/definitions/fields.ts";
import { pathParameter } from "../../openapi/responses.ts";

export const DEFINITIONS_TAG = "Definitions";

export const NOT_MODIFIED = { 304: { description: "Not modified: the ETag in `If-None-Match` is current" } };

export const TYPE_PARAMETER = pathParameter("type", "Definition type", "agent", oneOf(DEFINITION_TYPES));

/** The name in a path, where `description` says whether it has a version. */
function nameParameter(description: string, example: string) {
  const organization = "`@org/name` (encoded: `%40org%2Fname`) stands for the name in one organization.";
  return pathParameter("name", `${description}. ${organization}`, example);
}

/** For reads. */
export const VERSION_OR_ID = nameParameter(
  "`name` for the highest published version, else the highest deprecated one, `name@version`, or the id of a version",
  "code-reviewer@1.0.0",
);
/** A reference and the version it resolves to. */
const REFERENCE = record({
  type: oneOf(DEFINITION_TYPES),
  name: { ...TEXT, description: "As written in the YAML: `reviewer` or `@acme/reviewer`" },
  range: TEXT,
  context: { ...TEXT, description: "Where the YAML names it" },
  resolvedVersion: nullable(TEXT),
});

/** Returns the schemas of the fields by name. */
export function schemasOf(fields: DefinitionFields) {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
}

/** Returns an example object with these fields. */
export function exampleOf(fields: DefinitionFields) {
  return Object.fromEntries(Object.entries(fields).map(([name, { example }]) => [name, example]));
}

const DRAFT_VERSION = {
  ...nullable(TEXT),
  description: "With `publishedFirst=true`: the highest draft of the definition that you can see",
};
export const SUMMARY = {
  ...named(
    "DefinitionSummary",
    record({ ...schemasOf(SUMMARY_FIELDS), draftVersion: DRAFT_VERSION }, ["draftVersion"]),
  ),
  examples: [exampleOf(SUMMARY_FIELDS)],
};

/** Fields that a read adds on request. */
const ON_REQUEST = {
  refs: {
    ...listOf(named("DefinitionReference", REFERENCE)),
    description: "With `includeRefs=true`: the references in the YAML, and the version each resolves to",
  },
  normalized: {
    type: ["object", "null"],
    description: "With `normalize=true`: the canonical document; null if it cannot be normalized",
  },
  normalizationError: { ...TEXT, description: "Why the document cannot be normalized" },
};

export const EXAMPLE_DEFINITION = exampleOf(DEFINITION_FIELDS);
export const DEFINITION = {
  ...named(
    "Definition",
    record({ ...schemasOf(DEFINITION_FIELDS), ...ON_REQUEST }, [
      "yaml",
      "runtimeMd",
      ...Object.keys(ON_REQUEST),
    ]),
  ),
  examples: [EXAMPLE_DEFINITION],
};

/** A line or column in a document. */
export const LINE = { type: "integer", minimum: 1, description: "From 1" };

/** A non-fatal problem of a version, for its author. */
export const WARNING = named(
  "Warning",
  record(
    {
      code: oneOf([
        ...["TRANSLATION_FAILED", "UNRESOLVED_REFERENCE", "REFERENCE_NOT_PUBLIC", "FOREIGN_REFERENCE"],
        ...["SAFETY_SIGNAL", "SAFETY_SCAN_FAILED", "UNKNOWN_MODEL", "UNKNOWN_TOOL"],
        ...["UNKNOWN_KEY", "UNEXPECTED_VALUE", "DESCRIPTION_LENGTH", "SAME_NAME_ELSEWHERE"],
        "ALIAS_REPLACED",
      ]),
      message: TEXT,
      details: { type: "object" },
      path: { ...TEXT, description: "Path in the YAML, where it is known" },
      line: LINE,
      column: LINE,
    },
    ["path", "line", "column"],
  ),
);
