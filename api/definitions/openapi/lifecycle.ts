/** OpenAPI of the status changes of a definition. */
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { DOCUMENT_FAILURES, LINE_WRITE_FAILURES } from "./edit.ts";
import {
  DEFINITION,
  DEFINITIONS_TAG,
  dataAndWarnings,
  EXAMPLE_DEFINITION,
  TYPE_PARAMETER,
  VERSION_NEEDED,
} from "./operations.ts";

const PARAMETERS = [TYPE_PARAMETER, VERSION_NEEDED, ORG_SLUG];

export const PUBLISH_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "publishDefinition",
  summary: "Publish a draft",
  description:
    "Publishes the version. It can no longer change, and each reference is bound to the definition it resolves to now. " +
    "Non-fatal problems are returned in `warnings`; `REFERENCE_NOT_PUBLIC` means that a public version references a " +
    "definition that other organizations cannot see.",
  parameters: PARAMETERS,
  responses: {
    200: dataAndWarnings("Published", DEFINITION, EXAMPLE_DEFINITION),
  },
  ...failsWith(
    ...LINE_WRITE_FAILURES,
    ...DOCUMENT_FAILURES,
    "INVALID_TRANSITION",
    "EDIT_CONFLICT",
    "DEPENDENCY_CYCLE",
  ),
});

export const DEPRECATE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "deprecateDefinition",
  summary: "Deprecate a published version",
  description:
    "Marks the version as deprecated, with a reason and an optional successor. It can be archived afterwards.",
  parameters: PARAMETERS,
  responses: { 200: dataResponse("Deprecated", DEFINITION, EXAMPLE_DEFINITION) },
  ...failsWith(...LINE_WRITE_FAILURES, "INVALID_TRANSITION"),
});

export const ARCHIVE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "archiveDefinition",
  summary: "Archive a deprecated version",
  description: "Removes the version from lists and searches. It still resolves as `name@version`.",
  parameters: PARAMETERS,
  responses: { 200: dataResponse("Archived", DEFINITION, EXAMPLE_DEFINITION) },
  ...failsWith(...LINE_WRITE_FAILURES, "INVALID_TRANSITION"),
});
