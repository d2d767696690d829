/** A build that is stopped in the middle of a project, in a runner process of its own. */

import type { TestDatabase } from "../postgres/database.ts";
import { listWaiting } from "../postgres/waiting_sessions.ts";
import { startRunner } from "../process/runner_process.ts";
import type { ServiceProcess } from "../process/service_process.ts";
import { waitFor } from "../wait_for.ts";

/**
 * The cutoff for the job, before all rows of a test. The lock below is no transaction that could still add rows
 * before it.
 */
export const HELD_AS_OF = "2026-02-01T00:00:00.000Z";

/** Starts a runner, holds the build of the one queued job, and releases it after `act`. */
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
