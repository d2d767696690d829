/** /export/jobs: queue, list, get and cancel organization exports. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { mayExportBundle, mayManageExportJobs } from "../../shared/policy.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { insertExportEvent } from "../../sql/events/events.ts";
import { type ExportJobRow, listExportJobs, markExportJobCanceled } from "../../sql/exports/jobs.ts";
import { cancelJob } from "../../sql/queue.ts";
import { access } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { resolveOrg } from "../http/organization.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { presentExportJob, requireExportJob } from "./export_job.ts";
import { describeDifferences, parseJobRequest } from "./job_body.ts";
import {
  CANCEL_JOB_DETAIL,
  CANCEL_QUERY,
  GET_JOB_DETAIL,
  JOBS_QUERY,
  LIST_JOBS_DETAIL,
  QUEUE_JOB_DETAIL,
} from "./job_openapi.ts";
import { type JobDeps, queueExportJob } from "./queue_job.ts";

const Params = t.Object({ job_id: t.String() });

/** Refuses in the order 401, 404, 403, 402, 400 (docs/contract.md, Errors), so handlers check the body. */
export function jobRoutes(deps: JobDeps) {
  return new Elysia({ prefix: "/export/jobs" })
    .use(access)
    .post(
      "/",
      async ({ body, request, caller, status }) => {
        const org = await resolveOrg(deps.sql, caller, request);
        const { orgId, role, tier } = org;
        requireAllowed(mayExportBundle({ credential: caller.credential, role, tier }), org);
        const job = parseJobRequest(body, queryOf(request));
        const queued = await queueExportJob(deps, {
          orgId,
          caller,
          actor: auditActor(request, caller),
          job,
          traceparent: requestContext(request).span?.traceparent,
        });
        const shown = { job: presentExportJob(queued.job) };
        if (queued.isNew) return status(201, shown);
        const message = describeDifferences(queued.job, job);
        return status(200, message === null ? shown : { ...shown, parametersDiffer: true, message });
      },
      { access: "caller", detail: QUEUE_JOB_DETAIL },
    )
    .get(
      "/",
      async ({ request, caller }) => {
        const { orgId, role } = await resolveOrg(deps.sql, caller, request);
        requireAllowed(mayManageExportJobs({ credential: caller.credential, role }));
        const page = parseQuery(JOBS_QUERY, queryOf(request));
        const { rows, total } = await listExportJobs(deps.sql, { orgId, ...page });
        return { jobs: rows.map(presentExportJob), total, ...page };
      },
      { access: "caller", detail: LIST_JOBS_DETAIL },
    )
    .get(
      "/:job_id",
      async ({ params, request, caller }) => {
        const job = await requireExportJob(deps.sql, {
          caller,
          request,
          jobId: params.job_id,
          policy: mayManageExportJobs,
        });
        return { job: presentExportJob(job) };
      },
      { access: "caller", params: Params, detail: GET_JOB_DETAIL },
    )
    .post(
      "/:job_id/cancel",
      async ({ params, request, caller }) => {
        const { id } = await requireExportJob(deps.sql, {
          caller,
          request,
          jobId: params.job_id,
          policy: mayManageExportJobs,
        });
        const { force } = parseQuery(CANCEL_QUERY, queryOf(request));
        const canceled = await cancelExportJob(deps, { id, force, caller, request });
        if (canceled) return { job: presentExportJob(canceled) };
        const { status } = await requireExportJob(deps.sql, {
          caller,
          request,
          jobId: id,
          policy: mayManageExportJobs,
        });
        throw new ApiError(status === "running" ? "EXPORT_JOB_RUNNING" : "EXPORT_JOB_FINISHED", {
          details: { status },
        });
      },
      { access: "caller", params: Params, detail: CANCEL_JOB_DETAIL },
    );
}

/** Cancels a job and takes it out of the queue; null if its status does not allow it. */
async function cancelExportJob(
  deps: JobDeps,
  given: { id: string; force: boolean; caller: Caller; request: Request },
): Promise<ExportJobRow | null> {
  return deps.sql.begin(async (tx) => {
    const job = await markExportJobCanceled(tx, given);
    if (!job) return null;
    await cancelJob(tx, deps.boss, { id: job.id, name: "build_org_export" });
    await insertExportEvent(tx, job);
    await insertAuditEntry(tx, {
      ...auditActor(given.request, given.caller),
      action: "export_job.cancel",
      subjectType: "export_job",
      subjectId: job.id,
      orgId: job.orgId,
      details: { force: given.force },
    });
    return job;
  });
}
