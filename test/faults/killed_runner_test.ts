/**
 * Job runners killed at every stage of a build: no job is lost or built twice, and no partial file counts as
 * complete.
 */
import { expect, test } from "bun:test";
import { listTroubles, shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import { jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { HEAVY_ISSUES, HEAVY_PROJECTS, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { randomNumbers } from "../helpers/random_numbers.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** The number of killed runners. The soak test kills many more, at random times. */
const DEATHS = 8;
const RUNS_A_PROJECT = 6;
const SEED = 20_261_121;

type Env = Readonly<Record<string, string>>;

interface JobState {
  id: string;
  status: string;
  attempt: number;
  rowsWritten: number;
  artifactSha256: string | null;
}

async function listStates(app: TestApp): Promise<readonly JobState[]> {
  return app.db.sql<JobState[]>`
    select id, status, attempt, rows_written, artifact_sha256 from export_jobs order by created_at, id`;
}

async function stateOf(app: TestApp, id: string): Promise<JobState> {
  const job = (await listStates(app)).find((state) => state.id === id);
  if (!job) throw new Error(`Cannot find export job "${id}"`);
  return job;
}

/** Creates an organization, queues its export and returns the job's id. */
async function queueHeavy(app: TestApp): Promise<string> {
  const { person } = await makeHeavyOrg(app, RUNS_A_PROJECT);
  return (await jobOf(await postJob(app, person))).id;
}

/** Returns the build time of a ready job in milliseconds; null if the job is not ready. */
async function timeOfBuild(app: TestApp, id: string): Promise<number | null> {
  const [row] = await app.db.sql<{ tookMs: number }[]>`
    select extract(epoch from ready_at - started_at)::float8 * 1000 as took_ms
    from export_jobs
    where id = ${id} and status = 'ready'`;
  return row?.tookMs ?? null;
}

/**
 * Returns the shorter time of two undisturbed builds, because one may be slow on a busy machine. Each build is the
 * first of its process.
 */
async function timeBuild(app: TestApp, env: Env): Promise<number> {
  const times: number[] = [];
  while (times.length < 2) {
    const id = await queueHeavy(app);
    await using _runner = await startRunner(env);
    times.push(await waitFor(() => timeOfBuild(app, id)));
  }
  return Math.min(...times);
}

/** Queues a job, starts a runner and kills it `lifeMs` after it has begun the job. Returns the job's state after the kill. */
async function dieBuilding(app: TestApp, env: Env, lifeMs: number): Promise<JobState> {
  const id = await queueHeavy(app);
  await using runner = await startRunner(env);
  await waitFor(async () => (await stateOf(app, id)).attempt === 1);
  // The only fixed wait, because the time of the kill is what this test varies.
  await Bun.sleep(lifeMs);
  runner.kill("SIGKILL");
  await runner.exited;
  expect(await listMismatches(app)).toEqual([]);
  return stateOf(app, id);
}

test("other runners finish builds whose runners were killed at eight different times, and rebuild no ready job", async () => {
  await using app = await openTestApp();
  await shortenHeartbeats(app.db, 6);
  const { databaseUrl, dataDir } = app.deps.config;
  await using mailServer = await openMailServer();
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, SMTP_URL: mailServer.url };
  // No mail server, because a runner killed right after sending a mail would cause a second mail.
  const mortal = { ...env, SMTP_URL: "smtp://127.0.0.1:1" };
  let buildMs = await timeBuild(app, mortal);
  const random = randomNumbers(SEED);
  const dead: JobState[] = [];
  const isEnough = () => dead.filter(({ status }) => status === "running").length > DEATHS / 2;
  // If builds finish before the kills because the machine has become faster, all kill times are repeated.
  for (let death = 0; death < DEATHS || (!isEnough() && death < 3 * DEATHS); death += 1) {
    // One kill in each eighth of a build. A tenth is added for the work after the last byte.
    const job = await dieBuilding(app, mortal, (((death % DEATHS) + random()) / DEATHS) * buildMs * 1.1);
    dead.push(job);
    buildMs = Math.min(buildMs, (await timeOfBuild(app, job.id)) ?? buildMs);
  }
  expect(isEnough()).toBe(true);

  await using _first = await startRunner(env);
  await using _second = await startRunner(env);
  await waitFor(async () => (await listStates(app)).every(({ status }) => status === "ready"));
  for (const before of dead) {
    const job = await stateOf(app, before.id);
    if (before.status === "ready") expect(job).toEqual(before);
    else expect(job.attempt).toBeGreaterThan(1);
    expect(job.rowsWritten).toBe(HEAVY_PROJECTS * (RUNS_A_PROJECT + HEAVY_ISSUES));
  }
  expect(await listTroubles({ db: app.db, dataDir, mailServer })).toEqual([]);
});
