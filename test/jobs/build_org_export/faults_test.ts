/** Tests that a job waits during storage and database faults without using up attempts. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { markExportJobWaiting } from "../../../sql/exports/build_attempts.ts";
import { postponeJob } from "../../../sql/job_queue.ts";
import {
  cancelJob,
  getJob,
  jobOf,
  listMismatches,
  postJob,
  storedFiles,
} from "../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** Opens an app with a queued job, and a store that fails until `mend` is called. */
async function openWithBrokenStore() {
  const app = await openTestApp();
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  const path = fileURLToPath(app.deps.config.artifactUrl);
  await Bun.write(path, "a file where the directory should be");
  return { app, person, id, show: () => getJob(app, person.key, id), mend: () => rm(path) };
}

async function entryOf(app: TestApp, id: string) {
  const [entry] = await app.db.sql<{ state: string; startAfter: string }[]>`
    select state, start_after::timestamptz(3) as start_after
    from pgboss.job
    where name = 'build_org_export' and id = ${id}`;
  return entry;
}

test("makes a job wait while the store fails, shows the fault and retry time, and builds the job afterwards", async () => {
  const { app, id, show, mend } = await openWithBrokenStore();
  await using _app = app;
  {
    await using runner = await openTestRunner(app);
    for (const _fault of [1, 2, 3, 4, 5]) {
      await expect(runner.build(id)).rejects.toThrow("Cannot use the artifact storage");
      const job = await show();
      expect(job).toMatchObject({ status: "queued", attempt: 0, waitingFor: "storage" });
      expect(await entryOf(app, id)).toEqual({ state: "retry", startAfter: job.retryAt ?? "" });
      expect(await listMismatches(app)).toEqual([]);
    }
  }
  await mend();
  await app.db.sql`update pgboss.job set start_after = now() where id = ${id}`;
  await using _other = await openTestRunner(app, { isWorking: true });
  await waitFor(async () => (await show()).status === "ready");
  const job = await show();
  expect(job).toMatchObject({ attempt: 1 });
  expect(job).not.toContainKeys(["waitingFor", "retryAt"]);
  expect(await storedFiles(app)).toHaveLength(1);
  expect(await listMismatches(app)).toEqual([]);
});

test("pauses for 10 s, 30 s, 1 min, 2 min, and 5 min after each further fault, by the database's clock", async () => {
  const { app, id } = await openWithBrokenStore();
  await using _app = app;
  const pauses: number[] = [];
  for (const _fault of [1, 2, 3, 4, 5, 6, 7]) {
    await app.db.sql.begin(async (tx) => {
      await tx`update export_jobs set status = 'running', attempt = 1, started_at = now() where id = ${id}`;
      await markExportJobWaiting(tx, { id, attempt: 1, fault: "database", patienceMinutes: 60 });
      const [row] = await tx<[{ seconds: number }]>`
        select extract(epoch from retry_at - now()::timestamptz(3))::float8 as seconds
        from export_jobs where id = ${id}`;
      pauses.push(row.seconds);
    });
  }
  expect(pauses).toEqual([10, 30, 60, 120, 300, 300, 300]);
});

test("counts attempts once a fault outlasts the patience, and fails the job after three attempts", async () => {
  const { app, id, show } = await openWithBrokenStore();
  await using _app = app;
  await using runner = await openTestRunner(app, { config: { exportBuildPatienceMinutes: 30 } });
  const age = (minutes: number) =>
    app.db.sql`
      update export_jobs set first_fault_at = now() - make_interval(secs => ${minutes * 60 + 5}) where id = ${id}`;
  await expect(runner.build(id)).rejects.toThrow();
  await age(29);
  await expect(runner.build(id)).rejects.toThrow();
  expect(await show()).toMatchObject({ attempt: 0, waitingFor: "storage" });
  await age(30);
  for (const attempt of [1, 2]) {
    await expect(runner.build(id)).rejects.toThrow();
    const job = await show();
    expect(job).toMatchObject({ status: "queued", attempt });
    expect(job).not.toContainKeys(["waitingFor", "retryAt"]);
    expect(await listMismatches(app)).toEqual([]);
  }
  await runner.build(id);
  expect(await show()).toMatchObject({ status: "failed", attempt: 3, errorCode: "ARTIFACT_STORAGE_FAILED" });
  expect(await listMismatches(app)).toEqual([]);
});

test("cancels a waiting job without force and does not build it later", async () => {
  const { app, person, id, show, mend } = await openWithBrokenStore();
  await using _app = app;
  await using runner = await openTestRunner(app);
  await expect(runner.build(id)).rejects.toThrow();
  const response = await cancelJob(app, person.key, id);
  expect(response.status).toBe(200);
  const canceled = await jobOf(response);
  expect(canceled).toMatchObject({ status: "failed", errorCode: "CANCELED" });
  expect(canceled).not.toContainKeys(["waitingFor", "retryAt"]);
  expect(await listMismatches(app)).toEqual([]);
  await mend();
  await runner.build(id);
  expect(await show()).toEqual(canceled);
  expect(await storedFiles(app)).toEqual([]);
});

test("makes a build wait for the database after PostgreSQL restarts, even if the error is unknown", async () => {
  const { app, id, mend } = await openWithBrokenStore();
  await using _app = app;
  await mend();
  for (const [startedAt, waitingFor] of [
    ["pg_postmaster_start_time() - interval '1 second'", "database"],
    ["now()", undefined],
  ] as const) {
    await app.db.sql`
      update export_jobs
      set status = 'running', attempt = 2, started_at = ${app.db.sql.unsafe(startedAt)}
      where id = ${id}`;
    const waiting = await markExportJobWaiting(app.db.sql, {
      id,
      attempt: 2,
      fault: null,
      patienceMinutes: 60,
    });
    expect(waiting?.waitingFor).toBe(waitingFor);
  }
});

test("does not let a builder postpone a queue entry that another worker has since fetched", async () => {
  const { app, id } = await openWithBrokenStore();
  await using _app = app;
  await using runner = await openTestRunner(app);
  const { boss, sql } = runner.deps;
  const [first] = await boss.fetch("build_org_export");
  await boss.fail("build_org_export", id);
  const [second] = await boss.fetch("build_org_export", { ignoreStartAfter: true });
  const claimOf = (fetched: typeof first) => ({
    id,
    name: "build_org_export" as const,
    retryCount: fetched?.retryCount ?? -1,
  });
  const startAt = new Date(Date.now() + 60_000).toISOString();
  await postponeJob(sql, boss, { claim: claimOf(first), startAt });
  expect((await entryOf(app, id))?.state).toBe("active");
  await postponeJob(sql, boss, { claim: claimOf(second), startAt });
  expect(await entryOf(app, id)).toEqual({ state: "retry", startAfter: startAt });
});
