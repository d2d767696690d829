/** Request bodies and reports for validating documents and storing them together. */
import { type Static, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../../shared/errors.ts";
import {
  data,
  Line,
  listOf,
  Natural,
  Nullable,
  NullableText,
  oneOf,
  requestBody,
  Text,
} from "../../../shared/schemas.ts";
import {
  CHANGE_TYPES,
  DEFINITION_STATUSES,
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
} from "../../../shared/vocabulary.ts";
import { EXAMPLE_YAML } from "../../../sql/definitions/fields.ts";
import { choice, flag, text } from "../../http/query.ts";
import { Provenance } from "../provenance.ts";
import { TypeName, Warning } from "../schemas.ts";
import { ClassifiedChange } from "../versions.ts";

const Visibility = Type.Optional(oneOf(DEFINITION_VISIBILITIES));
const VISIBILITY = choice(DEFINITION_VISIBILITIES, "Visibility of the definitions. Default: `private`");

export const ValidateBody = requestBody(
  "Validation",
  {
    type: oneOf(DEFINITION_TYPES),
    yaml: Type.String({ examples: [EXAMPLE_YAML] }),
    name: Type.Optional(Type.String({ description: "`name` or `@org/name`. Default: the name in the YAML" })),
    publish: Type.Optional(Type.Boolean()),
    visibility: Visibility,
  },
  { type: "agent", yaml: EXAMPLE_YAML, publish: true },
);

export const VALIDATE_YAML_QUERY = {
  type: choice(DEFINITION_TYPES, "Definition type; required"),
  name: text(200, "`name` or `@org/name`. Default: the name in the YAML"),
  publish: flag(null, "Also report what publishing would say"),
  visibility: VISIBILITY,
};

/** Maximum documents per batch. */
export const MAX_BATCH_DOCUMENTS = 200;

export const BatchBody = requestBody(
  "Batch",
  {
    definitions: Type.Optional(
      Type.Array(
        Type.Object(
          { yaml: Type.String(), visibility: Visibility, provenance: Type.Optional(Nullable(Provenance)) },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: MAX_BATCH_DOCUMENTS },
      ),
    ),
    yaml: Type.Optional(Type.String({ description: "A YAML stream, instead of `definitions`" })),
    publish: Type.Optional(Type.Boolean()),
    validate: Type.Optional(Type.Boolean({ description: "Store nothing; return what would happen" })),
    visibility: Visibility,
  },
  { definitions: [{ yaml: EXAMPLE_YAML }], publish: true, validate: true },
);

export const BATCH_YAML_QUERY = {
  publish: flag(null, "Publish the definitions"),
  validate: flag(null, "Store nothing; return what would happen"),
  visibility: VISIBILITY,
};

/** A reason for rejecting a document. */
const DocumentError = Type.Object(
  {
    code: Type.Unsafe<ErrorCode>(
      Type.String({ description: "The error code with which the document would be rejected" }),
    ),
    message: Text,
    path: Type.Optional(Type.String({ description: "Path in the YAML; `yaml` is the whole document" })),
    line: Type.Optional(Line),
    column: Type.Optional(Line),
    details: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" })),
  },
  { title: "DocumentError" },
);
export type DocumentError = Static<typeof DocumentError>;

const ValidatedReference = Type.Object(
  {
    type: TypeName,
    name: Type.String({ description: "As written in the YAML" }),
    range: Text,
    resolvedVersion: NullableText,
    organization: Nullable(Text, { description: "Slug of the organization that has the definition" }),
  },
  { title: "ValidatedReference" },
);

const ValidatedVersion = Type.Object(
  {
    given: Nullable(Text, { description: "Null if the document could not be read" }),
    exists: Type.Boolean(),
    nextAvailable: Nullable(Text, {
      description: "The given version if it is free, else the next free PATCH",
    }),
  },
  { title: "ValidatedVersion" },
);

const ValidationDiff = Type.Object(
  {
    against: Type.String({
      description:
        "The highest published version up to the given one, else the highest published, else the highest",
    }),
    isPublished: Type.Boolean({ description: "False if none is published" }),
    suggestedBump: oneOf(CHANGE_TYPES),
    classified: listOf(ClassifiedChange),
  },
  { title: "ValidationDiff" },
);

const BrokenDependent = Type.Object(
  { organization: Text, type: TypeName, name: Text, version: Text, range: Text },
  { title: "BrokenDependent" },
);

const REPORT_FIELDS = {
  valid: Type.Boolean({ description: "True if there are no errors" }),
  errors: listOf(DocumentError),
  warnings: listOf(Warning),
  riskProfile: Type.Unsafe<object | null>({
    type: ["object", "null"],
    description: "As publishing would store it",
  }),
  references: listOf(ValidatedReference),
  version: ValidatedVersion,
  diff: Nullable(ValidationDiff, {
    description:
      "Changes since an earlier version; null for a new name, and if the earlier version is no longer valid",
  }),
  breaks: listOf(BrokenDependent, {
    description:
      "Published dependents whose range accepts the published version before this one, but not this one. At most 200",
  }),
  runtimeMd: Nullable(Text, { description: "The rendered Markdown" }),
};

const EXAMPLE_REPORT = {
  valid: false,
  errors: [
    {
      code: "UNPROCESSABLE_ENTITY",
      message: 'version is not MAJOR.MINOR.PATCH. Write three numbers and quote it, as in version: "1.0.0"',
      path: "agent.interface.version",
      line: 4,
      column: 14,
    },
  ],
  warnings: [],
  riskProfile: null,
  references: [],
  version: { given: null, exists: false, nextAvailable: null },
  diff: null,
  breaks: [],
  runtimeMd: null,
};

export const ValidationReport = Type.Object(REPORT_FIELDS, {
  title: "ValidationReport",
  examples: [EXAMPLE_REPORT],
});
/** The validation report of one document. */
export type Report = Static<typeof ValidationReport>;

const BatchReport = Type.Object(
  { index: Natural, type: Nullable(TypeName), name: NullableText, ...REPORT_FIELDS },
  { title: "BatchReport", examples: [{ index: 0, type: null, name: null, ...EXAMPLE_REPORT }] },
);

const BatchDefinition = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: "Place of the document in the request, from 0" }),
    id: Text,
    type: TypeName,
    name: Text,
    version: Text,
    status: oneOf(DEFINITION_STATUSES),
    visibility: oneOf(DEFINITION_VISIBILITIES),
    hash: Text,
    warnings: listOf(Warning),
  },
  {
    title: "BatchDefinition",
    examples: [
      {
        index: 0,
        id: "0197f9a2-6c1e-7c55-9d59-1f2b6f0c1a11",
        type: "agent",
        name: "code-reviewer",
        version: "1.0.0",
        status: "published",
        visibility: "public",
        hash: `sha256:${"0".repeat(64)}`,
        warnings: [],
      },
    ],
  },
);

export const BatchReports = data(
  { valid: Type.Boolean(), definitions: listOf(BatchReport) },
  "With `validate`: what would happen. Nothing was stored",
);

export const BatchDefinitions = data(
  { definitions: listOf(BatchDefinition) },
  "The definitions, in the order of the request",
);
