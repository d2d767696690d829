/** POST …/publish, …/deprecate and …/archive: the status changes of a version. */
import { type Static, Type } from "@sinclair/typebox";
import { isLetterFirstName } from "../../shared/definitions/name.ts";
import { isVersion } from "../../shared/definitions/versions.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { markDefinitionArchived, markDefinitionDeprecated } from "../../sql/definitions/changes.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import type { ShownDefinitionRow } from "../../sql/definitions/versions.ts";
import { insertDefinitionEvents } from "../../sql/events/events.ts";
import { operation, reply } from "../http/operation.ts";
import { rejectUnstorable } from "../http/storable_text.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { parseVersionAddress, splitAddress, type VersionAddress } from "./address.ts";
import { changeVersion, findLineWriter } from "./find_writable.ts";
import { auditOf, requireRow, type Writer } from "./new_draft.ts";
import { publishDraft } from "./publish.ts";
import { ExpectedUpdatedAt, requireMove } from "./require_state.ts";
import {
  Definition,
  DOCUMENT_FAILURES,
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  POST,
  VersionNeeded,
} from "./schemas.ts";

const BASE = { ...POST, params: VersionNeeded } as const;

const Publication = Type.Object(
  { expectedUpdatedAt: ExpectedUpdatedAt },
  { title: "Publication", additionalProperties: false, examples: [{}] },
);

export const publishDefinition = operation(
  {
    ...BASE,
    id: "publishDefinition",
    path: "/api/v1/definitions/{type}/{name}/publish",
    summary: "Publish a draft",
    description:
      "Publishes the version. It can no longer change, and each reference is bound to the definition it resolves to now. " +
      "Non-fatal problems are returned in `warnings`; `REFERENCE_NOT_PUBLIC` means that a public version references a " +
      "definition that other organizations cannot see.",
    body: Publication,
    response: { 200: dataAndWarnings(Definition, "Published") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...DOCUMENT_FAILURES,
      "INVALID_TRANSITION",
      "EDIT_CONFLICT",
      "DEPENDENCY_CYCLE",
    ],
  },
  async ({ params, body: { expectedUpdatedAt }, caller, request }, deps) => {
    const asked = parseVersionAddress(params);
    const { writer, address } = await findLineWriter(deps.sql, { address: asked, caller, request });
    const publish = () => publishDraft(deps, { writer, address, expectedUpdatedAt });
    const { row, warnings } = await deps.turns.publications(request, publish);
    return reply(200, { data: row.shown, warnings });
  },
);

const Deprecation = Type.Object(
  {
    reason: Type.String({ minLength: 1, maxLength: 2000 }),
    successor: Type.Optional(
      Type.String({ description: "`name` or `@org/name` of the same type, with or without `@version`" }),
    ),
  },
  {
    title: "Deprecation",
    additionalProperties: false,
    examples: [{ reason: "Replaced by a more thorough agent", successor: "code-reviewer@1.2.0" }],
  },
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
    response: { 200: Type.Object({ data: Definition }, { description: "Deprecated" }) },
    fails: [...LINE_WRITE_FAILURES, "INVALID_TRANSITION"],
  },
  async ({ params, body, caller, request }, { sql }) => {
    const asked = parseVersionAddress(params);
    const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
    const row = await deprecateVersion(sql, { writer, address, body });
    return reply(200, { data: row.shown });
  },
);

/** Deprecates a published version. Throws INVALID_TRANSITION. */
export async function deprecateVersion(
  sql: Pool,
  options: { writer: Writer; address: VersionAddress; body: Static<typeof Deprecation> },
): Promise<ShownDefinitionRow> {
  const { writer, body } = options;
  const { reason, successor = null } = body;
  return changeVersion(sql, options, async (tx, row) => {
    rejectUnstorable({ reason, successor });
    if (reason.trim() === "") throw invalidInput([{ path: "reason", message: "must say why" }]);
    if (successor !== null) requireSuccessor(successor, row);
    requireMove(row, "deprecated");
    const moved = await markDefinitionDeprecated(tx, { id: row.id, reason, successor });
    if (!moved) throw new Error(`Cannot deprecate definition ${row.id}, which is locked and published`);
    await insertAuditEntry(tx, auditOf(writer, row, "definition.deprecate"));
    await insertDefinitionEvents(tx, { type: "definition.deprecated", definitionIds: [row.id] });
    return requireRow(tx, row.id, options.writer);
  });
}

/** Checks the form of a successor. It does not have to exist: it may be published later. */
function requireSuccessor(successor: string, row: DefinitionRow): void {
  const { orgSlug, name, version } = splitAddress(successor);
  const isAddress = isLetterFirstName(name) && (orgSlug === null || isAccountSlug(orgSlug));
  if (!isAddress || (version !== null && !isVersion(version))) {
    const message = "must be a name that starts with a letter, as name, name@1.0.0 or @org/name@1.0.0";
    throw invalidInput([{ path: "successor", message }]);
  }
  if ((orgSlug ?? row.orgSlug) === row.orgSlug && name === row.name && version === row.version) {
    throw invalidInput([{ path: "successor", message: "must be another version than the deprecated one" }]);
  }
}

export const archiveDefinition = operation(
  {
    ...BASE,
    id: "archiveDefinition",
    path: "/api/v1/definitions/{type}/{name}/archive",
    summary: "Archive a deprecated version",
    description: "Removes the version from lists and searches. It still resolves as `name@version`.",
    response: { 200: Type.Object({ data: Definition }, { description: "Archived" }) },
    fails: [...LINE_WRITE_FAILURES, "INVALID_TRANSITION"],
  },
  async ({ params, caller, request }, { sql }) => {
    const asked = parseVersionAddress(params);
    const { writer, address } = await findLineWriter(sql, { address: asked, caller, request });
    const row = await archiveVersion(sql, { writer, address });
    return reply(200, { data: row.shown });
  },
);

/** Archives a deprecated version. Throws INVALID_TRANSITION. */
export async function archiveVersion(
  sql: Pool,
  options: { writer: Writer; address: VersionAddress },
): Promise<ShownDefinitionRow> {
  return changeVersion(sql, options, async (tx, row) => {
    requireMove(row, "archived");
    const moved = await markDefinitionArchived(tx, row.id);
    if (!moved) throw new Error(`Cannot archive definition ${row.id}, which is locked and deprecated`);
    await insertAuditEntry(tx, auditOf(options.writer, row, "definition.archive"));
    await insertDefinitionEvents(tx, { type: "definition.archived", definitionIds: [row.id] });
    return requireRow(tx, row.id, options.writer);
  });
}
