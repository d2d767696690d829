/** POST …/deprecate, POST …/archive and DELETE: deprecates, archives or deletes a version. */
import { type Static, Type } from "@sinclair/typebox";
import { isLetterFirstName } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { data, dataOf, requestBody } from "../../shared/schemas.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { deleteEmptyLine, lockLine } from "../../sql/definitions/definition_lines.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import {
  deleteDraft,
  markDefinitionArchived,
  markDefinitionDeprecated,
} from "../../sql/definitions/version_changes.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { insertDefinitionEvents } from "../../sql/events/events.ts";
import { operation, reply } from "../http/operation.ts";
import { rejectUnstorable } from "../http/storable_text.ts";
import { invalidField } from "../http/validation_problems.ts";
import { splitAddress } from "./address.ts";
import { changeVersion, findVersionWriter, requireMove, type VersionWrite } from "./find_writable.ts";
import { auditOf, requireRow } from "./new_draft.ts";
import { Definition, LINE_WRITE_FAILURES, VersionNeeded, WRITE } from "./schemas.ts";

const BASE = { ...WRITE, params: VersionNeeded } as const;

const Deprecation = requestBody(
  "Deprecation",
  {
    reason: Type.String({ minLength: 1, maxLength: 2000 }),
    successor: Type.Optional(
      Type.String({ description: "`name` or `@org/name` of the same type, with or without `@version`" }),
    ),
  },
  { reason: "Replaced by a more thorough agent", successor: "code-reviewer@1.2.0" },
);

export const deprecateDefinition = operation(
  {
    ...BASE,
    id: "deprecateDefinition",
    path: "/api/v1/definitions/{type}/{name}/deprecate",
    summary: "Deprecate a published version",
    description:
      "Marks the version as deprecated, with a reason and an optional successor. It can be archived afterwards.",
    body: Deprecation,
    response: { 200: dataOf(Definition, "Deprecated") },
    fails: [...LINE_WRITE_FAILURES, "INVALID_TRANSITION"],
  },
  async ({ params, body, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    const row = await deprecateVersion(deps.sql, { ...write, body });
    return reply(200, { data: row.shown });
  },
);

/** Deprecates a published version. Throws INVALID_TRANSITION. */
export async function deprecateVersion(
  sql: Pool,
  options: VersionWrite & { body: Static<typeof Deprecation> },
): Promise<ShownDefinitionRow> {
  const { reason, successor = null } = options.body;
  return moveVersion(sql, options, ["deprecate", "deprecated"], async (tx, row) => {
    rejectUnstorable({ reason, successor });
    if (reason.trim() === "") throw invalidField("reason", "must say why");
    if (successor !== null) requireSuccessor(successor, row);
    requireMove(row, "deprecated");
    return markDefinitionDeprecated(tx, { id: row.id, reason, successor });
  });
}

/** Checks the syntax of a successor. The successor may be published later, so it need not exist yet. */
function requireSuccessor(successor: string, row: DefinitionRow): void {
  const { orgSlug, name, version } = splitAddress(successor);
  const isAddress = isLetterFirstName(name) && (orgSlug === null || isAccountSlug(orgSlug));
  if (!isAddress || (version !== null && !isVersion(version))) {
    const message = "must be a name that starts with a letter, as name, name@1.0.0 or @org/name@1.0.0";
    throw invalidField("successor", message);
  }
  if ((orgSlug ?? row.orgSlug) === row.orgSlug && name === row.name && version === row.version) {
    throw invalidField("successor", "must be another version than the deprecated one");
  }
}

export const archiveDefinition = operation(
  {
    ...BASE,
    id: "archiveDefinition",
    path: "/api/v1/definitions/{type}/{name}/archive",
    summary: "Archive a deprecated version",
    description: "Removes the version from lists and searches. It still resolves as `name@version`.",
    response: { 200: dataOf(Definition, "Archived") },
    fails: [...LINE_WRITE_FAILURES, "INVALID_TRANSITION"],
  },
  async ({ params, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    const row = await archiveVersion(deps.sql, write);
    return reply(200, { data: row.shown });
  },
);

/** Archives a deprecated version. Throws INVALID_TRANSITION. */
export async function archiveVersion(sql: Pool, write: VersionWrite): Promise<ShownDefinitionRow> {
  return moveVersion(sql, write, ["archive", "archived"], async (tx, row) => {
    requireMove(row, "archived");
    return markDefinitionArchived(tx, row.id);
  });
}

/** Changes the status of a version and adds an audit entry and an event. `mark` returns false if the old status has changed. */
async function moveVersion(
  sql: Pool,
  write: VersionWrite,
  [verb, status]: ["deprecate", "deprecated"] | ["archive", "archived"],
  mark: (tx: Sql, row: DefinitionRow) => Promise<boolean>,
): Promise<ShownDefinitionRow> {
  return changeVersion(sql, write, async (tx, row) => {
    if (!(await mark(tx, row))) throw new Error(`Cannot ${verb} definition ${row.id}, which is locked`);
    await insertAuditEntry(tx, auditOf(write.writer, row, `definition.${verb}`));
    await insertDefinitionEvents(tx, { type: `definition.${status}`, definitionIds: [row.id] });
    return requireRow(tx, row.id, write.writer);
  });
}

export const deleteDefinition = operation(
  {
    ...BASE,
    id: "deleteDefinition",
    method: "DELETE",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Delete a draft",
    description:
      "Deletes the draft. If it was the last version, the name becomes free again. Published versions cannot be deleted.",
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
  async ({ params, caller, request }, deps) => {
    const write = await findVersionWriter(deps, { params, caller, request });
    await changeVersion(deps.sql, write, async (tx, row) => {
      // The line must be locked before its versions change, because their triggers require the lock.
      await lockLine(tx, row.lineId);
      if (!(await deleteDraft(tx, row.id))) {
        const message = TEXTS.NOT_DELETABLE.version(row, row.status);
        throw new ApiError("NOT_DELETABLE", { message, details: { status: row.status } });
      }
      // Deleting the last version of a fork also locks the source's line.
      await deleteEmptyLine(tx, row.lineId);
      await insertAuditEntry(tx, auditOf(write.writer, row, "definition.delete"));
    });
    const { type, name, version } = write.address;
    return reply(200, { data: { deleted: true, type, name, version } });
  },
);
