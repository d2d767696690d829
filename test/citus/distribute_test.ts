/** `tracker distribute`, and the properties of distributed tables: keys, time rules, the change log and unchanged exports. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { migrate } from "../../sql/migrate.ts";
import { readMigrations, toMigration } from "../../sql/migration_files.ts";
import { runCommand, runJson } from "../helpers/accounts/admin.ts";
import { postJob } from "../helpers/exports/export_job.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
} from "../helpers/exports/export_project.ts";
import { makeLargeProject } from "../helpers/exports/large_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { CitusCluster, inDatabase } from "../helpers/postgres/citus_cluster.ts";
import { openTestDatabase, openUndistributedDatabase } from "../helpers/postgres/database.ts";
import { listWaiting } from "../helpers/postgres/waiting_sessions.ts";
import { runSuites } from "../helpers/process/suites.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeProjectOnEach, workerOf } from "./projects.ts";

const cluster = new CitusCluster();
beforeAll(() => cluster.serve());
afterAll(() => cluster[Symbol.asyncDispose]());

const FLAGS = "include_deleted=true&include_archived=true&include_superseded=true";

/** Returns a digest of every file that each project can be exported as. */
async function digestAll(app: TestApp, projects: readonly Pick<ExportProject, "person" | "project">[]) {
  const digests: Record<string, string> = {};
  for (const exported of projects) {
    for (const path of [...EXPORT_DATASET_NAMES, "bundle"] as const) {
      for (const format of ["ndjson", "csv", "parquet"]) {
        const query = `?as_of=${AFTER_ALL}&format=${format}${path === "bundle" ? `&${FLAGS}` : ""}`;
        const response = await exportDataset(app, exported, path, query);
        expect([path, format, response.status]).toEqual([path, format, 200]);
        const bytes = await response.bytes();
        digests[`${exported.project.id} ${path} ${format}`] = Bun.hash(bytes).toString(36);
      }
    }
  }
  return digests;
}

async function setTimeZone(app: TestApp, zone: string): Promise<void> {
  const name = new URL(app.db.url).pathname.slice(1);
  for (const url of cluster.urls) {
    await inDatabase(url, "postgres", (sql) => sql.unsafe(`alter database ${name} set timezone = '${zone}'`));
  }
}

test("distributing keeps all rows, foreign keys, and the bytes of every export, even in another time zone", async () => {
  await using app = await openTestApp({ database: await openUndistributedDatabase() });
  const { owner, ownerUrl } = app.db;
  const tables = EXPORT_DATASET_NAMES.map((dataset) => EXPORT_DATASETS[dataset].table);
  const projects = [await makeExportProject(app), await makeExportProject(app)];
  // Large enough that its export opens a second connection.
  const large = await makeLargeProject(app, 25_000);
  const before = await digestAll(app, [...projects, large]);
  const [{ entries }] = await owner<[{ entries: number }]>`select count(*) as entries from tracker_changes`;
  const listKeys = () => owner`
    select conrelid::regclass::text as table, conname as name
    from pg_constraint
    where contype = 'f' and conrelid = any (${tables}::text[]::regclass[]) and confrelid = any (${tables}::text[]::regclass[])
    order by 1, 2`;
  const keys = [...(await listKeys())];

  const run = await runCommand(ownerUrl, ["tracker", "distribute"]);
  expect(run).toMatchObject({ exitCode: 0 });
  expect(run.out).toContain("Distributed issues: 25,006 rows\n");
  expect(run.out).toContain("Dropped the foreign key runs_project_id_fkey");
  expect(run.out).toContain("Each table has 4 shards on 2 nodes.\n");
  expect([...(await listKeys())]).toEqual(keys);
  const [{ left }] = await owner<
    [{ left: number }]
  >`select sum(pg_relation_size(logicalrelid))::int as left from pg_dist_partition`;
  expect(left).toBe(0);
  expect(await owner`select count(*) as entries from tracker_changes`).toMatchObject([{ entries }]);

  expect(run.out).toContain("Restart the API and the job runners.");
  // The running app does not know the nodes, so it must refuse. Otherwise it would read two snapshots over two connections, and
  // choose a cutoff without waiting for the nodes' writes.
  expect((await exportDataset(app, large, "issues")).status).toBe(503);
  expect((await postJob(app, large.person)).status).toBe(503);
  await using restarted = await openTestApp({
    database: { ...app.db, [Symbol.asyncDispose]: async () => {} },
  });
  await setTimeZone(restarted, "Asia/Tokyo");
  expect(await digestAll(restarted, [...projects, large])).toEqual(before);
  expect(await runCommand(ownerUrl, ["tracker", "distribute"])).toMatchObject({
    exitCode: 0,
    out: "The tracker tables are distributed already. Nothing was changed.\nEach table has 4 shards on 2 nodes.\n",
  });
  expect(await runJson(ownerUrl, ["tracker", "check"])).toMatchObject({ kind: "tables", differences: [] });
  const audited = await owner`select actor_type, details from audit_log where action = 'tracker.distribute'`;
  expect(audited).toMatchObject([
    { actorType: "operator", details: { droppedKeys: expect.stringContaining("runs_project_id_fkey") } },
  ]);
});

