/** Tests that only the owner of an artifact store builds exports, deletes files and sends the mails about exports. */
import { expect, test } from "bun:test";
import { mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { artifactKeyOf } from "../../jobs/artifact_key.ts";
import { deleteExpiredExports } from "../../jobs/delete_expired_exports.ts";
import { MARKER_NAME } from "../../shared/artifacts/store.ts";
import type { Config } from "../../shared/process/config.ts";
import { runJson } from "../helpers/accounts/admin.ts";
import { getJob, jobOf, listMismatches, postJob, storedFiles } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { jobOfMail, openMailServer } from "../helpers/network/mail_server.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { copyTestDatabase, restoreElsewhere } from "../helpers/postgres/database.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { openTestRunner, type TestRunner } from "../helpers/process/job_runner.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

const NEVER = new AbortController().signal;

const directoryOf = ({ deps }: TestApp): string => fileURLToPath(deps.config.artifactUrl);

/** Makes a project and builds an export of its organization, without sending the mail. */
async function makeReady(app: TestApp, runner: TestRunner) {
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await runner.build(id);
  return { person, id };
}

const foreignKey = () => artifactKeyOf({ id: crypto.randomUUID(), attempt: 1, buildId: crypto.randomUUID() });

test("a restored copy reports the original's store as foreign, and uses the store only after adopting it", async () => {
  await using app = await openTestApp();
  const { artifactUrl, dataDir } = app.deps.config;
  await using mailServer = await openMailServer();
  const { person } = await makeExportProject(app);
  const built = await (async () => {
    await using runner = await openTestRunner(app);
    return await makeReady(app, runner);
  })();
  const queued = await jobOf(await postJob(app, person));
  await using copy = await copyTestDatabase(app.db);
  // The original builds the job after the copy was made. If the copy owned the store, it would delete the new file as abandoned.
  await using original = await openTestRunner(app);
  await original.build(queued.id);
  const files = await storedFiles(app);
  expect(files).toHaveLength(2);

  const env = {
    DATABASE_URL: copy.url,
    DATA_DIR: dataDir,
    ARTIFACT_URL: artifactUrl,
    SMTP_URL: mailServer.url,
  };
  await using runner = await startRunner(env);
  const logged = (event: string) => waitFor(() => runner.logLines().find((line) => line["event"] === event));
  const foreign = await logged("artifact_store.foreign");
  expect(foreign).toMatchObject({ level: "error", event: "artifact_store.foreign" });
  await using api = await startApi(env);
  await waitFor(async () => {
    const ready = await api.request("/health/ready");
    expect(ready.status).toBe(200);
    return Bun.deepEquals(await ready.json(), { data: { status: "ready", artifacts: "owned-by-another" } });
  });
  expect(await (await api.request("/metrics")).text()).toMatch(/^artifact_store_owned 0$/m);
  // The copy still runs jobs that do not need the store.
  await waitFor(async () => {
    const [done] = await copy.sql`
      select from pgboss.job where name = 'delete_old_records' and state = 'completed'`;
    return done;
  });
  expect(await storedFiles(app)).toEqual(files);
  expect(mailServer.received).toEqual([]);
  expect(await getJob(api, person.key, queued.id)).toMatchObject({ status: "queued", attempt: 0 });
  expect(await listMismatches({ db: copy })).toEqual([]);

  const adopted = await runJson(copy.url, ["artifacts", "adopt"], env);
  await logged("artifact_store.owned");
  const ready2 = await waitFor(async () => {
    const response = await api.request("/health/ready");
    const body = (await response.json()) as { data: object };
    return "artifacts" in body.data ? null : body;
  });
  expect(ready2).toEqual({ data: { status: "ready" } });
  await waitFor(async () => (await getJob(api, person.key, queued.id)).status === "ready");
  const [{ id: originalId }] = await app.db.sql<[{ id: string }]>`select id from installation`;
  expect(adopted).toMatchObject({ artifactUrl, previousInstallationId: originalId });
  expect(adopted["installationId"]).not.toBe(originalId);
  // The copy now owns the store, so it sends the mails about both exports.
  await waitFor(() => mailServer.received.length === 2);
  expect(mailServer.received.map(jobOfMail).sort()).toEqual([built.id, queued.id].sort());

  // The previous owner no longer builds exports, deletes files or sends mail.
  const late = await jobOf(await postJob(app, person));
  const before = await storedFiles(app);
  await app.db.sql`
    update export_jobs set expires_at = now() - interval '1 hour', ready_at = now() - interval '2 hours'
    where status = 'ready'`;
  await deleteExpiredExports(original.deps, NEVER);
  await original.build(late.id).catch(() => {});
  expect(await storedFiles(app)).toEqual(before);
  expect(await getJob(app, person.key, late.id)).toMatchObject({ status: "queued", attempt: 0 });
  expect(await listMismatches(app)).toEqual([]);
  await expect(original.mail(queued.id)).rejects.toThrow("another database owns it");
});

test("requeues a build without counting the attempt, and leaves no file, if another database adopts the store", async () => {
  await using app = await openTestApp();
  await using other = await openTestApp({ config: { artifactUrl: app.deps.config.artifactUrl } });
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  const { databaseUrl, artifactUrl } = other.deps.config;
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async write(key, content) {
        await runJson(databaseUrl, ["artifacts", "adopt"], { ARTIFACT_URL: artifactUrl });
        return store.write(key, content);
      },
    }),
  });
  await expect(runner.build(id)).rejects.toThrow("another database owns it");
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "queued", attempt: 0 });
  expect(await storedFiles(app)).toEqual([]);
  expect(await listMismatches(app)).toEqual([]);
});

