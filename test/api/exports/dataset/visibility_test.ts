import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES, type ExportDatasetName } from "../../../../shared/exports/datasets.ts";
import {
  AFTER_ALL,
  exportDataset,
  makeExportProject,
  ndjsonRows,
} from "../../../helpers/exports/export_project.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

/** Each case: the dataset, its query flags, and all rows that the export must contain. */
const CASES: readonly [ExportDatasetName, string, string[]][] = [
  ["issues", "", ["open issue", "completed issue"]],
  ["issues", "&include_deleted=true", ["open issue", "completed issue", "deleted issue"]],
  ["issues", "&include_resolved=false", ["open issue"]],
  ["issue-notes", "", ["open note", "completed note"]],
  ["issue-notes", "&include_deleted=true&include_resolved=false", ["open note", "deleted note"]],
  ["status-history", "", ["open change", "completed change"]],
  ["status-history", "&include_resolved=false", ["open change"]],
  ["occurrences", "", ["open live occurrence", "completed live occurrence"]],
  [
    "occurrences",
    "&include_archived=true",
    [
      "open live occurrence",
      "completed live occurrence",
      "open archived occurrence",
      "completed archived occurrence",
    ],
  ],
  [
    "occurrences",
    "&include_deleted=true&include_resolved=false",
    ["open live occurrence", "deleted live occurrence"],
  ],
  ["runs", "", ["live run"]],
  ["runs", "&include_archived=true", ["live run", "archived run"]],
  ["agent-snapshots", "", ["live snapshot"]],
  ["agent-snapshots", "&include_archived=true", ["live snapshot", "archived snapshot"]],
  ["analysis-summaries", "", ["live summary"]],
  ["analysis-summaries", "&include_superseded=true", ["live summary", "live superseded summary"]],
  ["analysis-records", "&include_archived=true", ["live record", "archived record"]],
  [
    "analysis-records",
    "&include_archived=true&include_superseded=true",
    ["live record", "live superseded record", "archived record", "archived superseded record"],
  ],
];

test("a dataset includes rows by its flags and excludes children of hidden rows", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const names = new Map(Object.entries(made.ids).map(([name, id]) => [id, name]));
  for (const [dataset, flags, expected] of CASES) {
    const response = await exportDataset(app, made, dataset, `?as_of=${AFTER_ALL}${flags}`);
    const rows = await ndjsonRows(response);
    const seen = rows.map((row) => names.get(String(row["id"])) ?? "unknown");
    expect([dataset, flags, seen.sort()]).toEqual([dataset, flags, [...expected].sort()]);
    expect(response.headers.get("x-export-total-rows")).toBe(String(expected.length));
  }
});

test("a child whose parent was created after as_of is excluded", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-01-03T00:00:00.000Z"];
  const asOf = "2026-01-02T00:00:00.000Z";
  const run = await app.make.run({ projectId: project.id, createdAt: early });
  const lateRun = await app.make.run({ projectId: project.id, createdAt: late });
  const issue = await app.make.issue({ projectId: project.id, createdAt: early });
  const lateIssue = await app.make.issue({ projectId: project.id, createdAt: late });
  const row = { projectId: project.id, createdAt: early };
  const kept = await app.make.occurrence({ ...row, issueId: issue.id, runId: run.id });
  await app.make.occurrence({ ...row, issueId: lateIssue.id, runId: run.id });
  await app.make.occurrence({ ...row, issueId: issue.id, runId: lateRun.id });
  await app.make.note({ ...row, issueId: lateIssue.id });
  await app.make.snapshot({ ...row, runId: lateRun.id });
  const rowsOf = async (dataset: ExportDatasetName) =>
    ndjsonRows(await exportDataset(app, { person, project }, dataset, `?as_of=${asOf}`));
  expect((await rowsOf("occurrences")).map((found) => found["id"])).toEqual([kept.id]);
  expect(await rowsOf("issue-notes")).toEqual([]);
  expect(await rowsOf("agent-snapshots")).toEqual([]);
});

test("the inclusive cutoff applies to changedAt in status-history and to createdAt in every other dataset", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const at = "2026-01-10T10:00:00.000Z";
  const before = "2026-01-10T09:59:59.999Z";
  for (const dataset of EXPORT_DATASET_NAMES) {
    const count = async (asOf: string) =>
      (await ndjsonRows(await exportDataset(app, made, dataset, `?as_of=${asOf}`))).length;
    expect([dataset, (await count(at)) > 0, await count(before)]).toEqual([dataset, true, 0]);
  }
});

test("filters can be repeated, and a row must match one value of each filter", async () => {
  await using app = await openTestApp();
  const { person, project, ids } = await makeExportProject(app);
  const count = async (dataset: ExportDatasetName, query: string) =>
    (await ndjsonRows(await exportDataset(app, { person, project }, dataset, query))).length;
  expect(await count("issues", "?status=open")).toBe(1);
  expect(await count("issues", "?status=open&status=completed&priority=high")).toBe(2);
  expect(await count("issues", "?status=open&priority=backlog")).toBe(0);
  expect(await count("occurrences", `?issue_id=${ids["open issue"]}&run_id=${ids["live run"]}`)).toBe(1);
  expect(await count("occurrences", "?agent=reviewer&agent=nobody")).toBe(2);
  expect(await count("occurrences", "?agent=it's%20nobody")).toBe(0);
  expect(await count("runs", "?workflow_type=review")).toBe(1);
  expect(await count("agent-snapshots", "?agent=reviewer")).toBe(1);
  expect(await count("issue-notes", `?issue_id=${ids["open issue"]}&note_type=context`)).toBe(1);
  expect(await count("status-history", "?new_status=completed")).toBe(2);
  expect(await count("analysis-summaries", "?agent_type=validator&decision=PASS")).toBe(1);
  expect(await count("analysis-records", "?record_type=finding&severity=high")).toBe(0);
});
