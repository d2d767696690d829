/** Query parameters and OpenAPI of version history and comparison. */
import { SIGNIFICANCES } from "../../../shared/definitions/significance.ts";
import { isVersion, MAX_VERSION_LENGTH } from "../../../shared/definitions/versions.ts";
import { COUNT, FLAG, listOf, named, nullable, oneOf, record, TEXT } from "../../../shared/json_schema.ts";
import { CHANGE_TYPES } from "../../../shared/vocabulary.ts";
import { VERSION_FIELDS } from "../../../sql/definitions/fields.ts";
import { DIFF_FORMATS } from "../../documents/compare_documents.ts";
import { describeQuery, flag, limit, offset, once, word } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse, jsonResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import {
  DEFINITIONS_TAG,
  exampleOf,
  NAME_OR_ID,
  NOT_MODIFIED,
  schemasOf,
  TYPE_PARAMETER,
} from "./operations.ts";

const NULLABLE_TEXT = nullable(TEXT);
const NAMES = listOf(TEXT);

const CHANGE_TYPE = oneOf(CHANGE_TYPES);

const HASH = `sha256:${"0".repeat(64)}`;
const OTHER_HASH = `sha256:${"1".repeat(64)}`;

export const VERSIONS_QUERY = {
  limit: limit({ max: 100, unset: 50 }, "Page size"),
  offset: offset("Number of versions to skip"),
};

export const VERSIONS_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "listVersions",
  summary: "List the versions of a definition",
  description: "Every version that the caller may see, archived ones too, the highest first.",
  parameters: [TYPE_PARAMETER, NAME_OR_ID, ORG_SLUG, ...describeQuery(VERSIONS_QUERY)],
  responses: {
    200: dataResponse(
      "One page of versions, highest first",
      record({
        versions: listOf(named("Version", record(schemasOf(VERSION_FIELDS)))),
        total: COUNT,
        limit: COUNT,
        offset: COUNT,
      }),
      { versions: [{ ...exampleOf(VERSION_FIELDS), version: "1.1.0" }], total: 1, limit: 50, offset: 0 },
    ),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});

const FIELD_CHANGE_TYPE = oneOf(["added", "removed", "modified", "unchanged"]);
const FIELD = record({ path: TEXT, type: FIELD_CHANGE_TYPE, oldValue: {}, newValue: {} }, [
  "oldValue",
  "newValue",
]);
const CLASSIFIED = record({
  path: TEXT,
  type: FIELD_CHANGE_TYPE,
  significance: oneOf(SIGNIFICANCES),
  reason: TEXT,
});

export const CLASSIFIED_CHANGE = named("ClassifiedChange", CLASSIFIED);

const PAID = {
  fields: {
    ...listOf(named("FieldChange", FIELD)),
    description: "With `format=fields`. Includes unchanged fields if `full=true`",
  },
  summary: {
    ...record({ added: COUNT, removed: COUNT, modified: COUNT, unchanged: COUNT }),
    description: "With `format=fields`",
  },
  classified: {
    ...listOf(CLASSIFIED_CHANGE),
    description: "With `format=fields`: the significance of each change",
  },
  suggestedBump: { ...CHANGE_TYPE, description: "With `format=fields`: the version part to increase" },
  sections: {
    ...record({ added: NAMES, removed: NAMES, modified: NAMES, unchanged: NAMES }),
    description: "With `format=fields`",
  },
  unified: {
    ...TEXT,
    description: "With `format=unified`: a patch for `git apply`; empty if the documents are equal",
  },
  fromYaml: { ...TEXT, description: "With `full=true`" },
  toYaml: { ...TEXT, description: "With `full=true`" },
};

const COMPARISON = record(
  {
    fromVersion: TEXT,
    toVersion: TEXT,
    fromHash: TEXT,
    toHash: TEXT,
    hasChanges: { ...FLAG, description: "True if any section differs" },
    fromPromptHash: {
      ...NULLABLE_TEXT,
      description:
        "`sha256:` and the hex digest of `runtimeMd` without the line `version: …` of its front matter; null if there is none",
    },
    toPromptHash: NULLABLE_TEXT,
    hasPromptChanges: { ...FLAG, description: "True if the two prompt hashes differ" },
    fromLineCount: COUNT,
    toLineCount: COUNT,
    sectionsAdded: NAMES,
    sectionsRemoved: NAMES,
    sectionsModified: NAMES,
    sectionsUnchanged: { ...NAMES, description: "Empty unless `full=true`" },
    ...PAID,
  },
  Object.keys(PAID),
);

function version(description: string, example: string) {
  return {
    required: true as const,
    description,
    example,
    schema: TEXT,
    read: once((text, addProblem): string => {
      if (text !== null && text.length > MAX_VERSION_LENGTH) {
        addProblem(`must have at most ${MAX_VERSION_LENGTH} characters`);
      } else if (text === null || !isVersion(text)) {
        addProblem("must be MAJOR.MINOR.PATCH, such as 1.0.0");
      }
      return text ?? "";
    }),
  };
}

export const DIFF_QUERY = {
  from: version("Source version", "1.0.0"),
  to: version("Target version", "1.1.0"),
  format: word(
    DIFF_FORMATS,
    "`sections` lists changed sections, `fields` changed fields, `unified` is a patch",
  ),
  full: flag(false, "Include both documents, and unchanged sections or fields"),
};

export const DIFF_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "diffVersions",
  summary: "Compare two versions of a definition",
  description:
    "Sections are the blocks of the document, two levels deep. They are compared by value: order of keys, comments and " +
    "the version itself do not count. `full=true`, `format=fields` and `format=unified` need a paid subscription of any " +
    "organization of the caller's.",
  parameters: [TYPE_PARAMETER, NAME_OR_ID, ORG_SLUG, ...describeQuery(DIFF_QUERY)],
  responses: {
    200: jsonResponse("The comparison, as a bare object without `data`", named("Diff", COMPARISON), {
      fromVersion: "1.0.0",
      toVersion: "1.1.0",
      fromHash: HASH,
      toHash: OTHER_HASH,
      hasChanges: true,
      fromPromptHash: OTHER_HASH,
      toPromptHash: HASH,
      hasPromptChanges: true,
      fromLineCount: 40,
      toLineCount: 44,
      sectionsAdded: ["agent.output"],
      sectionsRemoved: [],
      sectionsModified: ["agent.interface"],
      sectionsUnchanged: [],
    }),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED", "SUBSCRIPTION_REQUIRED"),
});
