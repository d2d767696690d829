/** Exports from a streaming replica that is up to date, behind or down. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { EXPORT_APPLICATION } from "../../../sql/connection/application_names.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
  ndjsonRows,
} from "../../helpers/exports/export_project.ts";
import { beginDownload } from "../../helpers/exports/slow_download.ts";
import { makeWideProject, WIDE_ISSUES } from "../../helpers/exports/wide_project.ts";
import { openTestApp, type TestApp, testRequest } from "../../helpers/http/app.ts";
import { openListeningApp } from "../../helpers/http/listening_app.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { openReplicatedServer, type ReplicatedServer } from "../../helpers/postgres/replicated_server.ts";
import { listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { startApi } from "../../helpers/process/api_process.ts";
import { waitFor } from "../../helpers/wait_for.ts";

let server: ReplicatedServer;

beforeAll(async () => {
  server = await openReplicatedServer();
});

afterEach(async () => {
  await server.holdReplay(false);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function openReplicatedApp(): Promise<TestApp> {
  const app = await openTestApp({ servers: server });
  await server.catchUp(app.db.sql);
  return app;
}

/** Returns a function that counts the app's snapshots on each server since its previous call. */
function snapshotCounter(app: TestApp): () => Promise<{ primary: number; replica: number }> {
  const seen = { primary: 0, replica: 0 };
  return async () => {
    const since = { primary: 0, replica: 0 };
    for (const { labels, value } of (await metricOf(app, "export_snapshots_total")).values) {
      const database = labels["database"] === "replica" ? "replica" : "primary";
      since[database] = value - seen[database];
      seen[database] = value;
    }
    return since;
  };
}

async function metricOf(app: TestApp, name: string) {
  const metric = app.deps.metrics.registry.getSingleMetric(name);
  if (!metric) throw new Error(`Cannot read the metric ${name}: there is none`);
  return metric.get();
}

/** Counts the exports that wait until the replica has caught up. */
async function countWaiting(app: TestApp): Promise<number> {
  const [row] = await server.replica<[{ count: number }]>`
    select count(*) from pg_stat_activity
    where datname = ${databaseOf(app)} and application_name = ${EXPORT_APPLICATION}
      and xact_start is not null and query like '%pg_last_wal_replay_lsn%'`;
  return row.count;
}

/** Returns the start time of the latest export query on the replica. Queries of the replication lag do not count. */
async function lastAsked(app: TestApp): Promise<string> {
  const [row] = await server.replica<[{ at: string }]>`
    select max(query_start) as at from pg_stat_activity
    where datname = ${databaseOf(app)} and application_name = ${EXPORT_APPLICATION} and query not like '%lag%'`;
  return row.at;
}

/** Returns the process ids of the app's export sessions that wait for a lock on the replica. */
async function listWaitingOnReplica(app: TestApp): Promise<number[]> {
  const rows = await server.replica<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = ${databaseOf(app)} and application_name = ${EXPORT_APPLICATION} and wait_event_type = 'Lock'`;
  return rows.map(({ pid }) => pid);
}

/** Counts the app's export sessions, and how many of them are in a transaction. */
async function countExporters(sql: Pool, app: TestApp): Promise<{ all: number; open: number }> {
  const [row] = await sql<[{ all: number; open: number }]>`
    select count(*) as all, count(xact_start) as open from pg_stat_activity
    where datname = ${databaseOf(app)} and application_name = ${EXPORT_APPLICATION} and backend_type = 'client backend'`;
  return row;
}

function databaseOf(app: TestApp): string {
  return new URL(app.db.url).pathname.slice(1);
}

/** Runs `act` while a table is locked on the primary and, because locks are replayed, on the replica. */
async function whileLocked(app: TestApp, table: string, act: () => Promise<void>): Promise<void> {
  await app.db.owner.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`;
    await act();
  });
}

async function runIds(app: TestApp, exported: ExportProject, query = ""): Promise<unknown[]> {
  const response = await exportDataset(app, exported, "runs", query);
  expect(response.status).toBe(200);
  return (await ndjsonRows(response)).map(({ id }) => id);
}

/** Repeats the export until its snapshot is from the replica. */
async function untilBack(app: TestApp, exported: ExportProject): Promise<void> {
  const count = snapshotCounter(app);
  await count();
  await waitFor(async () => {
    await runIds(app, exported);
    return (await count()).replica > 0;
  });
}

test("datasets, bundles and estimates are read from the replica, including rows committed just before", async () => {
  await using app = await openReplicatedApp();
  const count = snapshotCounter(app);
  const exported = await makeExportProject(app);
  expect(await runIds(app, exported)).toEqual([exported.ids["live run"]]);
  for (let n = 0; n < 20; n += 1) {
    const run = await app.make.run({ projectId: exported.project.id });
    expect((await runIds(app, exported)).at(-1)).toBe(run.id);
  }
  expect((await (await exportDataset(app, exported, "bundle")).arrayBuffer()).byteLength).toBeGreaterThan(0);
  expect((await exportDataset(app, exported, "estimate")).status).toBe(200);
  expect(await count()).toEqual({ primary: 0, replica: 23 });
});

