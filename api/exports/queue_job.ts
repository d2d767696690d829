/** POST /export/jobs: queues an organization export, or returns the active one. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../shared/errors.ts";
import { toVisibility } from "../../shared/exports/datasets.ts";
import { mayExportBundle } from "../../shared/policy.ts";
import { Instant } from "../../shared/schemas.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import {
  type ExportJobRow,
  findActiveExportJob,
  findExportJobWait,
  insertExportJob,
} from "../../sql/exports/jobs.ts";
import { listNodes } from "../../sql/exports/open_source.ts";
import { settleCutoff } from "../../sql/exports/settle_as_of.ts";
import { enqueueJob } from "../../sql/job_queue.ts";
import { requireActorRole } from "../accounts/require_own_org.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { type OperationDeps, operation, reply } from "../http/operation.ts";
import { type Query, type QueryParameter, queryOf, readValues } from "../http/query.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { resolveOrg } from "../http/resolve_org.ts";
import type { JsonObject } from "../http/route.ts";
import { findUnknownFields, invalidInput, type Problem } from "../http/validation_problems.ts";
import { ExportJob, presentExportJob, QUEUED_JOB } from "./export_job.ts";
import { BUNDLE_QUERY, EXAMPLE_AS_OF, type ExportParameters, repeatChecks } from "./export_request.ts";
import { requireTracker } from "./send_export.ts";

/** Extra time for the builder to report a timeout, which it enforces itself. */
const EXPIRE_MARGIN_SECONDS = 120;

/** The query parameters of a bundle as JSON fields, without `default`, which would make them required in generated types. */
const OPTIONS = Object.fromEntries(
  Object.entries<QueryParameter<unknown>>(BUNDLE_QUERY).map(([name, parameter]) => {
    const { default: unset, ...schema } = parameter.schema;
    const description = `${parameter.description}${unset === undefined ? "" : `. If unset: ${unset}`}`;
    return [name, { ...schema, description, ...("example" in parameter && { example: parameter.example }) }];
  }),
);

/** `parseOptions` rejects options of the wrong type, after the caller's permission to queue a job has been checked. */
const NewExportJob = Type.Unsafe<JsonObject>({
  title: "NewExportJob",
  type: "object",
  additionalProperties: false,
  examples: [{ format: "csv", include_deleted: true }],
  // Replaces the query's description: without `as_of`, the cutoff is about the time of queueing.
  properties: { ...OPTIONS, as_of: Instant({ example: EXAMPLE_AS_OF }) },
});

const ActiveJob = Type.Object(
  {
    job: ExportJob,
    parametersDiffer: Type.Optional(
      Type.Unsafe<true>({
        type: "boolean",
        enum: [true],
        description:
          "Set if the job differs from the request in format, since, flags or a given as_of. The request was not queued",
      }),
    ),
    message: Type.Optional(
      Type.String({ description: "With parametersDiffer: names the parameters, with both values" }),
    ),
  },
  {
    description: "The job that is already active",
    examples: [
      {
        job: QUEUED_JOB,
        parametersDiffer: true,
        message:
          "Export #12 is still active, with other parameters: format is ndjson, not csv. Yours was not queued. Wait until #12 has ended or cancel it, then queue yours",
      },
    ],
  },
);

/** Reports errors in the order 401, 404, 403, 402, 400 (docs/contract.md, Errors), so the handler validates the options. */
export const queueExportJob = operation(
  {
    id: "queueExportJob",
    method: "POST",
    path: "/api/v1/export/jobs",
    access: "caller",
    tag: "Export",
    summary: "Export an organization",
    description:
      "Queues a job that builds a ZIP of every project. An organization has at most one active job; while there is one, it is " +
      "returned with status 200. If its parameters are not those of the request, `parametersDiffer` is true.",
    usesOrg: true,
    uncheckedQuery: {},
    uncheckedBody: NewExportJob,
    response: {
      201: Type.Object({ job: ExportJob }, { description: "The new job", examples: [{ job: QUEUED_JOB }] }),
      200: ActiveJob,
    },
    fails: [
      "SUBSCRIPTION_REQUIRED",
      "ORG_ACCESS_DENIED",
      "INSUFFICIENT_ORG_ROLE",
      "KEY_KIND_FORBIDDEN",
      "EXPORT_JOB_LIMIT",
    ],
  },
  async ({ body, request, caller }, deps) => {
    const org = await resolveOrg(deps.sql, caller, request);
    const { orgId, role, tier } = org;
    requireAllowed(mayExportBundle({ credential: caller.credential, role, tier }), org);
    const options = parseOptions(body, queryOf(request));
    const queued = await queueOrFindActive(deps, { orgId, caller, request, options });
    const job = presentExportJob(queued.job);
    if (queued.isNew) return reply(201, { job });
    const message = describeDifferences(queued.job, options);
    return reply(200, message === null ? { job } : { job, parametersDiffer: true as const, message });
  },
);

/**
 * Parses the options. Throws VALIDATION_ERROR with every problem. Rejects query parameters, which would otherwise be ignored:
 * the other exports take their options in the query.
 */
