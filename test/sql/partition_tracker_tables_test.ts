/** Tracker tables partitioned by hash (project_id), an option for operators. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS } from "../../shared/exports/datasets.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { rowsQuery } from "../../sql/exports/dataset_file.ts";
import { countQuery } from "../../sql/exports/select_rows.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
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

/** Everything that a database says about its tables and their privileges, except partition names. */
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
    .map((line) => line.replace(" partition by HASH (project_id);", ";"));
  return [...rights, ...lines];
}

test("partitioning keeps rows, names, keys and rights, and an export its bytes", async () => {
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

test("what the script cannot keep stops it, and nothing has happened", async () => {
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

/** The plan nodes of a query in an export's snapshot, with the tables that they read. */
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

test("an export reads one partition of a table, in the order of its index, parents too", async () => {
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
      // Without a sort, the order of the rows must come from the index.
      expect(nodes.filter((node) => /Sort|Append/.test(node))).toEqual([]);
      const parents = dataset.parents.map((parent) => EXPORT_DATASETS[parent].table);
      const read = tables.map((table) => table.replace(/_\d$/, ""));
      expect(tables.every((table) => /_\d$/.test(table))).toBe(true);
      expect(read.toSorted()).toEqual([dataset.table, ...parents].toSorted());
    }
  }
});
