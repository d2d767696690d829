/** Files that killed runners left behind: the next attempt or a sweep deletes them. */
import { expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { artifactKeyOf } from "../../jobs/artifact_key.ts";
import { openArtifactStore } from "../../shared/artifacts/open_store.ts";
import { MARKER_NAME } from "../../shared/artifacts/store.ts";
import type { Config } from "../../shared/process/config.ts";
import { lapseHeartbeats } from "../helpers/exports/aftermath.ts";
import { ageExportJob, getJob, jobOf, postJob, storedFiles } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { openSlowProxy } from "../helpers/network/slow_proxy.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** No scheduled sweep runs during the test, only the sweep at the start of a runner. */
const NO_CLOCK = { EXPORT_SWEEP_CRON: "0 0 1 1 *" };
/** More than two parts of an upload, in MiB. */
const NOISE_MIB = 24;

/**
 * Kills a runner after it has stored part of a build's file, and lets another runner repeat the build. Returns the
 * names in the store and the name of the job's file.
 */
async function listAfterDeath(storage: {
  config?: Partial<Config>;
  env?: Record<string, string>;
  /** Additional variables of the first runner, which slow down its upload. */
  slowEnv?: Record<string, string>;
}) {
  await using app = await openTestApp(storage.config ? { config: storage.config } : {});
  const { config } = app.deps;
  const env = { ...storage.env, ...NO_CLOCK, DATABASE_URL: config.databaseUrl, DATA_DIR: config.dataDir };
  const { person, project } = await makeExportProject(app);
  await addNoise(app.db, project, NOISE_MIB);
  const { id } = await jobOf(await postJob(app, person));
  const store = openArtifactStore(config);
  const names = async () => {
    const files = await Array.fromAsync(store.list());
    return files.map(({ name }) => name).filter((name) => name !== MARKER_NAME);
  };
  {
    await using runner = await startRunner({ ...env, ...storage.slowEnv });
    await waitFor(async () => (await names()).length > 0);
    runner.kill("SIGKILL");
    await runner.exited;
  }
  await lapseHeartbeats(app.db);
  expect(await names()).toHaveLength(1);
  await using _other = await startRunner(env);
  await waitFor(async () => (await getJob(app, person.key, id)).status === "ready");
  expect(await getJob(app, person.key, id)).toMatchObject({ attempt: 2 });
  const [row] = await app.db.sql<{ artifactKey: string }[]>`
    select artifact_key from export_jobs where id = ${id}`;
  return { left: await names(), artifactKey: row?.artifactKey ?? "" };
}

test("a killed runner's partial file is deleted by the time the next attempt is ready", async () => {
  const { left, artifactKey } = await listAfterDeath({});
  expect(left).toEqual([artifactKey]);
});

test("a killed runner's incomplete upload is deleted by the time the next attempt is ready", async () => {
  await using s3 = await startS3Server();
  await using proxy = await openSlowProxy(s3.config.s3.endpoint, { pauseMs: 20 });
  const { left, artifactKey } = await listAfterDeath({
    ...{ config: s3.config, env: s3.env },
    slowEnv: { S3_ENDPOINT: proxy.origin },
  });
  expect(left).toEqual([artifactKey]);
});

test("a sweep whose runner was killed runs again immediately, not at the next scheduled time", async () => {
  await using app = await openTestApp();
  const { config } = app.deps;
  const env = { ...NO_CLOCK, DATABASE_URL: config.databaseUrl, DATA_DIR: config.dataDir };
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  {
    await using _runner = await startRunner(env);
    await waitFor(async () => (await getJob(app, person.key, id)).status === "ready");
  }
  await ageExportJob(app, id, 100);
  await app.db.owner.begin(async (tx) => {
    await tx`lock table audit_log in exclusive mode`;
    await using runner = await startRunner(env);
    // The sweep deletes the file before it waits for the lock.
    await waitFor(async () => (await storedFiles(app)).length === 0);
    runner.kill("SIGKILL");
    await runner.exited;
  });
  await lapseHeartbeats(app.db);
  const directory = fileURLToPath(config.artifactUrl);
  const left = artifactKeyOf({ id, attempt: 1, buildId: crypto.randomUUID() });
  await Bun.write(join(directory, "x"), "part");
  await rename(join(directory, "x"), join(directory, left));
  expect(await storedFiles(app)).toEqual([left]);
  await using _next = await startRunner(env);
  await waitFor(async () => (await getJob(app, person.key, id)).status === "expired");
  await waitFor(async () => (await storedFiles(app)).length === 0);
});
