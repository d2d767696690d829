/**
 * Exports of changed and deleted rows with `since`, and slices by creation time, over HTTP.
 * test/sql/exports/select_rows/increments_test.ts tests the SQL.
 */
import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../../shared/exports/datasets.ts";
import { unzip } from "../../helpers/exports/export_job.ts";
import {
  type ExportProject,
  exportDataset,
  makeExportProject,
  ndjsonRows,
} from "../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

/** Requests GET /export/projects/:project/deleted. */
function exportDeleted(app: TestApp, { person, project }: ExportProject, query: string): Promise<Response> {
  return app.request(`/api/v1/export/projects/${project.id}/deleted${query}`, { key: person.key });
}

function nextSince(response: Response): string {
  const next = response.headers.get("x-export-next-since") ?? "";
  expect(response.headers.get("x-export-as-of")).toBe(next);
  return next;
}

/** Runs an export and returns its cutoff. */
async function takeCutoff(app: TestApp, made: ExportProject): Promise<string> {
  const response = await exportDataset(app, made, "issues");
  await response.text();
  return nextSince(response);
}

/** Exports every dataset with the query. Returns the rows by dataset and id, like a client's copy of the project. */
async function readAll(app: TestApp, made: ExportProject, query: string): Promise<Map<string, unknown>> {
  const rows = new Map<string, unknown>();
  for (const name of EXPORT_DATASET_NAMES) {
    const response = await exportDataset(app, made, name, query);
    const found = await ndjsonRows(response);
    expect(response.headers.get("x-export-total-rows")).toBe(String(found.length));
    for (const row of found) rows.set(`${name} ${row["id"]}`, row);
  }
  return rows;
}

test("the deleted.csv path returns the same file as format=csv", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const since = new Date(Date.now() - 60_000).toISOString();
  await app.db.owner`delete from issue_notes where project_id = ${project.id}`;
  const get = (path: string) =>
    app.request(`/api/v1/export/projects/${project.id}/${path}`, { key: person.key });
  const [ended, asked] = [
    await get(`deleted.csv?since=${since}`),
    await get(`deleted?format=csv&since=${since}`),
  ];
  expect([ended.status, asked.status]).toEqual([200, 200]);
  expect(ended.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(await ended.text()).toBe(await asked.text());
});

test("applying deletions and then changed rows to a copy gives the same rows as a full export", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const { ids } = made;
  const since = await takeCutoff(app, made);
  const copy = await readAll(app, made, `?as_of=${since}`);
  await app.db.sql`update issues set title = 'renamed' where id = ${ids["completed issue"] ?? ""}`;
  await app.db.sql`update issues set deleted_at = now() where id = ${ids["open issue"] ?? ""}`;
  await app.db.sql`update issues set deleted_at = null where id = ${ids["deleted issue"] ?? ""}`;
  await app.db.sql`update runs set archived_at = null where id = ${ids["archived run"] ?? ""}`;
  await app.db.sql`delete from analysis_records where id = ${ids["live record"] ?? ""}`;
  const deleted = await exportDeleted(app, made, `?since=${since}`);
  const asOf = nextSince(deleted);
  const gone = await ndjsonRows(deleted);
  expect(deleted.headers.get("x-export-total-rows")).toBe(String(gone.length));
  for (const row of gone) copy.delete(`${row["dataset"]} ${row["id"]}`);
  const changed = await readAll(app, made, `?since=${since}&as_of=${asOf}`);
  // Renaming an issue does not change its notes.
  expect(changed.has(`issues ${ids["completed issue"]}`)).toBe(true);
  expect(changed.has(`issue-notes ${ids["completed note"]}`)).toBe(false);
  for (const [key, row] of changed) copy.set(key, row);
  expect(copy).toEqual(await readAll(app, made, `?as_of=${asOf}`));
  expect(gone.map(({ id }) => id)).toContain(ids["live record"]);
  expect((await readAll(app, made, `?since=${asOf}&as_of=${asOf}`)).size).toBe(0);
});

test("deleted rows can be exported as CSV and are logged as exports", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const since = await takeCutoff(app, made);
  const id = made.ids["open note"] ?? "";
  await app.db.sql`delete from issue_notes where id = ${id}`;
  const response = await exportDeleted(app, made, `?since=${since}&format=csv`);
  expect(response.headers.get("content-disposition")).toContain("deleted-");
  const [head, row, end] = (await response.text()).split("\r\n");
  expect(head).toBe("dataset,id,at");
  expect(row).toMatch(new RegExp(`^issue-notes,${id},20.*Z$`));
  expect(end).toBe("");
  const [entry] = await app.db.sql`
    select action, details from audit_log where details->>'dataset' = 'deleted'`;
  expect(entry).toMatchObject({ action: "export.dataset", details: { since, rows: 1, format: "csv" } });
});

