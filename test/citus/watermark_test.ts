/** The export cutoff on a cluster: open sessions of the coordinator, and transactions that it leaves behind on nodes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPool } from "../../sql/connection/pool.ts";
import { postJob } from "../helpers/exports/export_job.ts";
import { type ExportProject, exportDataset, ndjsonRows } from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { CitusCluster, inDatabase } from "../helpers/postgres/citus_cluster.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeProjectOnEach } from "./projects.ts";

const cluster = new CitusCluster();
beforeAll(() => cluster.serve());
afterAll(() => cluster[Symbol.asyncDispose]());

function databaseOf(app: TestApp): string {
  return new URL(app.db.url).pathname.slice(1);
}

async function openPair(): Promise<{ app: TestApp; first: ExportProject; second: ExportProject }> {
  const app = await openTestApp();
  const [first, second] = await makeProjectOnEach(cluster, app);
  if (!first || !second) throw new Error("Cannot go on: there are not two projects");
  // Test servers commit asynchronously, and these tests crash the coordinator. The checkpoint writes the rows to disk.
  await app.db.admin`checkpoint`;
  return { app, first, second };
}

const insertRun = (projectId: string, number: number) =>
  `insert into runs (project_id, run_number, workflow_type, "timestamp") values ('${projectId}', ${number}, 'test', now())`;

/** Kills a session of the coordinator, which ends all its other sessions, and waits for the crash recovery. */
async function killSession({ db }: TestApp, pid: number): Promise<void> {
  // Crash recovery starts a new checkpointer. Until the coordinator notices the crash, it still lists the old one.
  const findCheckpointer = async (): Promise<number | null> => {
    const [found] = await db.admin<{ pid: number }[]>`
      select pid from pg_stat_activity where backend_type = 'checkpointer'`;
    return found?.pid ?? null;
  };
  const before = await findCheckpointer();
  process.kill(pid, "SIGKILL");
  await waitFor(async () => {
    const now = await findCheckpointer().catch(() => null);
    return now !== null && now !== before;
  });
}

async function runNumbers(app: TestApp, exported: ExportProject, query = ""): Promise<unknown[]> {
  const response = await exportDataset(app, exported, "runs", query);
  expect(response.status).toBe(200);
  return (await ndjsonRows(response)).map(({ runNumber }) => runNumber);
}

test("an open transaction on the coordinator holds back the cutoff, so that its rows come after the cutoff", async () => {
  const { app, first } = await openPair();
  await using _app = app;
  const writer = openPool(app.db.url, { applicationName: "tracker", max: 1 });
  let before = "";
  await writer.begin(async (tx) => {
    await tx.unsafe(insertRun(first.project.id, 500));
    const held = await exportDataset(app, first, "runs");
    before = held.headers.get("x-export-as-of") ?? "";
    expect((await ndjsonRows(held)).map(({ runNumber }) => runNumber)).not.toContain(500);
  });
  await writer.end();
  expect(await runNumbers(app, first)).toContain(500);
  // The earlier cutoff still selects the same rows.
  expect(await runNumbers(app, first, `?as_of=${before}`)).not.toContain(500);
});

test("a silent node does not hold back the cutoff for projects on other nodes", async () => {
  const { app, second } = await openPair();
  await using _app = app;
  const [silent] = cluster.workers;
  silent?.freeze();
  try {
    // A background worker of Citus waits for the node in an open transaction.
    await waitFor(async () => {
      const waiting = await app.db.admin`
        select from pg_stat_activity
        where datname = current_database() and backend_type like 'Citus%'
          and clock_timestamp() - xact_start > interval '1 second'`;
      return waiting.length > 0;
    });
    await app.db.sql.unsafe(insertRun(second.project.id, 900));
    expect(await runNumbers(app, second)).toContain(900);
  } finally {
    silent?.thaw();
  }
});

