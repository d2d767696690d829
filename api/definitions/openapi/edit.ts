/** OpenAPI of creating, updating and deleting drafts. */
import { FLAG, listOf, record, TEXT } from "../../../shared/json_schema.ts";
import {
  CHANGE_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TIERS,
  DEFINITION_VISIBILITIES,
} from "../../../shared/vocabulary.ts";
import { readsYaml } from "../../http/body/yaml_body.ts";
import { choice, text, texts } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse, jsonResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { DOCUMENT_FAILURES, LINE_WRITE_FAILURES, WRITE_FAILURES } from "../schemas.ts";
import {
  DEFINITION,
  DEFINITIONS_TAG,
  dataAndWarnings,
  EXAMPLE_DEFINITION,
  nameParameter,
  TYPE_PARAMETER,
  VERSION_NEEDED,
  WARNING,
} from "./operations.ts";

const MAX_TEXT_LENGTH = 4000;

const VISIBILITY = choice(DEFINITION_VISIBILITIES, "Visibility of the definition");

/** The fields of an update beside its YAML. */
const UPDATE_YAML_QUERY = {
  visibility: VISIBILITY,
  displayName: text(MAX_TEXT_LENGTH, "Display name"),
  description: text(MAX_TEXT_LENGTH, "Description"),
  domain: choice(DEFINITION_DOMAINS, "Domain"),
  subdomain: text(MAX_TEXT_LENGTH, "Subdomain"),
  agentType: choice(DEFINITION_AGENT_TYPES, "Agent type"),
  tags: texts({ maxItems: 50, maxLength: MAX_TEXT_LENGTH }, "Tags"),
  changeSummary: text(2000, "What has changed"),
  changeType: choice(CHANGE_TYPES, "Change type"),
  tier: choice(DEFINITION_TIERS, "Tier"),
  expectedUpdatedAt: text(
    40,
    "`updatedAt` as you read it. If the draft has changed since, nothing is written",
  ),
};

export const CREATE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "createDefinition",
  summary: "Create a draft",
  description:
    "Name, version and everything else that a definition says of itself come from the document. It is translated at " +
    "once, so that its author sees `runtimeMd`, or `translationError`. If the request names no organization, and you can " +
    "write a definition of this name in another one too, `warnings` says so; otherwise it is absent.",
  parameters: [TYPE_PARAMETER, nameParameter("`name`, the same as in the YAML", "reviewer"), ORG_SLUG],
  responses: {
    201: jsonResponse("The draft", record({ data: DEFINITION, warnings: listOf(WARNING) }, ["warnings"]), {
      data: EXAMPLE_DEFINITION,
    }),
  },
  ...failsWith(...WRITE_FAILURES, ...DOCUMENT_FAILURES, "VERSION_EXISTS", "QUOTA_EXCEEDED"),
  ...readsYaml({ visibility: VISIBILITY }),
});

export const UPDATE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "updateDefinition",
  summary: "Update a draft",
  description:
    "Changes the fields in the body. Fields that are part of the YAML are written into it; all its other bytes stay. " +
    "`warnings` names aliases that had to be replaced by their text. Only drafts can be changed.",
  parameters: [TYPE_PARAMETER, VERSION_NEEDED, ORG_SLUG],
  responses: { 200: dataAndWarnings("The updated draft", DEFINITION, EXAMPLE_DEFINITION) },
  ...failsWith(
    ...LINE_WRITE_FAILURES,
    ...DOCUMENT_FAILURES,
    "QUOTA_EXCEEDED",
    "EDIT_CONFLICT",
    "NOT_EDITABLE",
    "ROLE_REQUIRED",
    "VERSION_MISMATCH",
  ),
  ...readsYaml(UPDATE_YAML_QUERY),
});

export const DELETE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "deleteDefinition",
  summary: "Delete a draft",
  description:
    "Deletes the draft. If it was the last version, the name becomes free again. Published versions cannot be deleted.",
  parameters: [TYPE_PARAMETER, VERSION_NEEDED, ORG_SLUG],
  responses: {
    200: dataResponse("Deleted", record({ deleted: FLAG, type: TEXT, name: TEXT, version: TEXT }), {
      deleted: true,
      type: "agent",
      name: "reviewer",
      version: "1.0.0",
    }),
  },
  ...failsWith(...LINE_WRITE_FAILURES, "NOT_DELETABLE"),
});
