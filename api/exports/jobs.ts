/** Lists, gets and cancels organization exports. queue_job.ts queues them. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../shared/errors.ts";
import { mayManageExportJobs } from "../../shared/policy.ts";
import { Count, listOf } from "../../shared/schemas.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { lockMemberRole } from "../../sql/accounts/organization_members.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import { insertExportEvent } from "../../sql/events/events.ts";
import {
  type ExportJobRow,
  listExportJobs as listRows,
  lockExportJobStatus,
  markExportJobCanceled,
} from "../../sql/exports/jobs.ts";
import { cancelJob } from "../../sql/job_queue.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { type OperationDeps, operation, reply } from "../http/operation.ts";
import { flag, limit, OFFSET, parseQuery, queryOf, rejectQuery } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { resolveOrg } from "../http/resolve_org.ts";
import {
  ExportJob,
  JobParams,
  presentExportJob,
  QUEUED_JOB,
  READY_JOB,
  requireExportJob,
} from "./export_job.ts";

const LIST_QUERY = {
  limit: limit({ max: 100, unset: 20 }, "Jobs per page"),
  offset: OFFSET,
};

export const listExportJobs = operation(
  {
    id: "listExportJobs",
    method: "GET",
    path: "/api/v1/export/jobs",
    access: "caller",
    tag: "Export",
    summary: "List export jobs",
    description:
      "Lists the organization's jobs, newest first, including those of other members. Requires the publisher role.",
    usesOrg: true,
    uncheckedQuery: LIST_QUERY,
    response: {
      200: Type.Object(
        { jobs: listOf(ExportJob), total: Count, limit: Count, offset: Count },
        {
          description: "A page of jobs",
          examples: [{ jobs: [READY_JOB], total: 1, limit: 20, offset: 0 }],
        },
      ),
    },
    fails: ["ORG_ACCESS_DENIED", "INSUFFICIENT_ORG_ROLE", "KEY_KIND_FORBIDDEN"],
  },
  async ({ request, caller }, { sql }) => {
    const { orgId, role } = await resolveOrg(sql, caller, request);
    requireAllowed(mayManageExportJobs({ credential: caller.credential, role }));
    const page = parseQuery(LIST_QUERY, queryOf(request));
    const { rows, total } = await listRows(sql, { orgId, ...page });
    return reply(200, { jobs: rows.map(presentExportJob), total, ...page });
  },
);

export const getExportJob = operation(
  {
    id: "getExportJob",
    method: "GET",
    path: "/api/v1/export/jobs/{job_id}",
    access: "caller",
    tag: "Export",
    summary: "Get an export job",
    description: "Requires the publisher role in the job's organization. X-Org-Slug is ignored.",
    params: JobParams,
    uncheckedQuery: {},
    response: { 200: Type.Object({ job: ExportJob }, { description: "The job" }) },
    fails: ["EXPORT_JOB_NOT_FOUND", "INSUFFICIENT_ORG_ROLE", "KEY_KIND_FORBIDDEN"],
  },
  async ({ params, request, caller }, { sql }) => {
    const access = { caller, request, jobId: params.job_id, policy: mayManageExportJobs };
    const job = await requireExportJob(sql, access);
    rejectQuery(request);
    return reply(200, { job: presentExportJob(job) });
  },
);

const CANCEL_QUERY = {
  force: flag(false, "Also cancel a running job; its build stops within seconds", "must be true or false"),
};

const CANCELED_JOB = {
  ...QUEUED_JOB,
  status: "failed",
  finishedAt: "2026-11-20T10:00:02.000Z",
  errorCode: "CANCELED",
  errorMessage: "Canceled before its build began",
};

export const cancelExportJob = operation(
  {
    id: "cancelExportJob",
    method: "POST",
    path: "/api/v1/export/jobs/{job_id}/cancel",
    access: "caller",
    tag: "Export",
    summary: "Cancel an export job",
    description:
      "Cancels a queued job, with `force=true` also a running one. A job that is canceled before its first build does " +
      "not count towards `EXPORT_JOBS_PER_HOUR`.",
    params: JobParams,
    uncheckedQuery: CANCEL_QUERY,
    response: {
      200: Type.Object(
        { job: ExportJob },
        {
          description: "The canceled job: `failed` with errorCode `CANCELED`",
          examples: [{ job: CANCELED_JOB }],
        },
      ),
    },
    fails: [
      "EXPORT_JOB_NOT_FOUND",
      "INSUFFICIENT_ORG_ROLE",
      "KEY_KIND_FORBIDDEN",
      "EXPORT_JOB_RUNNING",
      "EXPORT_JOB_FINISHED",
    ],
  },
  async ({ params, request, caller }, deps) => {
    const access = { caller, request, jobId: params.job_id, policy: mayManageExportJobs };
    const { id, orgId } = await requireExportJob(deps.sql, access);
    const { force } = parseQuery(CANCEL_QUERY, queryOf(request));
    const canceled = await cancel(deps, { id, orgId, force, caller, request });
    return reply(200, { job: presentExportJob(canceled) });
  },
);

/** Cancels a job and removes it from the queue. Throws ApiError if the job's status does not allow it. */
async function cancel(
  deps: OperationDeps,
  cancellation: { id: string; orgId: string; force: boolean; caller: Caller; request: Request },
): Promise<ExportJobRow> {
  const { id, orgId, force, caller, request } = cancellation;
  return deps.writeInTurn(request, async (tx) => {
    // Locks the organization first, as its deletion does, because the event refers to the organization.
    await lockOrg(tx, orgId);
    // Locks the job, because a stopping builder may be returning it to the queue.
    const status = await lockExportJobStatus(tx, id);
    const role = await lockMemberRole(tx, { orgId, userId: caller.userId });
    // A former member gets the same error as any other non-member.
    if (status === null || role === null) throw new ApiError("EXPORT_JOB_NOT_FOUND");
    requireAllowed(mayManageExportJobs({ credential: caller.credential, role }));
    if (status === "running" && !force) throw new ApiError("EXPORT_JOB_RUNNING", { details: { status } });
    const job = await markExportJobCanceled(tx, id);
    if (!job) throw new ApiError("EXPORT_JOB_FINISHED", { details: { status } });
    await cancelJob(tx, deps.boss, { id, name: "build_org_export" });
    await insertExportEvent(tx, job);
    await insertAuditEntry(tx, {
      ...auditActor(request, caller),
      action: "export_job.cancel",
      subject: { type: "export_job", id },
      orgId,
      details: { force },
    });
    return job;
  });
}
