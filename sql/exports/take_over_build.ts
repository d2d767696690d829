/**
 * When a job runner counts as dead, and how another one takes over its build. The queue (pg-boss) checks heartbeats and
 * gives an entry whose heartbeat has lapsed to another runner, within 30 s. Its attempt is the only one that may write then.
 */
import { firstRow, type Sql } from "../connection/pool.ts";
import { progressColumns } from "./build_attempts.ts";
import { EXPORT_JOB_COLUMNS, type ExportJobRow } from "./jobs.ts";

/** How long an entry of the queue, of any job, stays with a runner whose heartbeats have stopped. */
export const HEARTBEAT_SECONDS = 20;
/** How often lapsed heartbeats are checked, and due schedules. */
export const HEARTBEAT_CHECK_SECONDS = 5;

/**
 * Begins the next attempt, also of a job whose builder has died; null if the job has finished, does not exist, or has used
 * up `maxAttempts`.
 */
export async function takeOverBuild(
  sql: Sql,
  job: { id: string; maxAttempts: number },
): Promise<ExportJobRow | null> {
  const nothing = { projectsDone: 0, projectsTotal: 0, rowsWritten: 0, bytesWritten: 0 };
  return firstRow(sql<ExportJobRow[]>`
    update export_jobs
    set status = 'running', attempt = attempt + 1, started_at = now(), waiting_for = null, retry_at = null,
      ${progressColumns(sql, nothing)}
    where id = ${job.id} and status in ('queued', 'running') and attempt < ${job.maxAttempts}
    returning ${sql(EXPORT_JOB_COLUMNS)}`);
}
