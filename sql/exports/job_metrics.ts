/** Reads the metrics of background jobs from the database, so that every process reports the same values. */
import type { BuildFault, ExportJobErrorCode } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";

export interface QueueDepthRow {
  queue: string;
  state: string;
  entries: number;
  /** Seconds that the oldest due entry has waited for a job runner; null if no entry is due. */
  oldestSeconds: number | null;
}

/** States of entries that are neither completed nor canceled. `failed` entries have used up their attempts. */
export const DEPTH_STATES = ["created", "retry", "active", "failed"] as const;

/** Counts the entries in DEPTH_STATES by queue and state. pg-boss deletes failed entries after a week. */
export async function listQueueDepths(
  sql: Sql,
  queues: readonly string[],
): Promise<readonly QueueDepthRow[]> {
  return sql<QueueDepthRow[]>`
    select name as queue, state::text, count(*) as entries,
      extract(epoch from now() - min(start_after) filter (
        where state in ('created', 'retry') and start_after <= now()
      ))::float8 as oldest_seconds
    from pgboss.job
    where name = any(${[...queues]}) and state::text = any(${[...DEPTH_STATES]})
    group by name, state`;
}

/** Counts, by fault, the organization exports that wait because storage or the database failed. */
export async function listWaitingBuilds(sql: Sql): Promise<readonly { needs: BuildFault; jobs: number }[]> {
  return sql<{ needs: BuildFault; jobs: number }[]>`
    select waiting_for as needs, count(*) as jobs
    from export_jobs
    where status = 'queued' and waiting_for is not null
    group by waiting_for`;
}

export interface RecentBuildsRow {
  /** `ready`, or the error code. */
  result: "ready" | ExportJobErrorCode;
  jobs: number;
  /** Seconds from queueing until the job finished: median, 95th percentile and maximum. */
  seconds: [p50: number, p95: number, max: number];
}

/** Summarizes the organization exports that became ready, failed or were canceled in the last 24 hours, by result. */
export async function listRecentBuilds(sql: Sql): Promise<readonly RecentBuildsRow[]> {
  return sql<RecentBuildsRow[]>`
    select coalesce(error_code, 'ready') as result, count(*) as jobs,
      percentile_cont(array[0.5, 0.95, 1]) within group (
        order by extract(epoch from finished_at - created_at)::float8
      ) as seconds
    from export_jobs
    where finished_at > now() - interval '24 hours'
    group by result`;
}