test("a prepared transaction left behind by a coordinator blocks its node's exports until the rollback", async () => {
  const { app, first, second } = await openPair();
  await using _app = app;
  const worker = cluster.urls[1] ?? "";
  const [{ shard }] = await app.db.sql<[{ shard: string }]>`
    select shard from find_tracker_shards(${first.project.id}) where tracker_table = 'issues'`;
  // Prepares a transaction like one left behind by a coordinator that never returns.
  await inDatabase(worker, databaseOf(app), (sql) =>
    sql.unsafe(
      `begin; set local citus.enable_manual_changes_to_shards = on; set local session_replication_role = replica;
       update ${shard} set title = title; prepare transaction 'citus_5_999999_8_1'`,
    ),
  );
  const [blocked, other, job] = await Promise.all([
    exportDataset(app, first, "runs"),
    exportDataset(app, second, "runs"),
    postJob(app, first.person),
  ]);
  await inDatabase(worker, databaseOf(app), (sql) => sql.unsafe("rollback prepared 'citus_5_999999_8_1'"));
  expect([blocked.status, other.status, job.status]).toEqual([503, 200, 503]);
  const { error } = (await blocked.json()) as { error: { message: string } };
  expect(error.message).not.toMatch(/citus|127\.0\.0\.1|999999/);
  expect(blocked.headers.get("retry-after")).not.toBeNull();
  expect((await exportDataset(app, first, "runs")).status).toBe(200);
});

test("a prepared transaction that wrote no tracker row does not hold back the cutoff", async () => {
  const { app, first, second } = await openPair();
  await using _app = app;
  const gid = `other_${databaseOf(app)}`;
  for (const url of cluster.urls) {
    await inDatabase(url, databaseOf(app), (sql) =>
      sql.unsafe(
        `create table others (id int); begin; insert into others values (1); prepare transaction '${gid}'`,
      ),
    );
  }
  await app.db.sql.unsafe(insertRun(first.project.id, 800));
  const answers = [
    await runNumbers(app, first),
    await runNumbers(app, second),
    (await postJob(app, first.person)).status,
  ];
  for (const url of cluster.urls) {
    await inDatabase(url, databaseOf(app), (sql) => sql.unsafe(`rollback prepared '${gid}'`));
  }
  expect(answers).toEqual([expect.arrayContaining([800]), expect.any(Array), 201]);
});

test("any prepared transaction on a node without Citus metadata blocks the node's exports", async () => {
  const { app, first } = await openPair();
  await using _app = app;
  const worker = cluster.urls[1] ?? "";
  await inDatabase(worker, databaseOf(app), (sql) =>
    sql.unsafe(
      "create table unknown_rows (id int); begin; insert into unknown_rows values (1); prepare transaction 'unknown'",
    ),
  );
  expect((await exportDataset(app, first, "runs")).status).toBe(200);
  const { hostname, port } = new URL(worker);
  const sync = (does: "start" | "stop") =>
    inDatabase(cluster.urls[0] ?? "", databaseOf(app), (sql) =>
      sql.unsafe(`select ${does}_metadata_sync_to_node('${hostname}', ${port})`),
    );
  await sync("stop");
  const held = await exportDataset(app, first, "runs");
  await inDatabase(worker, databaseOf(app), (sql) => sql.unsafe("rollback prepared 'unknown'"));
  await sync("start");
  expect(held.status).toBe(503);
});

