import { expect, test } from "bun:test";
import { openZipFile } from "../../../../api/admin/import/zip_file.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDatasetName,
  NO_FILTERS,
  toVisibility,
} from "../../../../shared/exports/datasets.ts";
import { ADMIN_APPLICATION } from "../../../../sql/connection/application_names.ts";
import type { Pool } from "../../../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../../../sql/connection/snapshot.ts";
import { streamDatasetFile } from "../../../../sql/exports/dataset_file.ts";
import { runCommand } from "../../../helpers/accounts/admin.ts";
import { writeProjectBundle, writeZip } from "../../../helpers/exports/bundle_file.ts";
import {
  bundleEntries,
  countTrackerRows,
  openImportPlace,
  organizationEntries,
  sampleRows,
} from "../../../helpers/exports/import_place.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

async function readEntries(path: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, entry] of await openZipFile(path)) {
    const chunks = await Array.fromAsync(entry.read());
    if (name !== "manifest.json") texts[name] = Buffer.concat(chunks).toString("utf8");
  }
  return texts;
}

const EVERYTHING = toVisibility({ include_deleted: true, include_archived: true, include_superseded: true });

async function readCsv(sql: Pool, projectId: string, dataset: ExportDatasetName): Promise<string> {
  const snapshot = await openExportSnapshot(sql, { control: sql, signal: new AbortController().signal });
  const asOf = new Date().toISOString();
  const selection = { trackerSchema: "public", projectId, asOf, visibility: EVERYTHING, filters: NO_FILTERS };
  const file = streamDatasetFile(snapshot, EXPORT_DATASETS[dataset], { format: "csv", selection });
  try {
    return Buffer.concat(await Array.fromAsync(file)).toString("utf8");
  } finally {
    await snapshot.close();
  }
}

test("import keeps every value, so a new export is the same byte for byte", async () => {
  await using place = await openImportPlace();
  const { sql } = place.db;
  const project = { id: crypto.randomUUID(), name: "Kept" };
  await writeZip(place.file("first.zip"), bundleEntries(project, sampleRows(project.id)));
  expect(await place.import(place.file("first.zip"))).toMatchObject({ exitCode: 0, err: "" });
  // SQL sets these values, because JavaScript would change some of them, such as 12345678901234567890.10.
  await sql`
    update analysis_records
    set record_data = '{"n": 12345678901234567890.10, "e": 1E-30, "esc": "a\\\\b\\u001f\\"", "nul": null, "b": "\\u2028"}'`;
  await sql`update analysis_summaries set score = 0.1::float8 + 0.2, system_metrics = 'null', category_scores = '[1.50, ""]'`;
  await sql`update runs set raw_markdown = ${`# Report\r\n${'\\N \\. "x"\n'.repeat(5000)}`}, average_score = 29.35`;
  await sql`update agent_snapshots set summary = '', score = 0, output_tokens = 9007199254740991`;
  await writeProjectBundle(place.file("second.zip"), { sql, project });

  await using other = await openImportPlace();
  expect(await other.import(place.file("second.zip"))).toMatchObject({ exitCode: 0 });
  await writeProjectBundle(other.file("third.zip"), { sql: other.db.sql, project });
  expect(await readEntries(other.file("third.zip"))).toEqual(await readEntries(place.file("second.zip")));
  // JSON null is imported as SQL null. In CSV, JSON null and SQL null look the same.
  for (const dataset of EXPORT_DATASET_NAMES) {
    const [before, after] = [
      await readCsv(sql, project.id, dataset),
      await readCsv(other.db.sql, project.id, dataset),
    ];
    expect([dataset, after]).toEqual([dataset, before]);
    expect(before.split("\n").length).toBeGreaterThan(2);
  }
});