test("builds a job that was queued while another database owned the store, once the store is adopted back", async () => {
  await using app = await openTestApp();
  const { artifactUrl } = app.deps.config;
  await using other = await openTestApp({ config: { artifactUrl } });
  const adopt = ({ deps }: TestApp) =>
    runJson(deps.config.databaseUrl, ["artifacts", "adopt"], { ARTIFACT_URL: artifactUrl });
  await using _runner = await openTestRunner(app, { isWorking: true });
  const logged = (event: string, times: number) =>
    waitFor(() => app.logLines.filter((line) => line["event"] === event).length === times);
  await logged("artifact_store.owned", 1);
  await adopt(other);
  await logged("artifact_store.foreign", 1);
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await adopt(app);
  await logged("artifact_store.owned", 2);
  await waitFor(async () => (await getJob(app, person.key, id)).status === "ready");
  expect(await getJob(app, person.key, id)).toMatchObject({ attempt: 1 });
  expect(await listMismatches(app)).toEqual([]);
});

test("gives a directory to only one of two databases that claim it at the same time", async () => {
  for (let round = 0; round < 5; round += 1) {
    await using app = await openTestApp();
    await using other = await openTestApp({ config: { artifactUrl: app.deps.config.artifactUrl } });
    await using runners = await openRunners([app, app, other, other]);
    const owned = await Promise.all(runners.list.map(({ deps }) => deps.owner.isOurs()));
    expect([[true, true, false, false].join(), [false, false, true, true].join()]).toContain(owned.join());
  }
});