test("a coordinator killed during a commit adds no row before a cutoff that was already returned", async () => {
  const { app, first, second } = await openPair();
  await using _app = app;
  const writer = openPool(app.db.url, { applicationName: "tracker", max: 1 });
  const [, frozen] = cluster.workers;
  let pid = 0;
  const committing = writer
    .begin(async (tx) => {
      [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
      await tx.unsafe(insertRun(first.project.id, 600));
      await tx.unsafe(insertRun(second.project.id, 600));
      // The first node prepares the transaction, and the second does not respond.
      frozen?.freeze();
    })
    .then(
      () => "committed",
      () => "failed",
    );
  try {
    await waitFor(async () => {
      const prepared = await inDatabase(
        cluster.urls[1] ?? "",
        databaseOf(app),
        (sql) => sql`select from pg_prepared_xacts where database = current_database()`,
      );
      return prepared.length > 0;
    });
    // Killing one session makes the coordinator end all others and recover.
    process.kill(pid, "SIGKILL");
  } finally {
    frozen?.thaw();
  }
  expect(await committing).toBe("failed");
  await writer.end({ timeout: 1 });
  // Every cutoff that an export returns now must select the same rows later.
  const answers = new Map<string, unknown[]>();
  await waitFor(async () => {
    const response = await exportDataset(app, first, "runs").catch(() => null);
    if (response?.status !== 200) return false;
    const asOf = response.headers.get("x-export-as-of") ?? "";
    answers.set(
      asOf,
      (await ndjsonRows(response)).map(({ runNumber }) => runNumber),
    );
    return answers.size >= 3;
  });
  await waitFor(async () => {
    const prepared = await inDatabase(
      cluster.urls[1] ?? "",
      databaseOf(app),
      (sql) => sql`select from pg_prepared_xacts where database = current_database()`,
    );
    return prepared.length === 0;
  });
  for (const [asOf, numbers] of answers)
    expect(await runNumbers(app, first, `?as_of=${asOf}`)).toEqual(numbers);
  expect((await runNumbers(app, first)).includes(600)).toBe((await runNumbers(app, second)).includes(600));
});

test("a statement that outlives its session on the coordinator holds back the cutoff", async () => {
  const { app, first } = await openPair();
  await using _app = app;
  const worker = cluster.urls[1] ?? "";
  const shard = await app.db.sql<
    { shard: string }[]
  >`select shard from find_tracker_shards(${first.project.id}) where tracker_table = 'runs'`;
  const writer = openPool(app.db.url, { applicationName: "tracker", max: 1 });
  const blocker = openPool(worker.replace(/\/[^/]*$/, `/${databaseOf(app)}`), {
    applicationName: "psql",
    max: 1,
  });
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const blocking = blocker.begin(async (tx) => {
    await tx.unsafe(
      `set local citus.enable_manual_changes_to_shards = on; lock table ${shard[0]?.shard} in exclusive mode`,
    );
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const writing = writer.unsafe(insertRun(first.project.id, 700)).catch(() => "gone");
  const onNode = () =>
    inDatabase(
      worker,
      databaseOf(app),
      (sql) => sql`
      select from pg_stat_activity where query like '%INSERT INTO%runs%' and wait_event_type = 'Lock' and datname = current_database()`,
    );
  await waitFor(async () => (await onNode()).length === 1);
  // Kills the session without notifying the node.
  const [{ pid }] = await app.db.admin<[{ pid: number }]>`
    select pid from pg_stat_activity where application_name = 'tracker' and datname = current_database()`;
  await killSession(app, pid);
  expect(await writing).toBe("gone");
  expect((await onNode()).length).toBe(1);
  const held = await exportDataset(app, first, "runs");
  expect(held.status).toBe(503);
  // The database hides no session, so the response does not ask for a grant.
  expect(await held.json()).toMatchObject({
    error: { message: expect.stringContaining("An open transaction") },
  });
  release.resolve();
  await blocking;
  await waitFor(async () => (await onNode()).length === 0);
  const asOfNow = await exportDataset(app, first, "runs");
  const numbers = (await ndjsonRows(asOfNow)).map(({ runNumber }) => runNumber);
  expect(await runNumbers(app, first, `?as_of=${asOfNow.headers.get("x-export-as-of")}`)).toEqual(numbers);
  await Promise.all([writer.end({ timeout: 1 }), blocker.end({ timeout: 1 })]);
});