test("import prints each dataset's row count and creates the project with an owner from the organization", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Crème Brûlée" };
  await writeZip(place.file("a.zip"), bundleEntries(project, sampleRows(project.id)));
  const { out } = await place.import(place.file("a.zip"));
  const rowCounts = Object.fromEntries(EXPORT_DATASET_NAMES.map((dataset) => [dataset, 1]));
  expect(JSON.parse(out)).toEqual({ projects: [{ ...project, rowCounts }] });
  const [row] = await place.db.sql`
    select p.slug, o.slug as org, u.username
    from projects p
    join organizations o on o.id = p.org_id
    join users u on u.id = p.owner_id
    where p.id = ${project.id}`;
  expect(row).toMatchObject({ slug: "creme-brulee", org: "here", username: "ann" });
  const [status] = await place.db.sql`
    select seq, nextval('status_history_seq_seq') as next from status_history`;
  expect(status).toMatchObject({ seq: 4711, next: 4712 });
  const [audit] = await place.db
    .sql`select subject_id, details from audit_log where action = 'project.import'`;
  expect(audit).toMatchObject({ subjectId: project.id, details: { name: project.name, insertedRows: 8 } });
});

test("import keeps a seq beyond JavaScript's precision and continues the sequence after that seq", async () => {
  await using place = await openImportPlace();
  const { sql } = place.db;
  const project = { id: crypto.randomUUID(), name: "Far" };
  const rows = sampleRows(project.id);
  const line = JSON.stringify(rows["status-history"][0]).replace(":4711", ":9007199254740993");
  await writeZip(place.file("a.zip"), bundleEntries(project, rows, { "status-history": `${line}\n` }));
  expect(await place.import(place.file("a.zip"))).toMatchObject({ exitCode: 0, err: "" });
  await writeProjectBundle(place.file("b.zip"), { sql, project });
  expect((await readEntries(place.file("b.zip")))["status-history.ndjson"]).toContain(
    '"seq":9007199254740993',
  );
  const [row] = await sql`select nextval('status_history_seq_seq')::text as next`;
  expect(row).toEqual({ next: "9007199254740994" });
});

test("import advances the sequence past a seq of 1", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "First" };
  const rows = sampleRows(project.id);
  Object.assign(rows["status-history"][0] ?? {}, { seq: 1 });
  await writeZip(place.file("a.zip"), bundleEntries(project, rows));
  expect(await place.import(place.file("a.zip"))).toMatchObject({ exitCode: 0 });
  const [row] = await place.db.sql`select nextval('status_history_seq_seq') as next`;
  expect(row).toEqual({ next: 2 });
});

test("import treats an existing JSON null and an exported null as the same value", async () => {
  await using place = await openImportPlace();
  const { sql } = place.db;
  const project = { id: crypto.randomUUID(), name: "Null" };
  await writeZip(place.file("a.zip"), bundleEntries(project, sampleRows(project.id)));
  await place.import(place.file("a.zip"));
  await sql`update analysis_summaries set system_metrics = 'null'`;
  await writeProjectBundle(place.file("b.zip"), { sql, project });
  expect(await place.import(place.file("b.zip"))).toMatchObject({ exitCode: 0, err: "" });
  await sql`update analysis_summaries set system_metrics = '{}'`;
  expect((await place.import(place.file("b.zip"))).err).toContain("already exists with different content");
});

test("import skips existing rows and adds new rows", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Grows" };
  const rows = sampleRows(project.id);
  await writeZip(place.file("a.zip"), bundleEntries(project, rows));
  await place.import(place.file("a.zip"));
  rows["issue-notes"].push({ ...rows["issue-notes"][0], id: crypto.randomUUID() });
  await writeZip(place.file("b.zip"), bundleEntries({ ...project, name: "Renamed since" }, rows));
  const { exitCode, out } = await runCommand(place.db.url, ["import", "--org", "here", place.file("b.zip")]);
  expect(exitCode).toBe(0);
  expect(out).toContain("Imported 9 rows, 1 of them new");
  const [row] = await place.db.sql`select (select count(*) from issue_notes) as notes, name from projects`;
  expect(row).toMatchObject({ notes: 2, name: "Grows" });
});

test("import refuses a row that exists with different content, and writes none of the project's rows", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Conflict" };
  const rows = sampleRows(project.id);
  await writeZip(place.file("a.zip"), bundleEntries(project, rows));
  await place.import(place.file("a.zip"));
  // The stored array contains a null. The first variant has 0 instead of the null. The second variant has a string instead of the
  // array.
  for (const recordData of [{ deep: [{ a: 0 }] }, { deep: "[{a: null}]" }]) {
    const [record] = rows["analysis-records"];
    const changed = { ...rows, "analysis-records": [{ ...record, recordData }] };
    changed["issue-notes"] = [...rows["issue-notes"], { ...rows["issue-notes"][0], id: crypto.randomUUID() }];
    await writeZip(place.file("b.zip"), bundleEntries(project, changed));
    const { exitCode, err } = await place.import(place.file("b.zip"));
    expect(exitCode).toBe(1);
    expect(err).toContain(`analysis-records: row ${record?.["id"]} already exists with different content`);
  }
  const [row] = await place.db.sql`select count(*) from issue_notes`;
  expect(row?.["count"]).toBe(1);
});

