/** POST …/executions: records an execution of a definition. */
import { type Static, Type } from "@sinclair/typebox";
import { mayRecordExecutions } from "../../shared/policy.ts";
import { dataOf, requestBody, Text, Uuid } from "../../shared/schemas.ts";
import { type AuditEntry, claimKeyOf } from "../../sql/accounts/audit_log.ts";
import { type Pool, type Sql, sendCommit, violates } from "../../sql/connection/pool.ts";
import { findLineCounts } from "../../sql/definitions/definition_lines.ts";
import { insertExecutions } from "../../sql/definitions/executions.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { resolveDefinition } from "../../sql/definitions/versions.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { operation, reply } from "../http/operation.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { boundOrgOf } from "../http/resolve_org.ts";
import { rejectUnstorable } from "../http/storable_text.ts";
import { invalidField } from "../http/validation_problems.ts";
import { type DefinitionAddress, parseReadAddress } from "./address.ts";
import {
  definitionNotFound,
  findReadTarget,
  type ReadTarget,
  requireDefinition,
  requireResolved,
} from "./find_visible.ts";
import { VersionOrId } from "./schemas.ts";

const NewExecution = requestBody(
  "NewExecution",
  {
    source: Type.String({
      minLength: 1,
      maxLength: 50,
      description: "Origin of the execution, such as sdk, cli or api",
    }),
    runId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Idempotency key: counted once per definition",
      }),
    ),
  },
  { source: "cli", runId: "run-2026-11-20-0042" },
);

const EXAMPLE = {
  recorded: true,
  duplicate: false,
  definition: {
    id: "0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a11",
    type: "agent",
    name: "reviewer",
    version: "1.4.0",
  },
  executionCount: 1241,
};
const RecordedExecution = Type.Object(
  {
    recorded: Type.Boolean(),
    duplicate: Type.Boolean(),
    definition: Type.Object({ id: Uuid(), type: Text, name: Text, version: Text }),
    executionCount: Type.Integer({
      minimum: 0,
      description: "Executions of all versions, including this one",
    }),
  },
  { title: "RecordedExecution", examples: [EXAMPLE] },
);

export const recordExecution = operation(
  {
    id: "recordExecution",
    method: "POST",
    path: "/api/v1/definitions/{type}/{name}/executions",
    access: "caller",
    tag: "Definitions",
    summary: "Record an execution",
    description:
      "Platform administrators only, for versions of all organizations, private ones too; `@org/name` names one. Each `runId` counts once " +
      "per definition, whatever the version.",
    // No `usesOrg`: X-Org-Slug requires membership, and platform administrators are seldom members of the organization.
    params: VersionOrId,
    body: NewExecution,
    response: {
      200: dataOf(RecordedExecution, "Already recorded", { ...EXAMPLE, recorded: false, duplicate: true }),
      201: dataOf(RecordedExecution, "Recorded"),
    },
    fails: ["ROLE_REQUIRED", "INSUFFICIENT_SCOPE", "NOT_FOUND", "ORG_ACCESS_DENIED"],
  },
  async ({ params, body, request, caller }, { sql, turns }) => {
    const address = parseReadAddress(params);
    requireAllowed(mayRecordExecutions(caller.platformRole));
    const { source, runId } = body;
    rejectUnstorable({ source, runId });
    if (source.trim() === "") throw invalidField("source", "must not be blank");
    const seesAll = "id" in address && boundOrgOf(caller) === null;
    const target = await findReadTarget(sql, address, { caller, request, seesAll });
    const row = await requireRecordable(sql, target);
    // Members can see a quarantined version, but no run can resolve it.
    if (row.quarantinedAt !== null) throw definitionNotFound(target, "version");
    const execution = { address: target, row, body, request, caller };
    const count = await turns.recordings(request, () => storeExecution(sql, execution));
    const { id, type, name, version, lineId } = row;
    const definition = { id, type, name, version };
    if (count !== null) {
      return reply(201, { data: { recorded: true, duplicate: false, definition, executionCount: count } });
    }
    const executionCount = (await findLineCounts(sql, lineId))?.executionCount ?? 0;
    return reply(200, { data: { recorded: false, duplicate: true, definition, executionCount } });
  },
);

/**
 * Finds the version to record an execution for, including private versions of any organization. Versions that the caller can
 * read come first, so that a private line never takes over a public name. Throws NOT_FOUND.
 */
async function requireRecordable(sql: Sql, target: ReadTarget): Promise<DefinitionRow> {
  const visible = await resolveDefinition(sql, target);
  const seesAll = target.viewer.boundOrgId === null;
  if (visible.definition || !seesAll) return requireResolved(target, visible);
  return requireDefinition(sql, { ...target, viewer: { ...target.viewer, seesAll } });
}

/** Foreign keys violated if the draft or its line is deleted between the lookup and the insert. */
const GONE_CONSTRAINTS = ["definition_executions_definition_id_fkey", "definition_executions_line_id_fkey"];

/** Records and audits an execution. Returns the line's new count, or null if the line already has this run id. */
async function storeExecution(
  sql: Pool,
  options: {
    address: DefinitionAddress;
    row: DefinitionRow;
    body: Static<typeof NewExecution>;
    request: Request;
    caller: Caller;
  },
): Promise<number | null> {
  const { address, row, body, request, caller } = options;
  const { id: definitionId, lineId, orgId, type, name, version } = row;
  const { source, runId = null } = body;
  const execution = {
    id: crypto.randomUUID(),
    definitionId,
    runId,
    source,
    recordedBy: caller.userId,
    recordedAt: null,
  };
  const auditEntry: AuditEntry = {
    ...auditActor(request, caller),
    action: "execution.record",
    subject: { type: "definition", id: definitionId },
    orgId,
    details: { type, name, version, source, runId },
  };
  const added = { lineId, executions: [execution], auditEntries: [auditEntry] };
  try {
    // Transactions have a longer lock timeout: the insert waits for the line's lock as long as any other write.
    return await sql.begin(async (tx) => {
      await claimKeyOf(tx, auditEntry);
      const count = insertExecutions(tx, added);
      sendCommit(tx);
      return await count;
    });
  } catch (error) {
    const isDeleted = GONE_CONSTRAINTS.some((constraint) => violates(error, constraint));
    throw isDeleted ? definitionNotFound(address, "version") : error;
  }
}
