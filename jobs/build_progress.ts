/** Reports the progress of a build every second, and stops a build whose job was canceled or taken over. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "../sql/connection/pool.ts";
import { type ExportBuildKey, updateExportJobProgress } from "../sql/exports/build_attempts.ts";
import type { ExportJobProgress } from "../sql/exports/jobs.ts";

const INTERVAL_MS = 1000;

/** The job's row no longer belongs to this attempt: the job was canceled, or another builder has taken over. */
export class BuildSuperseded extends Error {
  override readonly name = "BuildSuperseded";

  constructor({ id, attempt }: ExportBuildKey) {
    super(`Cannot go on building export job "${id}": attempt ${attempt} is not the running one`);
  }
}

export interface ProgressReports {
  /** Aborted with BuildSuperseded when another attempt or no attempt runs, or with the error of a failed report. */
  signal: AbortSignal;
  stop(): void;
}

/** Writes what `readProgress` returns into the job's row, now and every second until `stop` is called. */
export function startProgressReports(
  sql: Sql,
  { id, attempt }: ExportBuildKey,
  readProgress: () => ExportJobProgress,
): ProgressReports {
  const stopped = new AbortController();
  const failed = new AbortController();
  async function report(): Promise<void> {
    while (!stopped.signal.aborted) {
      const isRunning = await updateExportJobProgress(sql, { id, attempt, progress: readProgress() });
      if (!isRunning) throw new BuildSuperseded({ id, attempt });
      await delay(INTERVAL_MS, undefined, { signal: stopped.signal });
    }
  }
  // A report may still be running after `stop`; it changes only a row of this attempt.
  report().catch((error: unknown) => {
    if (!stopped.signal.aborted) failed.abort(error);
  });
  return { signal: failed.signal, stop: () => stopped.abort() };
}