function parseOptions(body: JsonObject, query: URLSearchParams): ExportParameters {
  const { values, problems } = readValues(BUNDLE_QUERY, (name) => textsOf(name, body[name]));
  const unknown = findUnknownFields(body, Object.keys(BUNDLE_QUERY));
  const refused = [...findMisplaced(query), ...unknown, ...problems];
  if (refused.length > 0) throw invalidInput(refused);
  const { format, as_of: asOf, since, ...flags } = values;
  return { format, asOf, since, visibility: toVisibility(flags) };
}

/** Returns an option as query text. A value of the wrong type becomes "", which no option accepts. */
function textsOf(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  const declared: Query = BUNDLE_QUERY;
  return [typeof value === declared[name]?.schema["type"] ? String(value) : ""];
}

function findMisplaced(query: URLSearchParams): Problem[] {
  const message = "is not a query parameter here. Send the options of an export job in the JSON body";
  return [...new Set(query.keys())].map((path) => ({ path, message }));
}

/**
 * Returns a message with the options in which an active job differs from the request; null if there are no differences. Ignores
 * the cutoff if the request has none.
 */
function describeDifferences(job: ExportJobRow, request: ExportParameters): string | null {
  const { visibility } = request;
  const options: readonly [name: string, active: unknown, requested: unknown][] = [
    ["format", job.format, request.format],
    ["since", job.since, request.since],
    ["as_of", job.asOf, request.asOf ?? job.asOf],
    ["include_deleted", job.includeDeleted, visibility.includeDeleted],
    ["include_archived", job.includeArchived, visibility.includeArchived],
    ["include_superseded", job.includeSuperseded, visibility.includeSuperseded],
    ["include_resolved", job.includeResolved, visibility.includeResolved],
  ];
  const differing = options
    .filter(([, active, requested]) => active !== requested)
    .map(([name, active, requested]) => `${name} is ${active ?? "unset"}, not ${requested ?? "unset"}`);
  if (differing.length === 0) return null;
  return `Export #${job.number} is still active, with other parameters: ${differing.join("; ")}. Yours was not queued. Wait until #${job.number} has ended or cancel it, then queue yours`;
}

interface NewJob {
  orgId: string;
  caller: Caller;
  request: Request;
  options: ExportParameters;
}

/**
 * Queues an export with the cutoff `asOf`, which defaults to about now. `isNew` is false if the organization already has an
 * active job. Throws EXPORT_JOB_LIMIT at the hourly limit, and the errors of `requireTracker` and `settleCutoff`.
 */
async function queueOrFindActive(
  deps: OperationDeps,
  newJob: NewJob,
): Promise<{ job: ExportJobRow; isNew: boolean }> {
  const { asOf: requested, since } = newJob.options;
  // Impossible times are rejected even if a job is active.
  const hasTimes = requested !== null || since !== null;
  const active = hasTimes ? null : await findActiveExportJob(deps.sql, newJob.orgId);
  if (active) return { job: active, isNew: false };
  await requireTracker(deps);
  // Settles the cutoff outside the transaction, because an open transaction holds back the watermark.
  const nodes = await listNodes(deps.sql, deps.nodes);
  const asOf = await settleCutoff(deps, { asOf: requested, since, nodes });
  return deps.writeInTurn(newJob.request, async (tx) => {
    await lockOrg(tx, newJob.orgId);
    const actor = auditActor(newJob.request, newJob.caller);
    // Settling the cutoff and waiting for the lock may have taken seconds.
    await repeatChecks(tx, newJob.caller, () =>
      requireActorRole(tx, { actor, org: { id: newJob.orgId }, role: "publisher" }),
    );
    const first = await findActiveExportJob(tx, newJob.orgId);
    if (first) return { job: first, isNew: false };
    const limit = deps.config.exportJobsPerHour;
    const retryAfter = await findExportJobWait(tx, { orgId: newJob.orgId, limit });
    if (retryAfter > 0) throw new ApiError("EXPORT_JOB_LIMIT", { details: { limit }, retryAfter });
    return { job: await insertQueued(tx, deps, { ...newJob, asOf, actor }), isNew: true };
  });
}

/** Inserts the job, its queue entry and an audit entry. */
async function insertQueued(
  tx: Sql,
  deps: OperationDeps,
  newJob: NewJob & { asOf: string; actor: AuditActor },
): Promise<ExportJobRow> {
  const { orgId, caller, asOf } = newJob;
  const { format, since, visibility } = newJob.options;
  const made = { orgId, requestedBy: caller.userId, format, asOf, since, ...visibility };
  const job = await insertExportJob(tx, made);
  await enqueueJob(tx, deps.boss, {
    id: job.id,
    name: "build_org_export",
    payload: { exportJobId: job.id, traceparent: requestContext(newJob.request).span?.traceparent },
    expireSeconds: deps.config.exportBuildTimeoutMinutes * 60 + EXPIRE_MARGIN_SECONDS,
  });
  await insertAuditEntry(tx, {
    ...newJob.actor,
    action: "export_job.queue",
    subject: { type: "export_job", id: job.id },
    orgId,
    details: { format, asOf, ...(since === null ? {} : { since }), ...visibility },
  });
  return job;
}
