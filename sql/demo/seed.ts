/** Writes the demo's tracker rows, project by project, and tracks its progress. */

import type { Sql } from "../connection/pool.ts";
import { allowBackfill } from "../tracker/backfill.ts";
import { insertDemoIssues } from "./issue_rows.ts";
import { insertDemoRuns } from "./run_rows.ts";
import { createDemoScaffold, type DemoProjectPlan } from "./scaffold.ts";

/** Actions in the audit log: the demo was started, and completed. */
export const DEMO_STARTED = "demo.start";
export const DEMO_DONE = "demo.seed";

const TRACKER_TABLES = [
  "runs",
  "agent_snapshots",
  "issues",
  "occurrences",
  "issue_notes",
  "status_history",
  "analysis_summaries",
  "analysis_records",
];

/** Returns the state of the demo; `null` if it was never started. */
export async function findDemoState(sql: Sql): Promise<"started" | "done" | null> {
  const rows = await sql<{ action: string }[]>`
    select action
    from audit_log
    where subject_type = 'demo' and subject_id = 'demo' and action in (${DEMO_STARTED}, ${DEMO_DONE})`;
  if (rows.some((row) => row.action === DEMO_DONE)) return "done";
  return rows.length > 0 ? "started" : null;
}

/** Whether a project has runs, and therefore all of its rows, which are written in one transaction. */
export async function existsRun(sql: Sql, projectId: string): Promise<boolean> {
  const [row] = await sql<[{ exists: boolean }]>`
    select exists (select from runs where project_id = ${projectId})`;
  return row.exists;
}

/** Writes all tracker rows of one demo project. Call inside its own transaction. */
export async function insertDemoProjectRows(tx: Sql, plan: DemoProjectPlan): Promise<void> {
  // The demo has a past.
  await allowBackfill(tx);
  // The demo can be created again, so its commits need not wait for the disk.
  await tx`set local synchronous_commit = off`;
  // Joins in memory keep the order of the issues, which is that of the indexes, so no sort is needed.
  await tx`set local work_mem = '64MB'`;
  await createDemoScaffold(tx, plan);
  await insertDemoRuns(tx, plan);
  await insertDemoIssues(tx, plan);
}

/**
 * Updates the planner's statistics of the tracker tables after many inserts. If the role does not own them, autovacuum does
 * it within minutes.
 */
export async function analyzeTracker(sql: Sql): Promise<void> {
  for (const table of TRACKER_TABLES) await sql`analyze ${sql(table)}`;
}