test("a connection lost during distribution is reported as an unavailable database, and nothing changes", async () => {
  await using db = await openUndistributedDatabase();
  const run = await db.owner.begin(async (tx) => {
    await tx`lock table runs in access exclusive mode`;
    const running = runCommand(db.ownerUrl, ["tracker", "distribute", "--json"]);
    const { pid } = await waitFor(async () => (await listWaiting(db.admin, "runs")).at(0));
    await db.admin`select pg_terminate_backend(${pid}::int, 5000)`;
    return running;
  });
  expect(run.err).toMatch(/^Cannot reach the database: [^\n]+\n$/);
  expect([run.exitCode, JSON.parse(run.out)]).toEqual([
    1,
    { error: { code: "DATABASE_UNAVAILABLE", message: run.err.trimEnd() } },
  ]);
  expect(await db.owner`select from pg_dist_partition`).toHaveLength(0);
});

test("tracker check names an undistributed table, and tracker distribute distributes that table", async () => {
  await using db = await openTestDatabase();
  await db.owner`select undistribute_table('tracker_changes')`;
  const check = await runCommand(db.ownerUrl, ["tracker", "check"]);
  expect(check.exitCode).toBe(1);
  expect(check.err).toContain("tracker_changes: not distributed, but");
  expect((await runCommand(db.ownerUrl, ["tracker", "distribute"])).out).toStartWith(
    "Distributed tracker_changes: 0 rows\n",
  );
  expect((await runCommand(db.ownerUrl, ["tracker", "check"])).exitCode).toBe(0);
});

test("tracker check names an index missing from a distributed table", async () => {
  await using db = await openTestDatabase();
  await db.owner`drop index issues_project_id_created_at_id_idx`;
  const check = await runCommand(db.ownerUrl, ["tracker", "check"]);
  expect(check.exitCode).toBe(1);
  expect(check.err).toContain("issues: no index on (project_id, created_at, id)");
  expect(check.err).not.toContain("runs: no index");
});

test("/metrics counts snapshots by node", async () => {
  await using app = await openTestApp();
  const projects = await makeProjectOnEach(cluster, app);
  for (const exported of projects) expect((await exportDataset(app, exported, "issues")).status).toBe(200);
  const metrics = await (await app.request("/metrics")).text();
  for (const url of cluster.urls.slice(1)) {
    const node = `127.0.0.1:${new URL(url).port}`;
    expect(metrics).toContain(`export_snapshots_total{database="node",node="${node}"} 1\n`);
  }
});

