/** Outcomes of a build of an organization export: the job is ready, failed, or queued for another attempt. */
import { ArtifactStorageError, type ContentDigest } from "../shared/artifacts/store.ts";
import { orgExportFileName } from "../shared/exports/file_names.ts";
import type { Log } from "../shared/process/log.ts";
import { withTimeout } from "../shared/process/with_timeout.ts";
import type { BuildFault, ExportJobErrorCode } from "../shared/vocabulary.ts";
import { insertAuditEntry } from "../sql/accounts/audit_log.ts";
import type { OrgRow } from "../sql/accounts/orgs.ts";
import { isDatabaseFault, retryOnDatabaseFault } from "../sql/connection/database_fault.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { insertExportEvent } from "../sql/events/events.ts";
import {
  lockOrgOfExportJob,
  MAX_ATTEMPTS,
  markExportJobExhausted,
  markExportJobFailed,
  markExportJobQueued,
  markExportJobReady,
  markExportJobWaiting,
} from "../sql/exports/build_attempts.ts";
import type { ExportJobProgress, ExportJobRow } from "../sql/exports/jobs.ts";
import { completeJob, enqueueJob, postponeJob, type QueueClaim } from "../sql/job_queue.ts";
import type { RunnerDeps } from "./runner_deps.ts";
import { ForeignStoreError } from "./store_owner.ts";

/** An unresponsive storage must not delay the next attempt. */
const DISCARD_TIMEOUT_MS = 1000;

const MESSAGES: Readonly<Record<Exclude<ExportJobErrorCode, "CANCELED">, string>> = {
  BUILD_TIMEOUT:
    "The build took too long. Export again; if it happens again, ask the operator to raise EXPORT_BUILD_TIMEOUT_MINUTES",
  BUILD_FAILED: `The build failed ${MAX_ATTEMPTS} times. Export again`,
  ARTIFACT_STORAGE_FAILED: `The file could not be stored in ${MAX_ATTEMPTS} attempts. Ask the operator to check the artifact storage, then export again`,
  ORGANIZATION_GONE: "The organization was deleted",
};

/** One attempt to build the export of a job. */
export interface Build {
  job: ExportJobRow;
  artifactKey: string;
  claim: QueueClaim;
  traceparent: string | undefined;
  log: Log;
}

/** Marks the job as ready and queues its mail. Returns false if this attempt is no longer the job's running attempt. */
export async function makeReady(
  deps: RunnerDeps,
  { job, artifactKey, traceparent }: Build,
  written: { org: OrgRow; artifact: ContentDigest; progress: ExportJobProgress },
): Promise<boolean> {
  const ready = await endJob(deps, job.id, async (tx) => {
    const row = await markExportJobReady(tx, {
      id: job.id,
      attempt: job.attempt,
      progress: written.progress,
      artifact: {
        key: artifactKey,
        fileName: orgExportFileName({ slug: written.org.slug, asOf: job.asOf }),
        ...written.artifact,
      },
      retentionHours: deps.config.exportRetentionHours,
    });
    if (!row) return null;
    await enqueueJob(tx, deps.boss, {
      id: job.id,
      name: "send_export_ready",
      payload: { exportJobId: job.id, traceparent },
    });
    return row;
  });
  if (ready) deps.metrics.builds.inc({ result: "ready" });
  return ready !== null;
}

/**
 * Runs `end`, which finishes the job. The same transaction completes the queue entry and writes the event and the audit
 * entry. Returns null if `end` returns null, because then no job was finished.
 */
async function endJob(
  deps: RunnerDeps,
  id: string,
  end: (tx: Sql) => Promise<ExportJobRow | null>,
): Promise<ExportJobRow | null> {
  return deps.sql.begin(async (tx) => {
    await lockOrgOfExportJob(tx, id);
    const job = await end(tx);
    if (!job) return null;
    await completeJob(tx, deps.boss, { id, name: "build_org_export" });
    await insertExportEvent(tx, job);
    await insertAuditEntry(tx, {
      actorType: "service",
      action: job.status === "ready" ? "export_job.ready" : "export_job.fail",
      subject: { type: "export_job", id },
      orgId: job.orgId,
      details: job.errorCode === null ? { rows: job.rowsWritten } : { errorCode: job.errorCode },
    });
    return job;
  });
}

/**
 * Queues a failed build again and rethrows the error, or fails the job if no attempt is left. An attempt does not count if
 * this process was shutting down or if another database owns the store. A fault of the storage or the database does not count
 * either, for up to EXPORT_BUILD_PATIENCE_MINUTES.
 */
