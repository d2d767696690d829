/** GET and POST …/executions: how often a definition was executed, and that it was once more. */
import { Elysia, t } from "elysia";
import { mayRecordExecutions } from "../../shared/policy.ts";
import type { Config } from "../../shared/process/config.ts";
import { type AuditEntry, claimKeyOf } from "../../sql/accounts/audit_log.ts";
import { type Pool, type Sql, violates } from "../../sql/connection/pool.ts";
import {
  countExecutions,
  type ExecutionCounts,
  findExecutionCount,
  insertExecutions,
  type TimeBucket,
} from "../../sql/definitions/executions.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { resolveDefinition } from "../../sql/definitions/versions.ts";
import { access } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { Turns } from "../http/fair_queue.ts";
import { boundOrgOf } from "../http/organization.ts";
import { parseQuery, type QueryValues, queryOf } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { conditionalJson } from "../http/response/conditional_json.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { type DefinitionAddress, DefinitionParams, parseReadAddress } from "./address.ts";
import {
  definitionNotFound,
  findReadTarget,
  type ReadTarget,
  requireAnyVersion,
  requireFound,
} from "./find_readable.ts";
import { EXECUTIONS_DETAIL, EXECUTIONS_QUERY, RECORD_EXECUTION_DETAIL } from "./openapi/executions.ts";
import { rejectUnstorable } from "./storable_text.ts";

const BUCKET_MS: Readonly<Record<TimeBucket, number>> = { hour: 3_600_000, day: 86_400_000 };

const RecordBody = t.Object(
  {
    source: t.String({
      minLength: 1,
      maxLength: 50,
      description: "Origin of the execution, such as sdk, cli or api",
    }),
    runId: t.Optional(
      t.String({ minLength: 1, maxLength: 200, description: "Idempotency key: counted once per definition" }),
    ),
  },
  {
    title: "NewExecution",
    additionalProperties: false,
    examples: [{ source: "cli", runId: "run-2026-11-20-0042" }],
  },
);

export interface ExecutionDeps {
  sql: Pool;
  config: Pick<Config, "databasePoolMax">;
}

export function executionRoutes({ sql, config }: ExecutionDeps) {
  // Those of one line wait for each other, each with a connection: they get at most half of those.
  const max = Math.ceil(config.databasePoolMax / 2);
  const recordings = new Turns({ max, maxWaiting: 200, what: "recordings of executions" });
  return new Elysia({ prefix: "/definitions/:type/:name" })
    .use(access)
    .get(
      "/executions",
      async ({ params, request, visitor }) => {
        const address = parseReadAddress(params);
        const query = parseQuery(EXECUTIONS_QUERY, queryOf(request));
        const target = await findReadTarget(sql, { address, visitor, request });
        const row = await requireAnyVersion(sql, target);
        const counts = await countExecutions(sql, {
          lineId: row.lineId,
          minutes: query.window,
          viewer: target.scope.viewer,
          byTime: query.include.has("byTime") ? query.timeBucket : null,
          bySource: query.include.has("bySource"),
          byVersion: query.include.has("byVersion"),
        });
        return conditionalJson(request, { data: presentStatistics(row, counts, query) });
      },
      { publicAccess: true, params: DefinitionParams, detail: EXECUTIONS_DETAIL },
    )
    .post(
      "/executions",
      async ({ params, body, request, caller, status }) => {
        const address = parseReadAddress(params);
        requireAllowed(mayRecordExecutions(caller.platformRole));
        const { source, runId } = body;
        rejectUnstorable({ source, runId });
        if (source.trim() === "") throw invalidInput([{ path: "source", message: "must not be blank" }]);
        const seesAll = "id" in address && boundOrgOf(caller) === null;
        const target = await findReadTarget(sql, { address, visitor: caller, request, seesAll });
        const row = await requireRecordable(sql, target);
        // Members see a quarantined version, but it resolves for no run.
        if (row.quarantinedAt !== null) throw definitionNotFound(target.address, "version");
        const execution = { address: target.address, row, body, request, caller };
        const count = await recordings.run(request, () => recordExecution(sql, execution));
        const { id, type, name, version, lineId } = row;
        const data = {
          recorded: count !== null,
          duplicate: count === null,
          definition: { id, type, name, version },
          executionCount: count ?? (await findExecutionCount(sql, lineId)),
        };
        return status(count === null ? 200 : 201, { data });
      },
      { access: "caller", params: DefinitionParams, body: RecordBody, detail: RECORD_EXECUTION_DETAIL },
    );
}

/**
 * Finds the version that an execution is recorded for, private ones of any organization included. What the caller's own
 * reads resolve to comes first, so a private line never takes over a public name. Throws NOT_FOUND.
 */
async function requireRecordable(sql: Sql, { address, scope }: ReadTarget): Promise<DefinitionRow> {
  const visible = await resolveDefinition(sql, { ...address, ...scope });
  const seesAll = scope.viewer.boundOrgId === null;
  if (visible.definition || !seesAll) return requireFound(address, visible);
  const viewer = { ...scope.viewer, seesAll };
  return requireFound(address, await resolveDefinition(sql, { ...address, ...scope, viewer }));
}

type StatisticsQuery = QueryValues<typeof EXECUTIONS_QUERY>;

function presentStatistics(row: DefinitionRow, counts: ExecutionCounts, query: StatisticsQuery) {
  const { include, window } = query;
  return {
    // The line's counter is read a moment before its records are.
    totalCount: Math.max(row.executionCount, counts.total),
    recentCount: counts.total,
    windowMinutes: window,
    ...(include.has("byTime") ? { byTime: fillBuckets(counts, query) } : {}),
    ...(include.has("bySource") ? { bySource: counts.bySource } : {}),
    ...(include.has("byVersion") ? { byVersion: counts.byVersion } : {}),
  };
}

/** Every hour or day (UTC) that the window touches, those without records too. */
function fillBuckets({ until, byTime }: ExecutionCounts, { window, timeBucket }: StatisticsQuery) {
  const step = BUCKET_MS[timeBucket];
  const found = new Map(byTime.map(({ time, count }) => [time, count]));
  const end = Date.parse(until);
  const first = Math.floor((end - window * 60_000) / step);
  const last = Math.floor(end / step);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const time = new Date((first + index) * step).toISOString();
    return { time, count: found.get(time) ?? 0 };
  });
}

/** Violated when the draft, or its line, is deleted between the look-up and the record. */
const GONE_CONSTRAINTS = ["definition_executions_definition_id_fkey", "definition_executions_line_id_fkey"];

/** Records and audits an execution. Returns the line's count with it, or null if the line already has the run. */
async function recordExecution(
  sql: Pool,
  given: {
    address: DefinitionAddress;
    row: DefinitionRow;
    body: typeof RecordBody.static;
    request: Request;
    caller: Caller;
  },
): Promise<number | null> {
  const { address, row, body, request, caller } = given;
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
    subjectType: "definition",
    subjectId: definitionId,
    orgId,
    details: { type, name, version, source, runId },
  };
  const added = { lineId, executions: [execution], auditEntries: [auditEntry] };
  try {
    if (!auditEntry.idempotencyKey) return await insertExecutions(sql, added);
    return await sql.begin(async (tx) => {
      await claimKeyOf(tx, auditEntry);
      return insertExecutions(tx, added);
    });
  } catch (error) {
    const isDeleted = GONE_CONSTRAINTS.some((constraint) => violates(error, constraint));
    throw isDeleted ? definitionNotFound(address, "version") : error;
  }
}