test("a later migration changes distributed tables like local tables", async () => {
  const app = await openTestApp();
  await using _app = app;
  const { owner, sql } = app.db;
  const later = [
    "alter table issues add column extra text",
    "alter table issues add constraint issues_extra_check check (extra <> '') not valid",
    "create index issues_extra_idx on issues (project_id, extra)",
  ].map((text, index) => toMigration(`2999010100000${index}_issues__extra`, text));
  const { applied } = await migrate(owner, { migrations: [...(await readMigrations()), ...later] });
  expect(applied).toEqual(later.map(({ name }) => name));
  const [exported] = await makeProjectOnEach(cluster, app);
  if (!exported) throw new Error("Cannot go on: there is no project");
  const { id } = exported.project;
  await sql`update issues set extra = 'later' where project_id = ${id}`;
  await expect(Promise.resolve(sql`update issues set extra = '' where project_id = ${id}`)).rejects.toThrow(
    "extra_check",
  );
  expect((await exportDataset(app, exported, "issues")).status).toBe(200);
  expect((await runCommand(app.db.ownerUrl, ["tracker", "check"])).exitCode).toBe(0);
});

test("time checks on distributed tables are validated only after rows with wrong times are corrected", async () => {
  await using app = await openTestApp();
  const { owner, ownerUrl } = app.db;
  const [exported] = await makeProjectOnEach(cluster, app);
  if (!exported) throw new Error("Cannot go on: there is no project");
  const migrations = await readMigrations();
  const [added] = migrations.filter(({ name }) => name.endsWith("_issues__times__check"));
  const columns = ["resolved_at", "deleted_at", "created_at", "updated_at"];
  for (const column of columns)
    await owner.unsafe(`alter table issues drop constraint issues_${column}_check`);
  const id = exported.ids["open issue"] ?? "";
  const project = exported.project.id;
  await owner`update issues set resolved_at = 'infinity' where project_id = ${project} and id = ${id}`;
  const notices: string[] = [];
  const onNotice = (message: string) => void notices.push(message);
  const later = [...migrations, toMigration("29990101000000_issues__times__check", added?.text ?? "")];
  const check = () => runCommand(ownerUrl, ["tracker", "check"]);

  await migrate(owner, { migrations: later, onNotice });
  expect(notices).toEqual([expect.stringMatching(/^Table "issues" has times outside the years 1 to 9999/)]);
  expect((await check()).err).toContain(`issues.resolved_at: row ${id} has infinity, outside`);
  expect((await exportDataset(app, exported, "issues", `?as_of=${AFTER_ALL}`)).status).toBe(422);
  const refused = owner`update issues set updated_at = '20231-05-01' where project_id = ${project} and id <> ${id}`;
  await expect(Promise.resolve(refused)).rejects.toThrow("issues_updated_at_check");

  await owner`update issues set resolved_at = null where project_id = ${project} and id = ${id}`;
  await migrate(owner, { migrations: later, onNotice });
  expect([notices.length, (await check()).exitCode]).toEqual([1, 0]);
  expect((await exportDataset(app, exported, "issues", `?as_of=${AFTER_ALL}`)).status).toBe(200);
});

test("a new row gets its transaction's start time on the coordinator, even in a long transaction", async () => {
  await using app = await openTestApp();
  const [exported] = await makeProjectOnEach(cluster, app);
  if (!exported) throw new Error("Cannot go on: there is no project");
  const projectId = exported.project.id;
  const worker = await workerOf(cluster, app, projectId);
  // The test database sets `ulr.backfill`, so its workers accept rows with any time.
  const name = new URL(app.db.url).pathname.slice(1);
  await inDatabase(cluster.urls[worker + 1] ?? "", "postgres", (sql) =>
    sql.unsafe(`alter database ${name} reset ulr.backfill`),
  );
  await using tracker = await openTestApp({ database: { ...app.db, [Symbol.asyncDispose]: async () => {} } });
  const insert = (time: string) =>
    tracker.deps.sql.unsafe(
      `insert into runs (project_id, run_number, workflow_type, "timestamp", created_at)
       values ($1, (random() * 1e9)::int, 'test', now(), ${time}) returning created_at`,
      [projectId],
    );
  await insert("now()");
  await expect(insert("now() - interval '1 ms'")).rejects.toThrow("must be the start of its transaction");
  await tracker.deps.sql.begin(async (tx) => {
    const [{ start }] = await tx<[{ start: string }]>`select now()::timestamptz(3) as start`;
    await Bun.sleep(50);
    const [row] = await tx<[{ createdAt: string }]>`
      insert into runs (project_id, run_number, workflow_type, "timestamp") values (${projectId}, 7777, 'test', now())
      returning created_at`;
    expect(row.createdAt).toBe(start);
    await tx`update runs set archive_reason = 'x' where project_id = ${projectId} and run_number = 7777`;
    const changes = await tx<{ at: string; kind: string }[]>`
      select at, kind from tracker_changes where project_id = ${projectId} and at >= ${start}`;
    // An insert at its transaction's time is not logged. An update is logged with its transaction's time.
    expect(changes.map(({ at, kind }) => [at, kind])).toEqual([[start, "row"]]);
  });
  await tracker.deps.sql`delete from runs where project_id = ${projectId} and run_number = 7777`;
  const kinds = await app.db.sql<{ kind: string }[]>`
    select kind from tracker_changes where project_id = ${projectId} and dataset = 'runs' and kind <> 'visibility' order by at desc limit 2`;
  expect(kinds.map(({ kind }) => kind)).toContain("deletion");
});

