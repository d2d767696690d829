/** Queues an organization export, or returns the one that is active. */

import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { lockOrg } from "../../sql/accounts/orgs.ts";
import type { Nodes } from "../../sql/connection/nodes.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import {
  type ExportJobRow,
  findActiveExportJob,
  findExportJobWait,
  insertExportJob,
} from "../../sql/exports/jobs.ts";
import { type Boss, enqueueJob } from "../../sql/queue.ts";
import { listTrackerNodes } from "../../sql/tracker/tracker_shards.ts";
import type { Caller } from "../http/caller.ts";
import type { JobRequest } from "./job_body.ts";
import { requireTracker } from "./missing_tracker.ts";
import { requireSince } from "./require_since.ts";
import { requireWatermark } from "./require_watermark.ts";

/** Time for the builder, which enforces the timeout itself, to report it. */
const EXPIRE_MARGIN_SECONDS = 120;

export interface JobDeps {
  config: Config;
  sql: Pool;
  boss: Boss;
  /** Where builds read if the tracker tables are distributed. */
  nodes: Nodes;
  log: Log;
}

interface NewJob {
  orgId: string;
  caller: Caller;
  actor: AuditActor;
  job: JobRequest;
  /** The request's `traceparent`, if it is traced. */
  traceparent?: string | undefined;
}

export interface QueuedExport {
  job: ExportJobRow;
  /** False if the organization already had an active job. */
  isNew: boolean;
}

/**
 * Queues an export as of now, or as of `asOf`. Throws EXPORT_JOB_LIMIT if the organization has used up its jobs of this
 * hour, and the errors of `requireTracker` and `requireWatermark`.
 */
export async function queueExportJob(deps: JobDeps, given: NewJob): Promise<QueuedExport> {
  const active = await findActiveExportJob(deps.sql, given.orgId);
  if (active) return { job: active, isNew: false };
  await requireTracker(deps);
  // Outside the transaction: an open transaction holds back the watermark.
  const nodes = (await listTrackerNodes(deps.sql)).map((address) => deps.nodes.at(address));
  const asOf = await requireWatermark(deps, given.job.asOf, { nodes });
  if (given.job.since !== null) await requireSince(deps, { since: given.job.since, asOf });
  return deps.sql.begin(async (tx) => {
    await lockOrg(tx, given.orgId);
    const first = await findActiveExportJob(tx, given.orgId);
    if (first) return { job: first, isNew: false };
    await requireBelowLimit(tx, given.orgId, deps.config.exportJobsPerHour);
    return { job: await insertQueued(tx, deps, { ...given, asOf }), isNew: true };
  });
}

async function requireBelowLimit(sql: Sql, orgId: string, limit: number): Promise<void> {
  const waitSeconds = await findExportJobWait(sql, { orgId, limit });
  if (waitSeconds === 0) return;
  throw new ApiError("EXPORT_JOB_LIMIT", {
    message: `The organization has queued ${limit} export jobs in the last hour, which is its limit. Retry in ${waitSeconds} seconds`,
    details: { limit },
    headers: { "Retry-After": String(waitSeconds) },
  });
}

/** Inserts job, queue entry and audit entry. */
async function insertQueued(tx: Sql, deps: JobDeps, given: NewJob & { asOf: string }): Promise<ExportJobRow> {
  const { orgId, caller, asOf } = given;
  const { format, since, visibility } = given.job;
  const made = { orgId, requestedBy: caller.userId, format, asOf, since, ...visibility };
  const job = await insertExportJob(tx, made);
  if (!job) throw new Error(`Cannot queue an export of "${orgId}": one is active although the lock is held`);
  await enqueueJob(tx, deps.boss, {
    id: job.id,
    name: "build_org_export",
    payload: { exportJobId: job.id, traceparent: given.traceparent },
    expireSeconds: deps.config.exportBuildTimeoutMinutes * 60 + EXPIRE_MARGIN_SECONDS,
  });
  await insertAuditEntry(tx, {
    ...given.actor,
    action: "export_job.queue",
    subjectType: "export_job",
    subjectId: job.id,
    orgId,
    details: { format, asOf, ...(since === null ? {} : { since }), ...visibility },
  });
  return job;
}
