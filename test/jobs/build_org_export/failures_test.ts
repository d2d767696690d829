/** Tests how a failed build affects its job, its files and the queue. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { BuildSuperseded } from "../../../jobs/org_export_file.ts";
import { ArtifactTooLargeError } from "../../../shared/artifacts/store.ts";
import { markExportJobQueued, updateExportJobProgress } from "../../../sql/exports/build_attempts.ts";
import {
  cancelJob,
  getJob,
  jobOf,
  listAudited,
  listMismatches,
  postJob,
  storedFiles,
} from "../../helpers/exports/export_job.ts";
import { makeExportProject } from "../../helpers/exports/export_project.ts";
import { addNoise, makeHeavyOrg } from "../../helpers/exports/heavy_org.ts";
import { HELD_AS_OF } from "../../helpers/exports/held_build.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { waitFor } from "../../helpers/wait_for.ts";

async function openWithJob() {
  const app = await openTestApp();
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  return { app, person, id, show: () => getJob(app, person.key, id) };
}

test("builds a job on the next attempt after its builder crashes, and ignores the crashed builder's late writes", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await app.db
    .sql`update export_jobs set status = 'running', attempt = 1, started_at = now() where id = ${id}`;
  await using runner = await openTestRunner(app);
  await runner.build(id);
  const job = await show();
  expect(job).toMatchObject({ status: "ready", attempt: 2 });
  const late = { id, attempt: 1 };
  const { progress } = job;
  expect(await updateExportJobProgress(app.db.sql, { ...late, progress })).toBe(false);
  expect(await markExportJobQueued(app.db.sql, { ...late, isForgiven: false })).toBe(false);
  expect(await show()).toEqual(job);
  expect(await listMismatches(app)).toEqual([]);
});

test("stops a builder whose job another builder took over, without changing the job or leaving a file", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async write(key, content) {
        const digest = await store.write(key, content);
        await app.db.sql`update export_jobs set attempt = 2 where id = ${id}`;
        return digest;
      },
    }),
  });
  await expect(runner.build(id)).rejects.toThrow("attempt 1 is not the running one");
  expect(await show()).toMatchObject({ status: "running", attempt: 2 });
  expect(await storedFiles(app)).toEqual([]);
});

test("stops a canceled build that is waiting for the database, and leaves no file", async () => {
  await using app = await openTestApp();
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person, { as_of: HELD_AS_OF }));
  await using runner = await openTestRunner(app);
  await app.db.owner.begin(async (tx) => {
    await tx`lock table analysis_records in access exclusive mode`;
    const building = runner.build(id).catch((error: unknown) => error);
    await waitFor(async () => (await listWaiting(app.db.sql, "analysis_records")).length > 0);
    expect((await cancelJob(app, person.key, id, "?force=true")).status).toBe(200);
    expect(await building).toBeInstanceOf(BuildSuperseded);
    await waitFor(async () => (await listWaiting(app.db.sql, "analysis_records")).length === 0);
  });
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "failed", errorCode: "CANCELED" });
  expect(await storedFiles(app)).toEqual([]);
  expect(await listMismatches(app)).toEqual([]);
  expect(await listAudited(app, id)).toMatchObject([
    { action: "export_job.queue" },
    { action: "export_job.cancel", actorUserId: person.user.id },
  ]);
  const next = await jobOf(await postJob(app, person, { as_of: HELD_AS_OF }));
  await runner.build(next.id);
  expect(await getJob(app, person.key, next.id)).toMatchObject({ status: "ready", number: 2 });
});

test("stops a canceled build that is waiting for the store, and its cleanup keeps another build's file", async () => {
  const { app, person, id, show } = await openWithJob();
  await using _app = app;
  const release = Promise.withResolvers<void>();
  const asked = { isListing: false, hasListed: false, removed: [] as string[] };
  const other = `${id}.2.${crypto.randomUUID()}.zip`;
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async *list(start) {
        if (start === undefined) return yield* store.list();
        asked.isListing = true;
        await release.promise;
        yield { name: other, size: 1, modifiedAt: new Date() };
        asked.hasListed = true;
      },
      async remove(name) {
        asked.removed.push(name);
      },
    }),
  });
  const building = runner.build(id).catch((error: unknown) => error);
  await waitFor(() => asked.isListing);
  expect((await cancelJob(app, person.key, id, "?force=true")).status).toBe(200);
  expect(await building).toBeInstanceOf(BuildSuperseded);
  release.resolve();
  await waitFor(() => asked.hasListed);
  expect(await show()).toMatchObject({ status: "failed", errorCode: "CANCELED" });
  expect(asked.removed).not.toContain(other);
});

test("fails a job after three store failures if patience is 0, and builds the organization's next job", async () => {
  const { app, person, id, show } = await openWithJob();
  await using _app = app;
  const path = fileURLToPath(app.deps.config.artifactUrl);
  await Bun.write(path, "a file where the directory should be");
  await using runner = await openTestRunner(app, { config: { exportBuildPatienceMinutes: 0 } });
  for (const attempt of [1, 2]) {
    await expect(runner.build(id)).rejects.toThrow("Cannot use the artifact storage");
    expect(await show()).toMatchObject({ status: "queued", attempt });
    expect(await listMismatches(app)).toEqual([]);
  }
  await runner.build(id);
  expect(await show()).toMatchObject({
    status: "failed",
    attempt: 3,
    errorCode: "ARTIFACT_STORAGE_FAILED",
    errorMessage: expect.stringMatching(/^The file could not be stored in 3 attempts\. /),
    finishedAt: expect.any(String),
  });
  expect(await listMismatches(app)).toEqual([]);
  expect(await listAudited(app, id)).toMatchObject([
    { action: "export_job.queue", actorUserId: person.user.id },
    { action: "export_job.fail", actorUserId: null },
  ]);
  await rm(path);
  const next = await jobOf(await postJob(app, person));
  await runner.build(next.id);
  expect(await getJob(app, person.key, next.id)).toMatchObject({ status: "ready" });
});

test("fails a job after three builders have crashed", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await app.db.sql`update export_jobs set status = 'running', attempt = 3 where id = ${id}`;
  await using runner = await openTestRunner(app);
  await runner.build(id);
  expect(await show()).toMatchObject({ status: "failed", errorCode: "BUILD_FAILED" });
  expect(await listMismatches(app)).toEqual([]);
});

test("leaves no complete or partial file if a build fails midway", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await app.db.owner`alter table analysis_records rename to elsewhere`;
  await using runner = await openTestRunner(app);
  await expect(runner.build(id)).rejects.toThrow("analysis_records");
  expect(await show()).toMatchObject({ status: "queued", attempt: 1 });
  expect(await storedFiles(app)).toEqual([]);
});

test("leaves no file if a finished build cannot be recorded", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await app.db.owner`alter table audit_log add constraint no_end check (action <> 'export_job.ready')`;
  await using runner = await openTestRunner(app);
  await expect(runner.build(id)).rejects.toThrow("no_end");
  expect(await show()).toMatchObject({ status: "queued", attempt: 1 });
  expect(await storedFiles(app)).toEqual([]);
  const mails = await app.db.sql`select id from pgboss.job where name = 'send_export_ready'`;
  expect(mails.length).toBe(0);
});

test("fails a job whose build takes too long", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await using runner = await openTestRunner(app, {
    config: { exportBuildTimeoutMinutes: 0.001 },
    store: (store) => ({
      ...store,
      async write(key, content) {
        await Bun.sleep(100);
        return store.write(key, content);
      },
    }),
  });
  await runner.build(id);
  expect(await show()).toMatchObject({ status: "failed", errorCode: "BUILD_TIMEOUT" });
  expect(await listMismatches(app)).toEqual([]);
});

test("requeues a build interrupted by shutdown, without counting the attempt", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await using runner = await openTestRunner(app);
  runner.leave();
  await expect(runner.build(id)).rejects.toThrow();
  expect(await show()).toMatchObject({ status: "queued", attempt: 0 });
  expect(await listMismatches(app)).toEqual([]);
});

test("makes a build wait for the database after the build loses its connection", async () => {
  await using app = await openTestApp();
  const { person, projects } = await makeHeavyOrg(app, 1);
  // Adds more data than the sockets and the runner can buffer. A build that had already read everything would not notice the lost
  // connection, and would open a new connection for the next project.
  const [first] = projects;
  if (first) await addNoise(app.db, first, 12);
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async write(key, content) {
        async function* cutOff() {
          for await (const chunk of content) {
            yield chunk;
            await app.db.sql`
              select pg_terminate_backend(pid)
              from pg_stat_activity
              where datname = current_database() and application_name = 'ulr-jobs'`;
          }
        }
        return store.write(key, cutOff());
      },
    }),
  });
  await expect(runner.build(id)).rejects.toThrow();
  expect(await getJob(app, person.key, id)).toMatchObject({
    status: "queued",
    attempt: 0,
    waitingFor: "database",
  });
  expect(await storedFiles(app)).toEqual([]);
  expect(await listMismatches(app)).toEqual([]);
});

test("fails the job of a deleted organization", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const { id } = await jobOf(await postJob(app, person));
  await app.db.sql`delete from organizations where id = ${person.org.id}`;
  await using runner = await openTestRunner(app);
  await runner.build(id);
  const [row] = await app.db.sql`select status, error_code from export_jobs where id = ${id}`;
  expect(row).toEqual({ status: "failed", errorCode: "ORGANIZATION_GONE" });
  expect(await listMismatches(app)).toEqual([]);
});

test("builds an increment that starts less than 91 days ago, and fails an older increment at once", async () => {
  await using app = await openTestApp();
  const { person } = await makeExportProject(app);
  await using runner = await openTestRunner(app);
  const build = async (ageDays: number) => {
    const since = new Date(Date.now() - 60_000).toISOString();
    const { id } = await jobOf(await postJob(app, person, { since }));
    await app.db.sql`
      update export_jobs
      set since = now() - make_interval(days => ${ageDays}, hours => -1)
      where id = ${id}`;
    await runner.build(id);
    return getJob(app, person.key, id);
  };
  expect(await build(91)).toMatchObject({ status: "ready", attempt: 1 });
  expect(await build(92)).toMatchObject({
    status: "failed",
    attempt: 1,
    errorCode: "BUILD_FAILED",
    errorMessage: expect.stringMatching(
      /^Changes are deleted after 91 days, and the increment starts at \S+Z\. Take a full export$/,
    ),
  });
  // Only the first job's file is stored.
  expect(await storedFiles(app)).toHaveLength(1);
  expect(await listMismatches(app)).toEqual([]);
});

test("fails a job at once if its file is too large for the store", async () => {
  const { app, id, show } = await openWithJob();
  await using _app = app;
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async write() {
        throw new ArtifactTooLargeError(83_886_080_000);
      },
    }),
  });
  await runner.build(id);
  expect(await show()).toMatchObject({
    status: "failed",
    attempt: 1,
    errorCode: "BUILD_FAILED",
    errorMessage: expect.stringMatching(
      /^The file is too large: a bucket takes 83,886,080,000 bytes\. Export the/,
    ),
  });
  expect(await listMismatches(app)).toEqual([]);
});

test("does not build a job that was canceled before its build began", async () => {
  const { app, person, id, show } = await openWithJob();
  await using _app = app;
  await app.request(`/api/v1/export/jobs/${id}/cancel`, { method: "POST", key: person.key });
  await using runner = await openTestRunner(app);
  await runner.build(id);
  expect(await show()).toMatchObject({ status: "failed", errorCode: "CANCELED", attempt: 0 });
  expect(await storedFiles(app)).toEqual([]);
});

test("retries a failed build through the queue", async () => {
  const { app, show } = await openWithJob();
  await using _app = app;
  await app.db.owner`alter table analysis_records rename to elsewhere`;
  await using _runner = await openTestRunner(app, { isWorking: true });
  await waitFor(async () => (await show()).attempt === 1 && (await show()).status === "queued");
  await app.db.owner`alter table elsewhere rename to analysis_records`;
  await waitFor(async () => (await show()).status === "ready");
  expect(await show()).toMatchObject({ attempt: 2 });
  expect(await listMismatches(app)).toEqual([]);
});