test("DATABASE_REPLICA_URL configures the replica, and metrics report whether it is used", async () => {
  await using app = await openReplicatedApp();
  const { databaseUrl, databaseReplicaUrl, dataDir } = app.deps.config;
  const { person, project, ids } = await makeExportProject(app);
  await using api = await startApi({
    DATABASE_URL: databaseUrl,
    DATABASE_REPLICA_URL: databaseReplicaUrl ?? "",
    DATA_DIR: dataDir,
  });
  const response = await api.request(`/api/v1/export/projects/${project.id}/runs`, { key: person.key });
  expect((await ndjsonRows(response)).map(({ id }) => id)).toEqual([ids["live run"]]);
  const metrics = (await (await api.request("/metrics")).text()).split("\n");
  expect(metrics).toContain('export_snapshots_total{database="replica"} 1');
  expect(metrics).toContain("database_replica_used 1");
});

test("database_replica_used reports a lost and regained replica even in a process without exports", async () => {
  await using app = await openReplicatedApp();
  const readUsed = async () => (await metricOf(app, "database_replica_used")).values[0]?.value;
  await waitFor(async () => (await readUsed()) === 1);
  await server.cutOff(true);
  await waitFor(async () => (await readUsed()) === 0);
  await server.cutOff(false);
  await waitFor(async () => (await readUsed()) === 1);
});

test("an export waits for a replica that is behind", async () => {
  await using app = await openReplicatedApp();
  const count = snapshotCounter(app);
  const exported = await makeExportProject(app);
  await runIds(app, exported);
  await server.holdReplay(true);
  const run = await app.make.run({ projectId: exported.project.id });
  const exporting = runIds(app, exported);
  await waitFor(async () => (await countWaiting(app)) === 1);
  await server.holdReplay(false);
  expect((await exporting).at(-1)).toBe(run.id);
  expect(await count()).toEqual({ primary: 0, replica: 2 });
});

test("a replica that stays behind is not used until it has caught up, with or without as_of", async () => {
  await using app = await openReplicatedApp();
  const count = snapshotCounter(app);
  const exported = await makeExportProject(app);
  await runIds(app, exported);
  await server.holdReplay(true);
  const run = await app.make.run({ projectId: exported.project.id });
  const asOf = new Date(Date.now() + 1).toISOString();
  expect((await runIds(app, exported)).at(-1)).toBe(run.id);
  const asked = await lastAsked(app);
  expect((await runIds(app, exported, `?as_of=${asOf}`)).at(-1)).toBe(run.id);
  // After the first export's wait has timed out, the replica is not used. The second export therefore does not query it.
  expect(await lastAsked(app)).toBe(asked);
  expect(await count()).toEqual({ primary: 2, replica: 1 });
  expect((await metricOf(app, "database_replica_used")).values[0]?.value).toBe(0);
  expect((await metricOf(app, "database_replica_lag_seconds")).values[0]?.value).toBeGreaterThan(0);
  expect(await (await app.request("/health/ready")).json()).toEqual({
    data: { status: "ready", replica: "left-alone" },
  });
  await server.holdReplay(false);
  await untilBack(app, exported);
  expect(await (await app.request("/health/ready")).json()).toEqual({
    data: { status: "ready", replica: "used" },
  });
  await waitFor(async () => (await metricOf(app, "database_replica_lag_seconds")).values[0]?.value === 0);
  const events = app.logLines
    .map(({ event }) => event)
    .filter((event) => String(event).startsWith("replica."));
  expect(events).toEqual(["replica.behind", "replica.back"]);
});

test("a database that is not a replica of the primary is not used", async () => {
  await using other = await openTestDatabase();
  await using app = await openTestApp({ config: { databaseReplicaUrl: other.url } });
  const exported = await makeExportProject(app);
  const count = snapshotCounter(app);
  expect(await runIds(app, exported)).toEqual([exported.ids["live run"]]);
  expect(await count()).toEqual({ primary: 1, replica: 0 });
});

test("the next export includes a commit that is not flushed yet, without a delay", async () => {
  await using app = await openReplicatedApp();
  const { admin, sql } = app.db;
  const exported = await makeExportProject(app);
  expect([...(await sql`show synchronous_commit`)]).toEqual([{ synchronousCommit: "off" }]);
  await admin`alter system set wal_writer_delay = '10s'`;
  await admin`select pg_reload_conf()`;
  const count = snapshotCounter(app);
  for (let n = 0; n < 5; n += 1) {
    const run = await app.make.run({ projectId: exported.project.id });
    expect((await runIds(app, exported)).at(-1)).toBe(run.id);
  }
  expect(await count()).toEqual({ primary: 0, replica: 5 });
  await admin`alter system reset wal_writer_delay`;
  await admin`select pg_reload_conf()`;
});

