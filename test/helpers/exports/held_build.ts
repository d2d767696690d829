/** Blocks a build in the middle of a project, in its own runner process. */

import type { TestDatabase } from "../postgres/database.ts";
import { listWaiting } from "../postgres/waiting_sessions.ts";
import { startRunner } from "../process/runner_process.ts";
import type { ServiceProcess } from "../process/service_process.ts";
import { waitFor } from "../wait_for.ts";

/**
 * A cutoff for the job, after all rows of a test. The transaction that holds the lock below starts after the cutoff, so
 * it cannot add rows before it.
 */
export const HELD_AS_OF = "2026-02-01T00:00:00.000Z";

/**
 * Starts a runner and blocks its build of the only queued job with a table lock. Calls `act`, then kills the runner if
 * it is still running, and releases the lock.
 */
export async function withHeldBuild(
  { sql }: TestDatabase,
  env: Readonly<Record<string, string>>,
  act: (runner: ServiceProcess) => Promise<void>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table analysis_records in access exclusive mode`;
    await using runner = await startRunner(env);
    await waitFor(async () => (await listWaiting(sql, "analysis_records")).length > 0);
    await act(runner);
  });
}
