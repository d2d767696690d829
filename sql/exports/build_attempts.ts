/**
 * Updates table `export_jobs` for builders. A builder's updates have no effect unless its attempt is the running one. When
 * the heartbeat of a runner stops, the queue gives the job to another runner (sql/job_queue.ts).
 */
import type { ContentDigest } from "../../shared/artifacts/store.ts";
import type { BuildFault, ExportJobErrorCode } from "../../shared/vocabulary.ts";
import { firstRow, type Sql } from "../connection/pool.ts";
import { EXPORT_JOB_COLUMNS, type ExportJobProgress, type ExportJobRow } from "./jobs.ts";

/** A job fails with `BUILD_FAILED` after this many failed attempts. */
export const MAX_ATTEMPTS = 3;
/** Pauses in seconds after the first fault of a job, the second, and so on. The last pause repeats. */
const PAUSE_SECONDS = [10, 30, 60, 120, 300];

/** Identifies one attempt to build a job. An attempt that was wrongly considered dead is no longer the running one. */
export interface ExportBuildKey {
  id: string;
  attempt: number;
}

export interface StoredArtifact extends ContentDigest {
  key: string;
  fileName: string;
}

/**
 * Starts the next attempt of a job, even if an earlier attempt is still marked as running; null if the job has finished, does not
 * exist, or has used up its attempts.
 */
export async function takeOverBuild(sql: Sql, id: string): Promise<ExportJobRow | null> {
  const nothing = { projectsDone: 0, projectsTotal: 0, rowsWritten: 0, bytesWritten: 0 };
  return firstRow(sql<ExportJobRow[]>`
    update export_jobs
    set status = 'running', attempt = attempt + 1, started_at = now(), waiting_for = null, retry_at = null,
      ${progressColumns(sql, nothing)}
    where id = ${id} and status in ('queued', 'running') and attempt < ${MAX_ATTEMPTS}
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}

/** Writes the progress of a build; false if this attempt is no longer running. */
export async function updateExportJobProgress(
  sql: Sql,
  build: ExportBuildKey & { progress: ExportJobProgress },
): Promise<boolean> {
  const { count } = await sql`
    update export_jobs
    set ${progressColumns(sql, build.progress)}
    where id = ${build.id} and status = 'running' and attempt = ${build.attempt}`;
  return count === 1;
}

/**
 * Locks the job's organization, which the job's event references, against deletion until the transaction ends. Call it before
 * changing the job: a deletion also locks the organization first, so the two cannot deadlock.
 */
export async function lockOrgOfExportJob(tx: Sql, id: string): Promise<void> {
  await tx`
    select
    from organizations
    where id = (select org_id from export_jobs where id = ${id})
    for key share`;
}

/** Fails a job that has used up its attempts, even if it is marked as running; null if it has finished or has attempts left. */
export async function markExportJobExhausted(
  sql: Sql,
  job: { id: string; errorMessage: string },
): Promise<ExportJobRow | null> {
  return firstRow(sql<ExportJobRow[]>`
    update export_jobs
    set status = 'failed', error_code = 'BUILD_FAILED', error_message = ${job.errorMessage}, finished_at = now()
    where id = ${job.id} and status in ('queued', 'running') and attempt >= ${MAX_ATTEMPTS}
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}

/** Requeues a build for another attempt; false if this attempt is no longer running. A forgiven attempt does not count. */
export async function markExportJobQueued(
  sql: Sql,
  build: ExportBuildKey & { isForgiven: boolean },
): Promise<boolean> {
  const { count } = await sql`
    update export_jobs
    set status = 'queued', attempt = attempt - ${build.isForgiven ? 1 : 0}
    where id = ${build.id} and status = 'running' and attempt = ${build.attempt}`;
  return count === 1;
}

export interface WaitingBuild {
  waitingFor: BuildFault;
  retryAt: string;
  /** Number of times the job has waited, including this time. */
  faults: number;
}

/**
 * Requeues a build that `fault` has stopped, without counting the attempt. Returns null if the attempt is no longer running, or if
 * the job's first fault was at least `patienceMinutes` ago. If `fault` is null, a restart of PostgreSQL since the start of the
 * attempt counts as a database fault, because its error can look like any other. Without such a restart, also returns null.
 */
export async function markExportJobWaiting(
  sql: Sql,
  build: ExportBuildKey & { fault: BuildFault | null; patienceMinutes: number },
): Promise<WaitingBuild | null> {
  const pauses = sql.array([...PAUSE_SECONDS]);
  return firstRow(sql<WaitingBuild[]>`
    update export_jobs
    set status = 'queued', attempt = attempt - 1, faults = faults + 1,
      waiting_for = coalesce(${build.fault}, 'database'),
      first_fault_at = coalesce(first_fault_at, now()),
      retry_at = now()
        + make_interval(secs => (${pauses}::int[])[least(faults + 1, ${PAUSE_SECONDS.length})])
    where id = ${build.id} and status = 'running' and attempt = ${build.attempt}
      and (${build.fault}::text is not null or pg_postmaster_start_time() > started_at)
      and coalesce(first_fault_at, now()) + make_interval(mins => ${build.patienceMinutes}) > now()
    returning waiting_for, retry_at, faults`);
}

/** Fails a job; null if this attempt is no longer running. */
export async function markExportJobFailed(
  sql: Sql,
  build: ExportBuildKey & { errorCode: ExportJobErrorCode; errorMessage: string },
): Promise<ExportJobRow | null> {
  return firstRow(sql<ExportJobRow[]>`
    update export_jobs
    set status = 'failed', error_code = ${build.errorCode}, error_message = ${build.errorMessage},
      finished_at = now()
    where id = ${build.id} and status = 'running' and attempt = ${build.attempt}
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}

/** Marks a job as ready for `retentionHours`; null if this attempt is no longer running. */
export async function markExportJobReady(
  sql: Sql,
  build: ExportBuildKey & { progress: ExportJobProgress; artifact: StoredArtifact; retentionHours: number },
): Promise<ExportJobRow | null> {
  const { artifact } = build;
  return firstRow(sql<ExportJobRow[]>`
    update export_jobs
    set status = 'ready', ready_at = now(), finished_at = now(),
      expires_at = now() + make_interval(hours => ${build.retentionHours}),
      artifact_key = ${artifact.key}, artifact_file_name = ${artifact.fileName},
      artifact_bytes = ${artifact.bytes}, artifact_sha256 = ${artifact.sha256},
      ${progressColumns(sql, build.progress)}
    where id = ${build.id} and status = 'running' and attempt = ${build.attempt}
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}

/** Returns the assignments of the progress columns. */
function progressColumns(sql: Sql, progress: ExportJobProgress) {
  return sql`
    projects_done = ${progress.projectsDone}, projects_total = ${progress.projectsTotal},
    rows_written = ${progress.rowsWritten}, bytes_written = ${progress.bytesWritten}`;
}
