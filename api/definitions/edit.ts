/** POST, PUT and DELETE /definitions/{type}/{name}: create, update and delete drafts. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { mayWriteDefinitions } from "../../shared/policy.ts";
import {
  CHANGE_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TIERS,
  DEFINITION_VISIBILITIES,
} from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { deleteDraft } from "../../sql/definitions/changes.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { deleteEmptyLine, lockLine } from "../../sql/definitions/lines.ts";
import { operation, reply } from "../http/operation.ts";
import { choice, text, texts } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { data, listOf } from "../http/schemas.ts";
import { parseLineAddress, parseVersionAddress } from "./address.ts";
import { createDraft } from "./create.ts";
import { CreateBody, UpdateBody } from "./edit_bodies.ts";
import { changeVersion, findLineWriter, findWriter } from "./find_writable.ts";
import { auditOf } from "./new_draft.ts";
import {
  Definition,
  DOCUMENT_FAILURES,
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  NewName,
  VersionNeeded,
  Warning,
  WRITE_FAILURES,
} from "./schemas.ts";
import { updateVersion } from "./update_draft.ts";
import { listSameNames } from "./warnings.ts";

const BASE = {
  access: "caller",
  tag: "Definitions",
  usesOrg: true,
} as const;

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

export const createDefinition = operation(
  {
    ...BASE,
    id: "createDefinition",
    method: "POST",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Create a draft",
    description:
      "Name, version and everything else that a definition says of itself come from the document. It is translated at " +
      "once, so that its author sees `runtimeMd`, or `translationError`. If the request names no organization, and you can " +
      "write a definition of this name in another one too, `warnings` says so; otherwise it is absent.",
    params: NewName,
    body: CreateBody,
    yamlQuery: { visibility: VISIBILITY },
    response: {
      201: Type.Object(
        { data: Definition, warnings: Type.Optional(listOf(Warning)) },
        { description: "The draft" },
      ),
    },
    fails: [...WRITE_FAILURES, ...DOCUMENT_FAILURES, "VERSION_EXISTS", "QUOTA_EXCEEDED"],
  },
  async ({ params, body, caller, request }, deps) => {
    const address = parseLineAddress(params);
    const writer = await findWriter(deps.sql, { caller, request, orgSlug: address.orgSlug });
    requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
    const row = await createDraft(deps, { writer, address, body });
    const warnings = [...(await listSameNames(deps.sql, writer, [address])).values()];
    return reply(201, { data: row.shown, ...(warnings.length > 0 && { warnings }) });
  },
);

export const updateDefinition = operation(
  {
    ...BASE,
    id: "updateDefinition",
    method: "PUT",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Update a draft",
    description:
      "Changes the fields in the body. Fields that are part of the YAML are written into it; all its other bytes stay. " +
      "`warnings` names aliases that had to be replaced by their text. Only drafts can be changed.",
    params: VersionNeeded,
    body: UpdateBody,
    yamlQuery: UPDATE_YAML_QUERY,
    response: { 200: dataAndWarnings(Definition, "The updated draft") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...DOCUMENT_FAILURES,
      "QUOTA_EXCEEDED",
      "EDIT_CONFLICT",
      "NOT_EDITABLE",
      "ROLE_REQUIRED",
      "VERSION_MISMATCH",
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const asked = parseVersionAddress(params);
    const { writer, address } = await findLineWriter(deps.sql, { address: asked, caller, request });
    const { row, warnings } = await updateVersion(deps, { writer, address, body });
    return reply(200, { data: row.shown, warnings });
  },
);

export const deleteDefinition = operation(
  {
    ...BASE,
    id: "deleteDefinition",
    method: "DELETE",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Delete a draft",
    description:
      "Deletes the draft. If it was the last version, the name becomes free again. Published versions cannot be deleted.",
    params: VersionNeeded,
    response: {
      200: data(
        {
          deleted: Type.Boolean({ examples: [true] }),
          type: Type.String({ examples: ["agent"] }),
          name: Type.String({ examples: ["reviewer"] }),
          version: Type.String({ examples: ["1.0.0"] }),
        },
        "Deleted",
      ),
    },
    fails: [...LINE_WRITE_FAILURES, "NOT_DELETABLE"],
  },
  async ({ params, caller, request }, { sql }) => {
    const asked = parseVersionAddress(params);
    const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
    await deleteVersion(sql, { writer, address });
    const { type, name, version } = address;
    return reply(200, { data: { deleted: true, type, name, version } });
  },
);

/** Deletes a draft, and with the last version of a line the line, so that its name is free again. */
async function deleteVersion(sql: Pool, options: Parameters<typeof changeVersion>[1]): Promise<void> {
  const remove = async (tx: Sql, row: DefinitionRow) => {
    // Every writer of a line locks it first: the triggers of its versions need it.
    await lockLine(tx, row.lineId);
    if (!(await deleteDraft(tx, row.id))) {
      throw new ApiError("NOT_DELETABLE", {
        message: TEXTS.NOT_DELETABLE.version(
          { type: row.type, address: `${row.name}@${row.version}` },
          row.status,
        ),
        details: { status: row.status },
      });
    }
    // The last version of a fork also locks the line of its source.
    await deleteEmptyLine(tx, row.lineId);
    await insertAuditEntry(tx, auditOf(options.writer, row, "definition.delete"));
  };
  await changeVersion(sql, options, remove);
}
