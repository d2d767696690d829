/** Stops a build in the middle of a project, in its own runner process. */

import type { TestDatabase } from "../postgres/database.ts";
import { listWaiting } from "../postgres/waiting_sessions.ts";
import { startRunner } from "../process/runner_process.ts";
import type { ServiceProcess } from "../process/service_process.ts";
import { waitFor } from "../wait_for.ts";

/**
 * The job's cutoff, after all rows of a test. The transaction that holds the lock below starts later, so it cannot add
 * rows before the cutoff.
 */
export const HELD_AS_OF = "2026-02-01T00:00:00.000Z";

/** Starts a runner, blocks its build of the only queued job, and unblocks the build after `act`. */
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