test("rows that move between nodes are not logged as changes", async () => {
  await using app = await openTestApp();
  const [exported] = await makeProjectOnEach(cluster, app);
  if (!exported) throw new Error("Cannot go on: there is no project");
  const count = async () => (await app.db.owner`select count(*) as entries from tracker_changes`)[0];
  const before = await count();
  await moveProject(app, exported.project.id);
  expect(await workerOf(cluster, app, exported.project.id)).toBe(1);
  expect(await count()).toEqual(before);
  const response = await exportDataset(app, exported, "bundle", `?as_of=${AFTER_ALL}`);
  expect(response.status).toBe(200);
});

async function moveProject(app: TestApp, projectId: string): Promise<void> {
  const from = await workerOf(cluster, app, projectId);
  const [source, target] = [from, 1 - from].map((worker) =>
    Number(new URL(cluster.urls[worker + 1] ?? "").port),
  );
  await app.db.admin`
    select citus_move_shard_placement(
      get_shard_id_for_distribution_column('runs', ${projectId}::uuid), '127.0.0.1', ${source ?? 0}, '127.0.0.1', ${target ?? 0},
      shard_transfer_mode => 'block_writes'
    )`;
}

/**
 * Tests to run on the cluster, by file. The first test shows that the bytes of every format are unchanged. These tests cover
 * decisions made on nodes, and writes through the coordinator.
 */
const SUITES = {
  // Imports write to several nodes in one statement, and use a sequence of the coordinator.
  "test/api/admin/import/command_test.ts": [
    "import keeps a seq",
    "import skips existing rows",
    "import refuses a row that exists",
  ],
  // Exported values depend on the nodes' session settings.
  "test/api/exports/dataset/values_test.ts": [
    "exports preserve every digit of JSON",
    "numbers, booleans, timestamps",
  ],
  // Visibility rules and filters join shards.
  "test/api/exports/dataset/visibility_test.ts": [
    "a dataset includes rows by its flags",
    "filters can be repeated",
  ],
  // Triggers on the nodes write the change log.
  "test/api/exports/deleted_rows_test.ts": [
    "applying deletions",
    "an increment that cannot be exact",
    "a bundle of changes",
    "slices of a dataset",
  ],
  "test/sql/exports/select_rows/increments_test.ts": [
    "a copy kept up",
    "a row is kept",
    "a row comes",
    "a row that changed",
  ],
  "test/jobs/delete_old_records_test.ts": ["the log of tracker rows"],
  // Each project is read on its own node.
  "test/api/exports/estimate_test.ts": ["an estimate counts"],
  "test/jobs/build_org_export_test.ts": ["a job with since"],
  "test/system/export_round_trip_test.ts": ["an organization export imported into another database"],
};

test("the tests for exports, increments, jobs and imports pass on a cluster", () => runSuites(SUITES));
