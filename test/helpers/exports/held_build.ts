/** A build that stands still in the middle of a project, in a runner that is a process of its own. */

import type { TestDatabase } from "../postgres/database.ts";
import { listWaiting } from "../postgres/waiting_sessions.ts";
import { startRunner } from "../process/runner_process.ts";
import type { ServiceProcess } from "../process/service_process.ts";
import { waitFor } from "../wait_for.ts";

/** Queue a job as of this, before every row of a test: the lock is no transaction that could still add to it then. */
export const HELD_AS_OF = "2026-02-01T00:00:00.000Z";

/** Starts a runner, holds the build of the one job that is queued, and lets it go when `act` is over. */
export async function withHeldBuild(
  { sql }: TestDatabase,
  env: Readonly<Record<string, string>>,
  act: (runner: ServiceProcess) => Promise<void>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table analysis_records in access exclusive mode`;
    await using runner = await startRunner(env);
    await waitFor(async () => (await listWaiting(sql, "analysis_records")).length > 0, 20_000);
    await act(runner);
  });
}
