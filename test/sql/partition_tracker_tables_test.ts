/** Tests tracker tables that an operator has partitioned by hash (project_id). */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS } from "../../shared/exports/datasets.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { rowsQuery } from "../../sql/exports/dataset_file.ts";
import { countQuery } from "../../sql/exports/select_rows.ts";
import { migrate } from "../../sql/migrate.ts";
import { runJson } from "../helpers/accounts/admin.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
  ndjsonRows,
} from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { describeSchema } from "../schema/schema_snapshot.ts";

const SCRIPT = new URL("../../sql/partition_tracker_tables.sql", import.meta.url);
const TRACKER_TABLES = Object.values(EXPORT_DATASETS).map(({ table }) => table);

async function partition(sql: Pool): Promise<void> {
  const text = await Bun.file(SCRIPT).text();
  await sql.begin((tx) => tx.unsafe(text));
}

async function readBundle(app: TestApp, exported: ExportProject): Promise<Uint8Array> {
  const flags = "include_deleted=true&include_archived=true&include_superseded=true";
  const response = await exportDataset(app, exported, "bundle", `?as_of=${AFTER_ALL}&${flags}`);
  expect(response.status).toBe(200);
  return response.bytes();
}

/** Describes the schema and the privileges on tracker tables, except partitions and deletion triggers. */
async function describeTables(sql: Pool): Promise<readonly unknown[]> {
  const rights = await sql`
    select c.relname, array(select unnest(c.relacl)::text order by 1) as acl, a.attname, a.attacl::text, pg_get_userbyid(c.relowner) as owner
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relname = any (${TRACKER_TABLES})
    order by c.relname, a.attnum`;
  const partition = new RegExp(`\\b(${TRACKER_TABLES.join("|")})_\\d\\b`);
  const lines = (await describeSchema(sql))
    .split("\n")
    .filter((line) => !partition.test(line))
    // Skips the deletion triggers. On partitioned tables, they run per row instead of per statement, because moves between
    // partitions do not fire statement triggers for deletions.
    .filter((line) => !/^CREATE TRIGGER [a-z_]+_log_delete_trigger /.test(line))
    .map((line) => line.replace(" partition by HASH (project_id);", ";"));
  return [...rights, ...lines];
}

test("keeps rows, names, keys, privileges and export bytes when tables are partitioned", async () => {
  await using app = await openTestApp();
  const { sql, owner } = app.db;
  const projects = [await makeExportProject(app), await makeExportProject(app), await makeExportProject(app)];
  await owner`grant select, insert on runs to pg_monitor`;
  await owner`grant update (title) on issues to pg_monitor`;
  const before = await Promise.all(projects.map((exported) => readBundle(app, exported)));
  const described = await describeTables(sql);
  await partition(owner);
  for (const [index, exported] of projects.entries()) {
    expect(Buffer.compare(await readBundle(app, exported), before[index] ?? Buffer.alloc(0))).toBe(0);
  }
  expect(await describeTables(sql)).toEqual(described);
  const [issue] = projects.map(({ ids }) => ids["open issue"]);
  const change = { projectId: projects[0]?.project.id, issueId: issue, newStatus: "completed" };
  const [{ seq } = { seq: 0 }] = await sql<{ seq: number }[]>`
    insert into status_history ${sql(change)} returning seq`;
  expect(seq).toBeGreaterThan(3);
});

/** Creates two projects whose rows are in different partitions of every table. */
async function makeApart(app: TestApp): Promise<[ExportProject, ExportProject]> {
  const first = await makeExportProject(app);
  while (true) {
    const second = await makeExportProject(app);
    const partitions = await app.db.sql`
      select distinct tableoid from issues where project_id in (${first.project.id}, ${second.project.id})`;
    if (partitions.length === 2) return [first, second];
  }
}

/** Reads an increment of a project. Returns its cutoff, the ids of deleted rows, and the ids of changed notes. */
async function followNotes(app: TestApp, exported: ExportProject, since: string) {
  const asOf = await readCutoff(app, exported);
  const read = async (path: string) => {
    const response = await app.request(
      `/api/v1/export/projects/${exported.project.id}/${path}?since=${since}&as_of=${asOf}`,
      { key: exported.person.key },
    );
    expect(response.status).toBe(200);
    return (await ndjsonRows(response)).map(({ id }) => id);
  };
  return { asOf, deleted: await read("deleted"), notes: await read("issue-notes") };
}

/** Takes a full export of a project's notes and returns its cutoff. */
async function readCutoff(app: TestApp, exported: ExportProject): Promise<string> {
  const response = await exportDataset(app, exported, "issue-notes");
  await response.text();
  return response.headers.get("X-Export-Next-Since") ?? "";
}

/** Moves the note of a project's open issue to the open issue of another project. */
async function moveNote(app: TestApp, [from, to]: readonly ExportProject[], backfill: "on" | "off") {
  const key = { projectId: to?.project.id, issueId: to?.ids["open issue"] };
  await app.db.sql.begin(async (tx) => {
    await tx`select set_config('ulr.backfill', ${backfill}, true)`;
    await tx`
      update issue_notes set ${tx(key)}
      where project_id = ${from?.project.id ?? ""} and id = ${from?.ids["open note"] ?? ""}`;
  });
}

