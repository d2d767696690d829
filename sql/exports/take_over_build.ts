/**
 * A job runner takes over a build from the queue, or from a runner that died. The queue (pg-boss) checks heartbeats and gives
 * an entry whose heartbeat has lapsed to another runner, within 30 s (`sql/queue_policies.ts`). The new attempt is the only
 * one that may write then.
 */
import { firstRow, type Sql } from "../connection/pool.ts";
import { progressColumns } from "./build_attempts.ts";
import { EXPORT_JOB_COLUMNS, type ExportJobRow } from "./jobs.ts";

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