test("an open transaction with unflushed writes does not delay exports", async () => {
  await using app = await openReplicatedApp();
  const { sql } = app.db;
  const exported = await makeExportProject(app);
  await runIds(app, exported);
  const count = snapshotCounter(app);
  await count();
  await sql.begin(async (tx) => {
    await tx`update projects set name = 'renamed' where id = ${exported.project.id}`;
    await runIds(app, exported, `?as_of=${AFTER_ALL}`);
  });
  expect(await count()).toEqual({ primary: 0, replica: 1 });
});

test("a client that disconnects ends its query on the replica", async () => {
  await using app = await openReplicatedApp();
  const { person, project } = await makeExportProject(app);
  await whileLocked(app, "issues", async () => {
    const leaving = new AbortController();
    const url = `http://localhost/api/v1/export/projects/${project.id}/issues?as_of=${AFTER_ALL}`;
    const request = new Request(testRequest(url, { key: person.key }), { signal: leaving.signal });
    const pending = app.app.handle(request, "192.0.2.1");
    await waitFor(async () => (await listWaitingOnReplica(app)).length === 1);
    leaving.abort();
    await pending;
    expect(await listWaitingOnReplica(app)).toEqual([]);
  });
  expect((await exportDataset(app, { person, project }, "issues")).status).toBe(200);
  expect(app.deps.replica?.isUsed()).toBe(true);
});

test("an export whose replica session is terminated before the first byte uses the primary instead", async () => {
  await using app = await openReplicatedApp();
  const count = snapshotCounter(app);
  const exported = await makeExportProject(app);
  let pending: Promise<Response> | undefined;
  await whileLocked(app, "issues", async () => {
    pending = exportDataset(app, exported, "issues", `?as_of=${AFTER_ALL}`);
    const [pid = 0] = await waitFor(async () => {
      const waiting = await listWaitingOnReplica(app);
      return waiting.length > 0 ? waiting : null;
    });
    await server.replica`select pg_terminate_backend(${pid})`;
    await waitFor(() => app.deps.replica?.isUsed() === false);
  });
  const response = await pending;
  expect(response?.headers.get("x-export-as-of")).toBe(AFTER_ALL);
  const ids = response ? (await ndjsonRows(response)).map(({ id }) => id) : [];
  const { ids: made } = exported;
  expect(new Set(ids)).toEqual(new Set([made["open issue"], made["completed issue"]]));
  expect(await count()).toEqual({ primary: 1, replica: 1 });
});

test("an export that the replica aborts after its audit entry was written has only that audit entry", async () => {
  await using app = await openReplicatedApp();
  const count = snapshotCounter(app);
  const exported = await makeExportProject(app);
  let pending: Promise<Response> | undefined;
  await whileLocked(app, "audit_log", async () => {
    pending = exportDataset(app, exported, "issues", `?as_of=${AFTER_ALL}`);
    await waitFor(async () => (await listWaiting(app.db.admin, "audit_log")).length > 0);
    await server.replica`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = ${databaseOf(app)} and application_name = ${EXPORT_APPLICATION}`;
  });
  expect((await pending)?.status).toBe(200);
  expect(await count()).toEqual({ primary: 1, replica: 1 });
  const entries = await app.db.sql`
    select id from audit_log where action = 'export.dataset' and subject_id = ${exported.project.id}`;
  expect(entries).toHaveLength(1);
});

test("both connections of an export use the same snapshot of the replica", async () => {
  await using replicated = await openListeningApp({ servers: server });
  const { app, origin } = replicated;
  const { person, project } = await makeWideProject(app);
  await server.catchUp(app.db.sql);
  const url = `${origin}/api/v1/export/projects/${project.id}/issues?as_of=${AFTER_ALL}`;
  const headers = { authorization: `Bearer ${person.key}` };
  using slow = await beginDownload(url, headers);
  await waitFor(async () => (await countExporters(server.replica, app)).open === 2);
  expect((await countExporters(app.db.sql, app)).all).toBe(0);
  expect((await slow.readOn()).isWhole).toBe(true);
  const lines = (await (await fetch(url, { headers })).text()).trimEnd().split("\n");
  const titles = lines.map((line) => JSON.parse(line).title);
  expect(titles).toEqual(Array.from({ length: WIDE_ISSUES }, (_, index) => `Issue ${index + 1}`));
});

test("when the replica crashes, running exports break, and later exports use the primary until it is back", async () => {
  await using app = await openReplicatedApp();
  const exported = await makeExportProject(app);
  const large = await makeWideProject(app);
  const response = await exportDataset(app, large, "issues");
  const reader = response.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  await server.stopReplica();
  const readOn = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readOn()).rejects.toThrow();
  const count = snapshotCounter(app);
  await count();
  expect(await runIds(app, exported)).toEqual([exported.ids["live run"]]);
  expect(await count()).toEqual({ primary: 1, replica: 0 });
  await server.startReplica();
  await untilBack(app, exported);
  const away = app.logLines.filter(({ event }) => event === "replica.away");
  expect(away).toHaveLength(1);
});
