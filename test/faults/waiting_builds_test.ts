/** The storage or the database fails during a build: the job waits, even if its runner is killed in the meantime. */
import { expect, test } from "bun:test";
import { shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import { downloadJob, getJob, jobOf, listMismatches, postJob, unzip } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { HELD_AS_OF } from "../helpers/exports/held_build.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { startS3Server } from "../helpers/network/s3_server.ts";
import { listWaiting } from "../helpers/postgres/waiting_sessions.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import type { ServiceProcess } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** Starts a runner, blocks its build in the middle, runs `act` and unblocks the build. */
async function startStopped(
  app: TestApp,
  env: Readonly<Record<string, string>>,
  act: () => Promise<void>,
): Promise<ServiceProcess> {
  return await app.db.owner.begin(async (tx) => {
    // Locks the table before the start, because a fast runner could read it first.
    await tx`lock table analysis_records in access exclusive mode`;
    const runner = await startRunner(env);
    await waitFor(async () => (await listWaiting(app.db.sql, "analysis_records")).length > 0);
    await act();
    return runner;
  });
}

test("a build waits for an unreachable bucket, and if the waiting runner is killed, another finishes the build", async () => {
  await using s3 = await startS3Server();
  await using app = await openTestApp({ config: s3.config });
  const env = { ...s3.env, DATABASE_URL: app.deps.config.databaseUrl, DATA_DIR: app.deps.config.dataDir };
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person, { as_of: HELD_AS_OF }));
  const show = () => getJob(app, person.key, id);
  {
    await using runner = await startStopped(app, env, s3.kill);
    const waiting = await waitFor(async () => ((await show()).waitingFor ? show() : null));
    expect(waiting).toMatchObject({ status: "queued", attempt: 0, waitingFor: "storage" });
    expect(await listMismatches(app)).toEqual([]);
    runner.kill("SIGKILL");
    await runner.exited;
  }
  expect(await listMismatches(app)).toEqual([]);
  await s3.restart();
  await using _other = await startRunner(env);
  await waitFor(async () => (await show()).status === "ready");
  expect(await show()).toMatchObject({ attempt: 1 });
  const file = await unzip(await (await downloadJob(app, person.key, id)).arrayBuffer());
  expect([...file.keys()]).toContain("manifest.json");
  expect(await listMismatches(app)).toEqual([]);
});

test("a build waits while the database is full, and records that it waited once there is space again", async () => {
  await using app = await openTestApp();
  await shortenHeartbeats(app.db, 10);
  const env = { DATABASE_URL: app.deps.config.databaseUrl, DATA_DIR: app.deps.config.dataDir };
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person, { as_of: HELD_AS_OF }));
  const show = () => getJob(app, person.key, id);
  await app.db.owner`
    create function no_room() returns trigger language plpgsql as $$
    begin
      raise exception 'could not extend file "base/1": No space left on device' using errcode = 'disk_full';
    end $$`;
  await using runner = await startStopped(app, env, async () => {
    await app.db.owner`create trigger no_room before update on export_jobs execute function no_room()`;
  });
  const logged = (event: string) => runner.logLines().find((line) => line["event"] === event);
  await waitFor(() => logged("export_job.attempt_failed"));
  expect(await show()).toMatchObject({ status: "running", attempt: 1 });
  await app.db.owner`drop trigger no_room on export_jobs`;
  await waitFor(() => logged("export_job.waiting"));
  expect(await listMismatches(app)).toEqual([]);
  await waitFor(async () => (await show()).status === "ready");
  expect(await show()).toMatchObject({ attempt: 1 });
  expect(await listMismatches(app)).toEqual([]);
});
