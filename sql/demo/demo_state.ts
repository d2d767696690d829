/** Progress of loading the demo. */
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { anyRow, type Sql } from "../connection/pool.ts";

/** Audit log actions for the start and the completion of loading the demo. */
export const DEMO_STARTED = "demo.start";
export const DEMO_DONE = "demo.seed";

/** Returns the state of the demo; `null` if loading never started. */
export async function findDemoState(sql: Sql): Promise<"started" | "done" | null> {
  const rows = await sql<{ action: string }[]>`
    select action
    from audit_log
    where subject_type = 'demo' and subject_id = 'demo' and action in (${DEMO_STARTED}, ${DEMO_DONE})`;
  if (rows.some((row) => row.action === DEMO_DONE)) return "done";
  return rows.length > 0 ? "started" : null;
}

/** Returns whether a project has runs. All rows of a project are written in one transaction, so a project with runs is complete. */
export async function existsRun(sql: Sql, projectId: string): Promise<boolean> {
  return anyRow(sql`select from runs where project_id = ${projectId} limit 1`);
}

/**
 * Updates the planner's statistics of the tracker tables after many inserts. PostgreSQL skips tables that the role does not own;
 * autovacuum updates their statistics within minutes.
 */
export async function analyzeTracker(sql: Sql): Promise<void> {
  for (const { table } of Object.values(EXPORT_DATASETS)) await sql`analyze ${sql(table)}`;
}