test("import commits projects one by one, so projects imported before a failure remain", async () => {
  await using place = await openImportPlace();
  const [good, bad] = [crypto.randomUUID(), crypto.randomUUID()];
  const spoilt = sampleRows(bad);
  spoilt.runs.pop();
  const path = place.file("org.zip");
  const parts = [
    { directory: "good__1", entries: bundleEntries({ id: good, name: "Good" }, sampleRows(good)) },
    { directory: "bad__2", entries: bundleEntries({ id: bad, name: "Bad" }, spoilt) },
  ];
  await writeZip(path, organizationEntries(parts));
  const { exitCode, err } = await place.import(path);
  expect(exitCode).toBe(1);
  expect(err).toContain('Cannot import project "Bad"');
  expect(err).toContain("(imported before: 1)");
  const projects = await place.db.sql`select id from projects`;
  expect(projects.map((row) => row["id"])).toEqual([good]);
});

test("two concurrent imports of a project both succeed and store each row once", async () => {
  await using place = await openImportPlace();
  const { sql } = place.db;
  const project = { id: crypto.randomUUID(), name: "Twice" };
  await writeZip(place.file("a.zip"), bundleEntries(project, sampleRows(project.id)));
  const imports = await sql.begin(async (tx) => {
    // The lock keeps either import from finishing before both have started.
    await tx`lock table occurrences in access exclusive mode`;
    const running = ["a.zip", "a.zip"].map((name) => place.import(place.file(name)));
    await waitFor(async () => {
      const [row] = await sql`
        select count(*) as count
        from pg_stat_activity
        where datname = current_database() and application_name = ${ADMIN_APPLICATION} and wait_event_type = 'Lock'`;
      return row?.["count"] === 2;
    });
    return { running };
  });
  for (const { exitCode, err } of await Promise.all(imports.running))
    expect([exitCode, err]).toEqual([0, ""]);
  expect(await countTrackerRows(place)).toBe(3);
});

test("import reports a lost connection, exits and leaves no rows behind", async () => {
  await using place = await openImportPlace();
  const { sql } = place.db;
  const project = { id: crypto.randomUUID(), name: "Lost" };
  await writeZip(place.file("a.zip"), bundleEntries(project, sampleRows(project.id)));
  const imported = await sql.begin(async (tx) => {
    // The import waits for this lock, so there is time to interrupt it.
    await tx`lock table occurrences in access exclusive mode`;
    const running = place.import(place.file("a.zip"));
    const isCut = async (): Promise<boolean> => {
      const [row] = await sql`
        select count(pg_terminate_backend(pid)) as count
        from pg_stat_activity
        where datname = current_database() and application_name = ${ADMIN_APPLICATION} and wait_event_type = 'Lock'`;
      return row?.["count"] === 1;
    };
    await waitFor(isCut);
    return running;
  });
  expect(imported.exitCode).toBe(1);
  expect(imported.err).toMatch(/^Cannot [^\n]+\n$/);
  expect(await countTrackerRows(place)).toBe(0);
});

test("import refuses a seq that would leave no values for other projects", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Greedy" };
  const rows = sampleRows(project.id);
  const line = JSON.stringify(rows["status-history"][0]).replace(":4711", ":4611686018427387905");
  await writeZip(place.file("a.zip"), bundleEntries(project, rows, { "status-history": `${line}\n` }));
  const { exitCode, err } = await place.import(place.file("a.zip"));
  expect([exitCode, err]).toEqual([1, expect.stringContaining("seq is 4611686018427387905")]);
  const [row] = await place.db.sql`
    select nextval('status_history_seq_seq')::text as next, (select count(*)::int from status_history) as rows`;
  expect(row).toEqual({ next: "1", rows: 0 });
});
