/** Tests the query plans of increments. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS, toVisibility } from "../../../../shared/exports/datasets.ts";
import { openExportSnapshot, preferParallelCopies } from "../../../../sql/connection/snapshot.ts";
import { rowsQuery } from "../../../../sql/exports/dataset_file.ts";
import { deletedQuery } from "../../../../sql/exports/deleted_rows.ts";
import { countQuery, type Increment } from "../../../../sql/exports/select_rows.ts";
import { makeLargeProject } from "../../../helpers/exports/large_project.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

const ISSUES = 10_000;
/** Number of issues to update together with their notes, and number of issues to delete. */
const CHANGED = 100;
const HOUR_MS = 3_600_000;

interface Plan {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: Plan[];
}

/** Returns the total number of rows that the nodes of a plan visit. */
function countHandled(plan: Plan): number {
  const rows =
    plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Join Filter"] ?? 0);
  const below = (plan.Plans ?? []).map(countHandled);
  return rows * plan["Actual Loops"] + below.reduce((sum, count) => sum + count, 0);
}

test("does not compare each row with every change in an increment", async () => {
  await using app = await openTestApp();
  const { project } = await makeLargeProject(app, ISSUES);
  const { sql, owner } = app.db;
  await sql`
    insert into issue_notes (project_id, issue_id, content, note_type, created_at)
    select project_id, id, 'Seen', 'context', created_at
    from issues
    where project_id = ${project.id}`;
  await owner`update tracker_changes set at = at - interval '1 day'`;
  const changed = sql`
    (select id from issues where project_id = ${project.id} order by id limit ${CHANGED})`;
  await sql`update issues set title = 'Changed' where id in ${changed}`;
  await sql`update issue_notes set content = 'Changed' where issue_id in ${changed}`;
  await sql`
    update issues set deleted_at = now()
    where id in (select id from issues where project_id = ${project.id} order by id desc limit ${CHANGED})`;
  await owner`vacuum analyze`;
  const now = Date.now();
  const increment: Increment = {
    trackerSchema: "public",
    projectId: project.id,
    since: new Date(now - HOUR_MS).toISOString(),
    asOf: new Date(now + HOUR_MS).toISOString(),
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
  const { issues, "issue-notes": notes } = EXPORT_DATASETS;
  const queries = {
    "count of issues": countQuery(issues, increment, ISSUES),
    issues: rowsQuery(issues, increment, "ndjson"),
    "count of notes": countQuery(notes, increment, ISSUES),
    notes: rowsQuery(notes, increment, "csv"),
    deleted: deletedQuery(increment, "ndjson"),
  };
  const snapshot = await openExportSnapshot(sql, { control: sql, signal: new AbortController().signal });
  const handled: Record<string, number> = {};
  for (const [name, query] of Object.entries(queries)) {
    const [row] = await snapshot.run((tx) =>
      tx.unsafe<[{ "QUERY PLAN": [{ Plan: Plan }] }]>(`explain (analyze, format json) ${query}`),
    );
    handled[name] = countHandled(row["QUERY PLAN"][0].Plan);
  }
  await snapshot.close();
  // Comparing every row with every change would visit a hundred times as many rows as the project has issues. The limit is twelve
  // times, because small tables are read completely and more than once.
  for (const [name, rows] of Object.entries(handled)) {
    expect([name, rows > CHANGED && rows < 12 * ISSUES]).toEqual([name, true]);
  }
});

test("starts no parallel worker for a few rows", async () => {
  await using app = await openTestApp();
  const { sql } = app.db;
  const increment: Increment = {
    trackerSchema: "public",
    projectId: crypto.randomUUID(),
    since: "2026-01-01T00:00:00.000Z",
    asOf: "2026-01-02T00:00:00.000Z",
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
  const queries = [
    deletedQuery(increment, "ndjson"),
    ...Object.values(EXPORT_DATASETS).map((dataset) => rowsQuery(dataset, increment, "ndjson")),
  ];
  const snapshot = await openExportSnapshot(sql, { control: sql, signal: new AbortController().signal });
  await snapshot.run(preferParallelCopies);
  for (const query of queries) {
    const plan = await snapshot.run((tx) => tx.unsafe(`explain ${query}`));
    expect(JSON.stringify(plan)).not.toContain("Gather");
  }
  await snapshot.close();
});
