/** Exports while nodes are silent, stopped or restarted, and while shards move. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findTrackerPlace } from "../../sql/tracker/tracker_shards.ts";
import { downloadJob, getJob, jobOf, postJob, unzip } from "../helpers/exports/export_job.ts";
import { AFTER_ALL, type ExportProject, exportDataset } from "../helpers/exports/export_project.ts";
import { makeLargeProject } from "../helpers/exports/large_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { CitusCluster, inDatabase } from "../helpers/postgres/citus_cluster.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeProjectOnEach, workerOf } from "./projects.ts";

const cluster = new CitusCluster();
beforeAll(() => cluster.serve());
afterAll(() => cluster[Symbol.asyncDispose]());

/** The contract's time limit for refusing an export whose node is unreachable, in milliseconds. */
const ANSWER_MS = 10_000;

type Exported = Pick<ExportProject, "person" | "project">;

async function openPair(): Promise<{ app: TestApp; first: ExportProject; second: ExportProject }> {
  const app = await openTestApp();
  const [first, second] = await makeProjectOnEach(cluster, app);
  if (!first || !second) throw new Error("Cannot go on: there are not two projects");
  return { app, first, second };
}

/** Creates a project of about 25 MB. Its export is slow enough for a test to act during the export. */
async function makeLarge(app: TestApp): Promise<Exported & { worker: number }> {
  const made = await makeLargeProject(app, 25_000);
  return { ...made, worker: await workerOf(cluster, app, made.project.id) };
}

