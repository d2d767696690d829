/** Query parameters and OpenAPI of validating documents, and of storing several at once. */
import { COUNT, FLAG, listOf, named, nullable, oneOf, record, TEXT } from "../../../shared/json_schema.ts";
import {
  CHANGE_TYPES,
  DEFINITION_STATUSES,
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
} from "../../../shared/vocabulary.ts";
import { onlyReads } from "../../http/access.ts";
import { readsYaml } from "../../http/body/yaml_body.ts";
import { choice, optionalFlag, text } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { ClassifiedChange } from "../diff.ts";
import { DOCUMENT_FAILURES, WRITE_FAILURES } from "../schemas.ts";
import { DEFINITIONS_TAG, LINE, WARNING } from "./operations.ts";

const VISIBILITY = choice(DEFINITION_VISIBILITIES, "Visibility of the definitions. Default: `private`");
const PUBLISH = optionalFlag("Publish the definitions");

const VALIDATE_YAML_QUERY = {
  type: choice(DEFINITION_TYPES, "Definition type; required"),
  name: text(200, "`name` or `@org/name`. Default: the name in the YAML"),
  publish: optionalFlag("Also report what publishing would say"),
  visibility: VISIBILITY,
};

const BATCH_YAML_QUERY = {
  publish: PUBLISH,
  validate: optionalFlag("Store nothing; return what would happen"),
  visibility: VISIBILITY,
};

const TYPE = oneOf(DEFINITION_TYPES);

const DOCUMENT_ERROR = named(
  "DocumentError",
  record(
    {
      code: { ...TEXT, description: "The error code with which the document would be rejected" },
      message: TEXT,
      path: { ...TEXT, description: "Path in the YAML; `yaml` is the whole document" },
      line: LINE,
      column: LINE,
      details: { type: "object" },
    },
    ["path", "line", "column", "details"],
  ),
);

const VERSION = record({
  given: nullable({ ...TEXT, description: "Null if the document could not be read" }),
  exists: FLAG,
  nextAvailable: nullable({
    ...TEXT,
    description: "The given version if it is free, else the next free PATCH",
  }),
});

const DIFF = nullable(
  named(
    "ValidationDiff",
    record({
      against: {
        ...TEXT,
        description:
          "The highest published version up to the given one, else the highest published one, else the highest draft",
      },
      suggestedBump: oneOf(CHANGE_TYPES),
      classified: listOf(ClassifiedChange),
    }),
  ),
);

const REPORT_FIELDS = {
  valid: { ...FLAG, description: "True if there are no errors" },
  errors: listOf(DOCUMENT_ERROR),
  warnings: listOf(WARNING),
  riskProfile: { type: ["object", "null"], description: "As publishing would store it" },
  references: listOf(
    named(
      "ValidatedReference",
      record({
        type: TYPE,
        name: { ...TEXT, description: "As written in the YAML" },
        range: TEXT,
        resolvedVersion: nullable(TEXT),
        organization: nullable({ ...TEXT, description: "Slug of the organization that has the definition" }),
      }),
    ),
  ),
  version: named("ValidatedVersion", VERSION),
  diff: { ...DIFF, description: "Changes since an earlier version; null for a new name" },
  breaks: {
    ...listOf(
      named(
        "BrokenDependent",
        record({ organization: TEXT, type: TYPE, name: TEXT, version: TEXT, range: TEXT }),
      ),
    ),
    description:
      "Published dependents whose range accepts the published version before this one, but not this one. At most 200",
  },
  runtimeMd: nullable({ ...TEXT, description: "The rendered Markdown" }),
};

const EXAMPLE_REPORT = {
  valid: false,
  errors: [
    {
      code: "UNPROCESSABLE_ENTITY",
      message: 'version is a number: quote it and write three parts, as in version: "1.0.0"',
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

export const VALIDATE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "validateDefinition",
  summary: "Validate a document",
  description:
    "Tries to create the definition and, with `publish`, to publish it. Nothing is stored, and scope `read` is enough. " +
    "Every problem of the document is in `errors` and `warnings`, with its line where it is known. The status is 200 " +
    "for an invalid document, too.",
  parameters: [ORG_SLUG],
  responses: {
    200: dataResponse("The report", named("ValidationReport", record(REPORT_FIELDS)), EXAMPLE_REPORT),
  },
  ...failsWith("ORG_ACCESS_DENIED"),
  ...readsYaml(VALIDATE_YAML_QUERY),
  ...onlyReads(),
});

const STORED = named(
  "BatchDefinition",
  record({
    index: { ...COUNT, description: "Place of the document in the request, from 0" },
    id: TEXT,
    type: TYPE,
    name: TEXT,
    version: TEXT,
    status: oneOf(DEFINITION_STATUSES),
    visibility: oneOf(DEFINITION_VISIBILITIES),
    hash: TEXT,
    warnings: listOf(WARNING),
  }),
);

const BATCH_REPORT = named(
  "BatchReport",
  record({ index: COUNT, type: nullable(TYPE), name: nullable(TEXT), ...REPORT_FIELDS }),
);

export const BATCH_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "createDefinitions",
  summary: "Create or publish several definitions",
  description:
    "Stores up to 200 documents in one transaction: all of them, or none. The type and name of each come from its YAML. " +
    "Documents can reference each other in any order, but not in a circle. A YAML body is a stream, separated by lines " +
    "of `---`. If any document is rejected, the response has the code of the first problem and all of them in " +
    "`details.errors`, each with the `index` of its document; in a YAML body, `line` counts from the start of the body.",
  parameters: [ORG_SLUG],
  responses: {
    200: dataResponse(
      "With `validate`: what would happen. Nothing was stored",
      record({ valid: FLAG, definitions: listOf(BATCH_REPORT) }),
      { valid: false, definitions: [{ index: 0, type: null, name: null, ...EXAMPLE_REPORT }] },
    ),
    201: dataResponse(
      "The definitions, in the order of the request",
      record({ definitions: listOf(STORED) }),
      {
        definitions: [
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
    ),
  },
  ...failsWith(
    ...WRITE_FAILURES,
    ...DOCUMENT_FAILURES.filter((code) => code !== "NAME_MISMATCH"),
    "VERSION_EXISTS",
    "QUOTA_EXCEEDED",
    "DEPENDENCY_CYCLE",
  ),
  ...readsYaml(BATCH_YAML_QUERY),
});
