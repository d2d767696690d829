/** Records every few seconds that this job runner is alive, for the metric `job_runners`. */
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../shared/process/log.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { deleteJobRunner, upsertJobRunner } from "../sql/job_runners.ts";

const PAUSE_MS = 5_000;

/** Settles when `signal` is aborted and the record is deleted. If the database is down, it retries. */
export async function keepHeartbeat(deps: { sql: Sql; log: Log }, signal: AbortSignal): Promise<void> {
  const id = crypto.randomUUID();
  while (!signal.aborted) {
    await upsertJobRunner(deps.sql, id).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot record that the job runner is alive");
    });
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  // A remaining row is ignored after 30 s.
  await deleteJobRunner(deps.sql, id).catch(() => {});
}