/** Counts the COPY statements that run on a worker, including those on second connections. */
async function countCopies(app: TestApp, worker: number): Promise<number> {
  const [row] = await inDatabase(
    cluster.urls[worker + 1] ?? "",
    new URL(app.db.url).pathname.slice(1),
    (sql) =>
      sql<[{ count: number }]>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query ilike 'copy (%'`,
  );
  return row.count;
}

async function statusAndTime(app: TestApp, exported: Exported): Promise<{ status: number; ms: number }> {
  const begun = performance.now();
  const { status } = await exportDataset(app, exported, "issues");
  return { status, ms: performance.now() - begun };
}

/** Moves a project to the other worker, after Citus has cleaned up the earlier move. */
async function moveProject(app: TestApp, projectId: string): Promise<void> {
  await waitFor(async () => {
    await app.db.admin`call citus_cleanup_orphaned_resources()`;
    return (await app.db.admin`select 1 from pg_dist_cleanup`).length === 0;
  });
  const from = await workerOf(cluster, app, projectId);
  const [source, target] = [from, 1 - from].map((worker) =>
    Number(new URL(cluster.urls[worker + 1] ?? "").port),
  );
  await app.db.admin`
    select citus_move_shard_placement(
      get_shard_id_for_distribution_column('runs', ${projectId}::uuid),
      '127.0.0.1', ${source ?? 0}, '127.0.0.1', ${target ?? 0},
      shard_transfer_mode => 'block_writes'
    )`;
}

test("exports from a silent node are refused within ten seconds, and other nodes' exports are unaffected", async () => {
  const { app, first, second } = await openPair();
  await using _app = app;
  // Opens connections to the node that goes silent. The exports below use an open connection, and then a new one.
  expect((await statusAndTime(app, first)).status).toBe(200);
  const [silent] = cluster.workers;
  silent?.freeze();
  try {
    const [away, other] = await Promise.all([statusAndTime(app, first), statusAndTime(app, second)]);
    expect([away.status, other.status]).toEqual([503, 200]);
    expect(away.ms).toBeLessThan(ANSWER_MS);
    const again = await exportDataset(app, first, "bundle");
    const { error } = (await again.json()) as { error: { message: string } };
    expect(error.message).not.toMatch(/127\.0\.0\.1|node/);
    expect((await statusAndTime(app, second)).status).toBe(200);
  } finally {
    silent?.thaw();
  }
  await waitFor(async () => (await statusAndTime(app, first)).status === 200);
});

test("an export whose node goes silent fails and frees its stream slot", async () => {
  await using app = await openTestApp({ config: { exportStreamsMax: 1 } });
  const { worker, ...large } = await makeLarge(app);
  const response = await exportDataset(app, large, "issues");
  const reader = response.body?.getReader();
  await reader?.read();
  await waitFor(async () => (await countCopies(app, worker)) === 2);
  const silent = cluster.workers[worker];
  silent?.freeze();
  const broken = (async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read());
    return "whole";
  })().catch(() => "broken");
  try {
    expect(await broken).toBe("broken");
  } finally {
    silent?.thaw();
  }
  await waitFor(async () => (await statusAndTime(app, large)).status === 200);
});

test("a restarted node is used again without a restart of the service", async () => {
  const { app, first, second } = await openPair();
  await using _app = app;
  const [stopped] = cluster.workers;
  await stopped?.end("SIGINT");
  try {
    const [away, other] = await Promise.all([statusAndTime(app, first), statusAndTime(app, second)]);
    expect([away.status, other.status]).toEqual([503, 200]);
  } finally {
    await stopped?.start();
  }
  await waitFor(async () => (await statusAndTime(app, first)).status === 200);
});

test("while shards move, each export is either correct or aborted, and a job completes", async () => {
  await using app = await openTestApp();
  await using _runner = await openTestRunner(app, { isWorking: true });
  const { worker: _, ...large } = await makeLarge(app);
  const query = `?as_of=${AFTER_ALL}`;
  const expected = Bun.hash(await (await exportDataset(app, large, "issues", query)).bytes());
  let isMoving = true;
  const moving = (async () => {
    for (let move = 0; move < 2; move += 1) await moveProject(app, large.project.id);
  })().finally(() => {
    isMoving = false;
  });
  const outcomes: string[] = [];
  while (isMoving) {
    const response = await exportDataset(app, large, "issues", query);
    if (response.status !== 200) {
      outcomes.push(String(response.status));
      await response.text();
      continue;
    }
    const digest = await response.bytes().then(Bun.hash, () => null);
    outcomes.push(digest === null ? "broken" : digest === expected ? "right" : "WRONG");
  }
  await moving;
  expect(outcomes).not.toContain("WRONG");
  expect(outcomes).not.toContain("500");
  expect(outcomes).toContain("right");
  const job = await jobOf(await postJob(app, large.person, { as_of: AFTER_ALL }));
  await moveProject(app, large.project.id);
  await waitFor(async () => (await getJob(app, large.person.key, job.id)).status === "ready");
  const files = await unzip(await (await downloadJob(app, large.person.key, job.id)).arrayBuffer());
  const lines = [...files].find(([name]) => name.endsWith("/issues.ndjson"))?.[1] ?? "";
  expect(lines.split("\n").length).toBe(25_001);
});

test("a moved project is read from its new node", async () => {
  const { app, first } = await openPair();
  await using _app = app;
  const before = await findTrackerPlace(app.db.sql, first.project.id);
  await moveProject(app, first.project.id);
  expect(await findTrackerPlace(app.db.sql, first.project.id)).not.toEqual(before);
  expect((await statusAndTime(app, first)).status).toBe(200);
  const metrics = await (await app.request("/metrics")).text();
  const node = new URL(cluster.urls[2] ?? "").host;
  expect(metrics).toContain(`export_snapshots_total{database="node",node="${node}"} 1`);
});

test("an export is either complete or cut off if the coordinator restarts, and later exports are correct", async () => {
  await using app = await openTestApp();
  const { worker: _, ...large } = await makeLarge(app);
  const query = `?as_of=${AFTER_ALL}`;
  const expected = await (await exportDataset(app, large, "issues", query)).bytes();
  const response = await exportDataset(app, large, "issues", query);
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  const first = await reader?.read();
  if (first?.value) parts.push(first.value);
  await cluster.coordinator.end("SIGINT");
  try {
    expect((await statusAndTime(app, large)).status).toBe(503);
  } finally {
    await cluster.coordinator.start();
  }
  const outcome = await (async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
      parts.push(part.value);
    return Buffer.compare(Buffer.concat(parts), expected) === 0 ? "whole" : "WRONG";
  })().catch(() => "broken");
  expect(["whole", "broken"]).toContain(outcome);
  await waitFor(async () => (await statusAndTime(app, large)).status === 200);
  const again = await (await exportDataset(app, large, "issues", query)).bytes();
  expect(Buffer.compare(again, expected)).toBe(0);
});

test("nodes can leave and join the cluster without a restart of the service", async () => {
  const { app, first, second } = await openPair();
  await using _app = app;
  const { admin } = app.db;
  const [left = 0, stays = 0] = cluster.urls.slice(1).map((url) => Number(new URL(url).port));
  await admin`select citus_drain_node('127.0.0.1', ${left}, 'block_writes')`;
  // Citus drops moved shards in the background.
  await waitFor(async () => {
    const cleanUp = admin.unsafe("call citus_cleanup_orphaned_resources()");
    await cleanUp.catch(() => {});
    const remove = admin`select citus_remove_node('127.0.0.1', ${left})`;
    return remove.then(
      () => true,
      () => false,
    );
  });
  for (const exported of [first, second]) {
    expect((await statusAndTime(app, exported)).status).toBe(200);
    expect((await findTrackerPlace(app.db.sql, exported.project.id))?.node.port).toBe(stays);
  }
  await admin`select citus_add_node('127.0.0.1', ${left})`;
  await admin`select citus_set_node_property('127.0.0.1', ${left}, 'shouldhaveshards', true)`;
  await moveProject(app, first.project.id);
  expect((await findTrackerPlace(app.db.sql, first.project.id))?.node.port).toBe(left);
  expect((await statusAndTime(app, first)).status).toBe(200);
});
