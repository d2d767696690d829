/** A runner killed during a build, with production heartbeats: the time until another runner replaces it. */
import { expect, test } from "bun:test";
import { listTroubles } from "../helpers/exports/aftermath.ts";
import { getJob, jobOf, postJob } from "../helpers/exports/export_job.ts";
import { makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { HELD_AS_OF, withHeldBuild } from "../helpers/exports/held_build.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** The time limit for taking over the job of a killed runner. */
const TAKEN_UP_MS = 60_000;

test("another runner takes over a killed runner's build within a minute", async () => {
  await using app = await openTestApp({ config: { rateLimitUserPerMinute: 1_000_000 } });
  await using mailServer = await openMailServer();
  const { databaseUrl, dataDir } = app.deps.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, SMTP_URL: mailServer.url };
  const { person } = await makeHeavyOrg(app, 5);
  const { id } = await jobOf(await postJob(app, person, { as_of: HELD_AS_OF }));
  const show = () => getJob(app, person.key, id);
  await withHeldBuild(app.db, env, async (builder) => {
    builder.kill("SIGKILL");
    await builder.exited;
  });
  await using _another = await startRunner(env);
  await waitFor(async () => (await show()).attempt === 2, TAKEN_UP_MS);
  await waitFor(async () => (await show()).status === "ready", 30_000);
  expect(await listTroubles({ db: app.db, dataDir, mailServer })).toEqual([]);
});
