/** A runner that receives SIGTERM during a build that cannot finish in time. */
import { expect, test } from "bun:test";
import { listTroubles } from "../helpers/exports/aftermath.ts";
import { getJob, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { HELD_AS_OF, withHeldBuild } from "../helpers/exports/held_build.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

test("a build stopped by SIGTERM returns to the queue without using up an attempt, and another runner finishes it", async () => {
  await using app = await openTestApp();
  const { databaseUrl, dataDir } = app.deps.config;
  await using mailServer = await openMailServer();
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, SMTP_URL: mailServer.url };
  const { person } = await makeHeavyOrg(app, 5);
  const { id } = await jobOf(await postJob(app, person, { as_of: HELD_AS_OF }));
  const show = () => getJob(app, person.key, id);
  await withHeldBuild(app.db, env, async (runner) => {
    expect(await show()).toMatchObject({ status: "running", attempt: 1 });
    runner.kill("SIGTERM");
    expect(await runner.exited).toBe(0);
    expect(await show()).toMatchObject({ status: "queued", attempt: 0 });
    expect(await listMismatches(app)).toEqual([]);
  });
  await using _another = await startRunner(env);
  await waitFor(async () => (await show()).status === "ready");
  expect(await show()).toMatchObject({ attempt: 1 });
  expect(await listTroubles({ db: app.db, dataDir, mailServer })).toEqual([]);
});