export async function handOn(deps: RunnerDeps, build: Build, error: unknown): Promise<void> {
  const isForgiven = deps.shutdownSignal.aborted || error instanceof ForeignStoreError;
  const event = isForgiven ? "export_job.cut_off" : "export_job.attempt_failed";
  build.log.warn({ event, err: error }, "a build attempt of an organization export failed");
  const fault = faultOf(error);
  const isQueued = await retryOnDatabaseFault(
    () => queueAgain(deps, build, { fault, isForgiven }),
    deps.shutdownSignal,
  );
  if (isQueued) {
    deps.metrics.buildRetries.inc();
    await discard(deps, build);
  } else if (!isForgiven && build.job.attempt >= MAX_ATTEMPTS) {
    // Forgiven attempts are excluded: a query whose response was lost may have queued the attempt, and its queue entry must stay.
    return fail(deps, build, fault === "storage" ? "ARTIFACT_STORAGE_FAILED" : "BUILD_FAILED");
  }
  throw error;
}

function faultOf(error: unknown): BuildFault | null {
  if (error instanceof ArtifactStorageError) return "storage";
  return isDatabaseFault(error) ? "database" : null;
}

/** Returns false if this attempt counts and was the last one, or if it is no longer the running attempt. */
async function queueAgain(
  { config, sql, boss }: RunnerDeps,
  { job: { id, attempt }, claim, log }: Build,
  { fault, isForgiven }: { fault: BuildFault | null; isForgiven: boolean },
): Promise<boolean> {
  if (isForgiven) return markExportJobQueued(sql, { id, attempt, isForgiven });
  const patienceMinutes = config.exportBuildPatienceMinutes;
  const waiting = await sql.begin(async (tx) => {
    const row = await markExportJobWaiting(tx, { id, attempt, fault, patienceMinutes });
    if (row) await postponeJob(tx, boss, { claim, startAt: row.retryAt });
    return row;
  });
  if (waiting) log.warn({ event: "export_job.waiting", ...waiting }, "a build waits for storage or database");
  return (
    waiting !== null || (attempt < MAX_ATTEMPTS && markExportJobQueued(sql, { id, attempt, isForgiven }))
  );
}

/** Fails the job, unless this attempt is no longer the job's running attempt. */
export async function fail(
  deps: RunnerDeps,
  build: Build,
  errorCode: Exclude<ExportJobErrorCode, "CANCELED">,
  errorMessage = MESSAGES[errorCode],
): Promise<void> {
  const { id, attempt } = build.job;
  const end = (tx: Sql) => markExportJobFailed(tx, { id, attempt, errorCode, errorMessage });
  const failed = await retryOnDatabaseFault(() => endJob(deps, id, end), deps.shutdownSignal);
  if (!failed) return;
  deps.metrics.builds.inc({ result: errorCode });
  await discard(deps, build);
  build.log.error({ event: "export_job.failed", errorCode }, "an export job failed");
}

/** Fails a job that has used up its attempts. Does nothing if the job has finished. */
export async function failExhausted(deps: RunnerDeps, id: string): Promise<void> {
  const errorMessage = MESSAGES.BUILD_FAILED;
  const end = (tx: Sql) => markExportJobExhausted(tx, { id, errorMessage });
  const failed = await endJob(deps, id, end);
  if (failed) deps.metrics.builds.inc({ result: "BUILD_FAILED" });
}

/**
 * Deletes the files of the job's other builds, complete or partial. These builds can only stop, because the row's running
 * attempt is this one. `signal` is aborted when this attempt is no longer running. A full storage needs the space. The sweep
 * may have kept the files, because their attempt was still running in the row.
 */
export async function discardOthers(
  { store }: Pick<RunnerDeps, "store">,
  { job, artifactKey, log }: Pick<Build, "job" | "artifactKey" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const left = await Array.fromAsync(store.list(`${job.id}.`));
  for (const { name } of left.filter((file) => !file.name.startsWith(artifactKey))) {
    // The file may belong to a build that has taken over the job.
    signal.throwIfAborted();
    await store.remove(name).catch((error: unknown) => {
      log.warn({ event: "artifact.delete_failed", name, err: error }, "cannot delete a part of a dead build");
    });
  }
}

/**
 * Deletes the build's file if it exists. Call this only if the row no longer belongs to this attempt. If the connection is
 * lost while the job is being marked as ready, the job may be ready and need the file. The sweep deletes leftover files.
 */
export async function discard(
  deps: Pick<RunnerDeps, "store">,
  { artifactKey, log }: Pick<Build, "artifactKey" | "log">,
): Promise<void> {
  try {
    await withTimeout(deps.store.remove(artifactKey), DISCARD_TIMEOUT_MS);
  } catch (error) {
    log.warn({ event: "artifact.delete_failed", err: error }, "cannot delete the file of a failed build");
  }
}