test("an increment that cannot be exact is refused with the reason, and invalid queries for deleted rows return 400", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const now = await takeCutoff(app, made);
  const daysAgo = (days: number) => new Date(Date.parse(now) - days * 86_400_000).toISOString();
  for (const path of ["issues", "bundle", "estimate"] as const) {
    const tooOld = await exportDataset(app, made, path, `?since=${daysAgo(90.1)}`);
    expect(tooOld.status).toBe(400);
    expect(await tooOld.json()).toMatchObject({
      error: { code: "VALIDATION_ERROR", details: { reason: "since_too_old", errors: [{ path: "since" }] } },
    });
    const late = await exportDataset(app, made, path, `?since=${now}&as_of=${daysAgo(1)}`);
    expect(await late.json()).toMatchObject({ error: { details: { reason: "since_too_old" } } });
    const kept = await exportDataset(app, made, path, `?since=${daysAgo(89.9)}`);
    expect(kept.status).toBe(200);
    await kept.arrayBuffer();
  }
  for (const query of ["", "?since=yesterday", `?since=${now}&status=open`]) {
    expect([query, (await exportDeleted(app, made, query)).status]).toEqual([query, 400]);
  }
});

test("increments are refused if the tracker's changes are not logged", async () => {
  await using app = await openTestApp({ config: { trackerSchema: "tracker" } });
  const made = await makeExportProject(app);
  await app.db.owner`create schema tracker`;
  await app.db.owner`grant usage on schema tracker to ulr_app`;
  for (const { table } of Object.values(EXPORT_DATASETS)) {
    await app.db.owner.unsafe(`create view tracker.${table} as select * from public.${table}`);
    await app.db.owner.unsafe(`grant select on tracker.${table} to ulr_app`);
  }
  const full = await exportDataset(app, made, "issues");
  expect((await ndjsonRows(full)).length).toBe(2);
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const response = await exportDataset(app, made, "issues", `?since=${since}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: {
      details: { errors: [{ path: "since", message: expect.stringContaining("does not log changes") }] },
    },
  });
});

test("a bundle of changes lists deleted rows, and its README explains how to apply the bundle", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const since = await takeCutoff(app, made);
  await app.db.sql`update runs set archived_at = now() where id = ${made.ids["live run"] ?? ""}`;
  await app.db.sql`
    insert into issue_notes (project_id, issue_id, content, note_type)
    values (${made.project.id}, ${made.ids["open issue"] ?? ""}, 'new', 'context')`;
  const joins = "These always find their row";
  for (const format of ["ndjson", "csv"]) {
    const response = await exportDataset(app, made, "bundle", `?since=${since}&format=${format}`);
    const files = await unzip(await response.arrayBuffer());
    const manifest = JSON.parse(files.get("manifest.json") ?? "");
    const lines = (files.get("deleted.ndjson") ?? "").trim().split("\n");
    expect(manifest).toMatchObject({ since, nextSince: manifest.asOf });
    expect(manifest.deleted).toMatchObject({ name: "deleted.ndjson", rows: lines.length });
    const deleted = lines.map((line) => JSON.parse(line));
    expect(deleted).toContainEqual(
      expect.objectContaining({ dataset: "agent-snapshots", id: made.ids["live snapshot"] }),
    );
    // Only the note has changed, not its issue.
    expect(manifest.rowCounts).toMatchObject({ issues: 0, "issue-notes": 1 });
    const readme = files.get("README.md") ?? "";
    expect(readme).toContain(`${joins} in the copy. `);
    expect(readme).toContain("Delete the rows that `deleted.ndjson` lists, by project, dataset and id.");
    expect(readme).not.toContain("projects that `manifest.json`");
  }
  const full = await unzip(await (await exportDataset(app, made, "bundle")).arrayBuffer());
  expect(full.has("deleted.ndjson")).toBe(false);
  expect(full.get("README.md")).toContain(`${joins}. `);
  expect(JSON.parse(full.get("manifest.json") ?? "")).toMatchObject({ since: null });
});

test("slices of a dataset contain each row once, and limits count only the rows of the slice", async () => {
  await using app = await openTestApp({ config: { exportSyncMaxRows: 2 } });
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const days = ["01", "02", "03", "04"];
  for (const day of days) {
    await app.make.issue({ projectId: project.id, title: day, createdAt: `2026-01-${day}T00:00:00.000Z` });
  }
  const made = { person, project };
  expect((await exportDataset(app, made, "issues")).status).toBe(413);
  const read = async (query: string) => {
    const response = await exportDataset(app, made, "issues", query);
    expect(response.status).toBe(200);
    return (await ndjsonRows(response)).map(({ title }) => title);
  };
  expect(await read("?created_to=2026-01-03T00:00:00Z")).toEqual(["01", "02"]);
  expect(await read("?created_from=2026-01-03T00:00:00Z")).toEqual(["03", "04"]);
  expect(await read("?created_from=2026-01-02T00:00:00Z&created_to=2026-01-03T00:00:00Z")).toEqual(["02"]);
  const since = new Date(Date.now() - 86_400_000).toISOString();
  expect(await read(`?since=${since}&created_from=2026-01-04T00:00:00Z`)).toEqual(["04"]);
  const empty = await exportDataset(
    app,
    made,
    "issues",
    "?created_from=2026-01-03T00:00:00Z&created_to=2026-01-03T00:00:00Z",
  );
  expect(empty.status).toBe(400);
  const bundle = await exportDataset(app, made, "bundle", "?created_from=2026-01-03T00:00:00Z");
  expect(bundle.status).toBe(400);
  for (const name of EXPORT_DATASET_NAMES) {
    const query = "?created_from=2020-01-01T00:00:00Z&created_to=2021-01-01T00:00:00Z";
    expect([name, await ndjsonRows(await exportDataset(app, made, name, query))]).toEqual([name, []]);
    expect(EXPORT_DATASETS[name].timeColumn).toBeString();
  }
});