test("leaves one owner for a bucket without conditional writes if two databases claim it at the same time", async () => {
  await using s3 = await startS3Server();
  const config: Partial<Config> = s3.config;
  await using app = await openTestApp({ config });
  await using other = await openTestApp({ config });
  await using runners = await openRunners([app, other]);
  const look = () => Promise.all(runners.list.map(({ deps }) => deps.owner.isOurs()));
  await look();
  const owned = await look();
  expect(owned.filter(Boolean)).toHaveLength(1);
  const winner = owned[0] ? app : other;
  const loser = owned[0] ? other : app;
  const [, kept] = [await s3.client.write("org/exports/note.txt", "stays"), foreignKey()];
  await s3.client.write(`org/exports/${kept}`, "of the winner, or older than it");
  await using sweeper = await openTestRunner(loser);
  await deleteExpiredExports(sweeper.deps, NEVER);
  expect(await s3.client.exists(`org/exports/${kept}`)).toBe(true);
  await runJson(loser.deps.config.databaseUrl, ["artifacts", "adopt"], s3.env);
  expect(await sweeper.deps.owner.isOurs()).toBe(true);
  await using robbed = await openTestRunner(winner);
  expect(await robbed.deps.owner.isOurs()).toBe(false);
});

test("claims a store without a marker only if it is empty or contains only files of this database", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  await makeReady(app, runner);
  const marker = join(directoryOf(app), MARKER_NAME);
  await Bun.file(marker).delete();
  await using other = await openTestApp({ config: { artifactUrl: app.deps.config.artifactUrl } });
  await using stranger = await openTestRunner(other);
  expect(await stranger.deps.owner.isOurs()).toBe(false);
  expect(await readdir(directoryOf(app))).not.toContain(MARKER_NAME);
  // Simulates an upgrade from a release without markers: the store has only this database's files, and no marker.
  expect(await runner.deps.owner.isOurs()).toBe(true);
  expect(await stranger.deps.owner.isOurs()).toBe(false);
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await readdir(directoryOf(app))).toContain(MARKER_NAME);
});

test("makes builds wait for an unmounted volume, and does not treat its empty directory as a new store", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const { person } = await makeReady(app, runner);
  const next = await jobOf(await postJob(app, person));
  const [mounted, away] = [directoryOf(app), `${directoryOf(app)}-away`];
  await rename(mounted, away);
  await mkdir(mounted);
  await runner.build(next.id).catch(() => {});
  await expect(runner.deps.owner.isOurs()).rejects.toThrow("it is empty, although exports are kept");
  expect(await readdir(mounted)).toEqual([]);
  expect(await getJob(app, person.key, next.id)).toMatchObject({ status: "queued" });
  await rmdir(mounted);
  await rename(away, mounted);
  await runner.build(next.id);
  expect(await getJob(app, person.key, next.id)).toMatchObject({ status: "ready" });
  expect(await listMismatches(app)).toEqual([]);
  await rename(mounted, away);
  await runJson(app.deps.config.databaseUrl, ["artifacts", "adopt"], {
    ARTIFACT_URL: app.deps.config.artifactUrl,
  });
  expect(await runner.deps.owner.isOurs()).toBe(true);
  // A copy may claim an empty store although its database lists exports, because their files are in the original's store.
  await restoreElsewhere(app.db);
  await using copy = await openTestRunner(app, { config: { artifactUrl: `file://${away}-copy` } });
  expect(await copy.deps.owner.isOurs()).toBe(true);
});

test("does not own a store with an unreadable marker until the store is adopted", async () => {
  await using app = await openTestApp();
  await mkdir(directoryOf(app), { recursive: true });
  await Bun.write(join(directoryOf(app), MARKER_NAME), "not what we write");
  await using runner = await openTestRunner(app);
  expect(await runner.deps.owner.isOurs()).toBe(false);
  await runJson(app.deps.config.databaseUrl, ["artifacts", "adopt"], {
    ARTIFACT_URL: app.deps.config.artifactUrl,
  });
  expect(await runner.deps.owner.isOurs()).toBe(true);
});

async function openRunners(apps: readonly TestApp[]): Promise<AsyncDisposable & { list: TestRunner[] }> {
  const list = await Promise.all(apps.map((app) => openTestRunner(app)));
  return {
    list,
    async [Symbol.asyncDispose]() {
      await Promise.all(list.map((runner) => runner[Symbol.asyncDispose]()));
    },
  };
}