async function expectMoveFollowed(app: TestApp): Promise<void> {
  const [from, to] = await makeApart(app);
  const note = from.ids["open note"];
  const before = await followNotes(app, from, await readCutoff(app, from));
  const beforeThere = await followNotes(app, to, await readCutoff(app, to));
  expect([before.deleted, beforeThere.notes]).toEqual([[], []]);
  await expect(moveNote(app, [from, to], "off")).rejects.toThrow('created_at of a new row of "issue_notes');
  await moveNote(app, [from, to], "on");
  const after = await followNotes(app, from, before.asOf);
  expect(after).toMatchObject({ deleted: [note], notes: [] });
  const there = await followNotes(app, to, beforeThere.asOf);
  expect(there).toMatchObject({ deleted: [], notes: [note] });
  // A deletion is logged as in a table without partitions.
  await app.db.sql`delete from issue_notes where id = ${note ?? ""}`;
  expect(await followNotes(app, to, there.asOf)).toMatchObject({ deleted: [note], notes: [] });
  expect(await followNotes(app, from, after.asOf)).toMatchObject({ deleted: [], notes: [] });
}

test("removes a moved row from copies of its old project, and adds it to copies of the new project", async () => {
  await using app = await openTestApp();
  await partition(app.db.owner);
  await expectMoveFollowed(app);
});

test("logs moved rows after an upgrade, in tables that an earlier release partitioned", async () => {
  await using app = await openTestApp();
  const { owner } = app.db;
  await partition(owner);
  for (const { name, table } of Object.values(EXPORT_DATASETS)) {
    await owner.unsafe(`
      drop trigger ${table}_log_delete_trigger on ${table};
      create trigger ${table}_log_delete_trigger after delete on ${table} referencing old table as deleted_rows
      for each statement execute function log_tracker_deletions('${name}')`);
  }
  const migration = "20261127070000_tracker_tables__moves__log";
  await owner`delete from schema_migrations where name = ${migration}`;
  expect((await migrate(owner)).applied).toEqual([migration]);
  await expectMoveFollowed(app);
  expect(await runJson(app.db.url, ["tracker", "check"])).toMatchObject({ differences: [] });
});

test("refuses to partition a table if the script cannot keep a dependent view or trigger", async () => {
  await using app = await openTestApp();
  const { owner } = app.db;
  await owner`create view open_issues as select * from issues where status = 'open'`;
  await expect(partition(owner)).rejects.toThrow("other objects depend on it");
  await owner`drop view open_issues`;
  await owner`create trigger touched before update on runs for each row execute function suppress_redundant_updates_trigger()`;
  await expect(partition(owner)).rejects.toThrow("Cannot partition runs");
  await owner`drop trigger touched on runs`;
  await partition(owner);
  await expect(partition(owner)).rejects.toThrow("partitioned already");
});

/** Returns the plan nodes of a query in an export's snapshot, and the tables that they read. */
async function planOf(app: TestApp, query: string): Promise<{ nodes: string[]; tables: string[] }> {
  const { signal } = new AbortController();
  const snapshot = await openExportSnapshot(app.deps.exportSql, { control: app.deps.sql, signal });
  try {
    const [row] = await snapshot.run((tx) => tx.unsafe(`explain (format json) ${query}`));
    const plan = JSON.stringify(row);
    const all = (key: string) =>
      [...plan.matchAll(new RegExp(`"${key}":"([^"]+)"`, "g"))].map((m) => m[1] ?? "");
    return { nodes: all("Node Type"), tables: all("Relation Name") };
  } finally {
    await snapshot.close();
  }
}

test("reads only one partition of each table in an export, in index order", async () => {
  await using app = await openTestApp();
  const { project } = await makeExportProject(app);
  await app.db.sql`
    insert into runs (project_id, run_number, workflow_type, "timestamp", created_at)
    select ${project.id}, n, 'review', now(), timestamptz '2026-01-01' + n * interval '1 second'
    from generate_series(1000, 5000) as n`;
  await partition(app.db.owner);
  const visibility = {
    includeDeleted: false,
    includeArchived: false,
    includeSuperseded: false,
    includeResolved: false,
  };
  const selection = {
    trackerSchema: "public",
    projectId: project.id,
    asOf: AFTER_ALL,
    visibility,
    filters: NO_FILTERS,
  };
  for (const dataset of Object.values(EXPORT_DATASETS)) {
    for (const query of [rowsQuery(dataset, selection, "ndjson"), countQuery(dataset, selection, 100)]) {
      const { nodes, tables } = await planOf(app, query);
      // Without a Sort node, the rows come in index order. Without an Append node, the plan reads one partition of each table.
      expect(nodes.filter((node) => /Sort|Append/.test(node))).toEqual([]);
      const parents = dataset.parents.map((parent) => EXPORT_DATASETS[parent].table);
      const read = tables.map((table) => table.replace(/_\d$/, ""));
      expect(tables.every((table) => /_\d$/.test(table))).toBe(true);
      expect(read.toSorted()).toEqual([dataset.table, ...parents].toSorted());
    }
  }
});
