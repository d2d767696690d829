/** Tests the job runner as a separate process. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "../../sql/connection/pool.ts";
import { queueMail } from "../helpers/accounts/account_mail.ts";
import { getJob, jobOf, postJob } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { spawnRunner, startRunner } from "../helpers/process/runner_process.ts";
import { untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

test("builds and mails each job once with two runners, which stop on SIGTERM", async () => {
  await using app = await openTestApp();
  const { databaseUrl, dataDir } = app.deps.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const runners = [spawnRunner(env), spawnRunner(env)];
  const jobs: { key: string; id: string }[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { person } = await makeExportProject(app);
    jobs.push({ key: person.key, id: (await jobOf(await postJob(app, person))).id });
  }
  for (const { key, id } of jobs) {
    await waitFor(async () => (await getJob(app, key, id)).status === "ready");
    expect(await getJob(app, key, id)).toMatchObject({ attempt: 1 });
  }
  const files = () => readdir(join(dataDir, "mail")).catch(() => []);
  // Ignores mails that are still being written, which have another file extension.
  const mails = async () => (await files()).filter((name) => name.endsWith(".eml"));
  await waitFor(async () => (await mails()).length === jobs.length);
  expect((await mails()).sort()).toEqual(jobs.map(({ id }) => `${id}.eml`).sort());
  for (const runner of runners) runner.kill("SIGTERM");
  expect(await Promise.all(runners.map((runner) => runner.exited))).toEqual([0, 0]);
  const lines = runners.flatMap((runner) => runner.logLines());
  for (const event of ["export_job.ready", "mail.stored"]) {
    expect(lines.filter((line) => line["event"] === event).length).toBe(3);
  }
});

test("finishes sending a mail and reports not ready after SIGTERM, even while a bucket does not respond", async () => {
  await using app = await openTestApp();
  const isReceived = Promise.withResolvers<void>();
  const accepting = Promise.withResolvers<void>();
  await using server = await openMailServer({
    onData(stream, _session, callback) {
      stream.resume();
      stream.on("end", () => {
        isReceived.resolve();
        void accepting.promise.then(() => callback());
      });
    },
  });
  using bucket = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { email } = await app.make.user();
  const id = await queueMail(app, { kind: "password_reset", email, network: "203.0.113.7" });
  await using runner = spawnRunner({
    DATABASE_URL: app.deps.config.databaseUrl,
    SMTP_URL: server.url,
    ARTIFACT_URL: "s3://exports",
    S3_ENDPOINT: `http://127.0.0.1:${bucket.port}`,
    S3_REGION: "us-east-1",
    S3_ACCESS_KEY_ID: "id",
    S3_SECRET_ACCESS_KEY: "secret",
    METRICS_PORT: "0",
  });
  await isReceived.promise;
  const { port } = await untilLogged(runner, "serving metrics");
  runner.kill("SIGTERM");
  await untilLogged(runner, "stopping");
  const ready = await fetch(`http://127.0.0.1:${port}/health/ready`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("leaving")]);
  accepting.resolve();
  expect(await runner.exited).toBe(0);
  const [mail] = await app.db.sql`select sent_at is not null as is_sent from account_mails where id = ${id}`;
  expect(mail).toEqual({ isSent: true });
});

test("runs waiting and abandoned jobs and checks schedules after the database's clock is set back", async () => {
  await using app = await openTestApp();
  const { boss, sql } = app.deps;
  const mails: string[] = [];
  for (const recipient of [await app.make.user(), await app.make.user()]) {
    mails.push(
      await queueMail(app, { kind: "password_reset", email: recipient.email, network: "203.0.113.7" }),
    );
  }
  const [taken] = await boss.fetch<{ accountMailId: string }>("send_account_mail");
  expect(mails).toContain(String(taken?.data.accountMailId));
  await sql`update pgboss.queue set monitor_claim_on = now(), monitor_on = now()`;
  await sql`update pgboss.version set cron_on = now()`;
  await setClockBack(app.db.sql);
  await using runner = await startRunner({
    DATABASE_URL: app.deps.config.databaseUrl,
    DATA_DIR: app.deps.config.dataDir,
  });
  await waitFor(
    async () => (await sql`select from account_mails where sent_at is not null`).length === mails.length,
  );
  await waitFor(async () => (await sql`select from pgboss.version where cron_on <= now()`).length === 1);
  expect(runner.problems()).toBe("");
});

/**
 * Moves the times in the queue an hour into the future, as if the database's clock had been set back. Sets the heartbeat timeout of
 * all jobs to one second.
 */
async function setClockBack(sql: Sql): Promise<void> {
  const hour = sql`interval '1 hour'`;
  await sql`
    update pgboss.queue set monitor_claim_on = monitor_claim_on + ${hour}, monitor_on = monitor_on + ${hour}`;
  await sql`update pgboss.version set cron_on = cron_on + ${hour}`;
  await sql`
    update pgboss.job
    set created_on = created_on + ${hour}, start_after = start_after + ${hour}, heartbeat_on = heartbeat_on + ${hour},
      heartbeat_seconds = 1`;
}

test("does not start on a database with pending migrations", async () => {
  await using app = await openTestApp();
  await app.db.owner`delete from schema_migrations where name like '%export_jobs__create%'`;
  const runner = spawnRunner({ DATABASE_URL: app.deps.config.databaseUrl });
  expect(await runner.exited).toBe(1);
  expect(runner.problems()).toBe(
    'Cannot start: the database lacks 1 migration, from "20261121130000_export_jobs__create" on; run `bun run migrate` first\n',
  );
});

test("does not start with an invalid SMTP_URL, and does not reveal the URL's password", async () => {
  const runner = spawnRunner({
    DATABASE_URL: "postgres://nowhere/x",
    SMTP_URL: "mailto://me:hunter2@mail.internal",
  });
  expect(await runner.exited).toBe(1);
  expect(runner.problems()).toBe(
    "SMTP_URL: must be an smtp:// or smtps:// URL with user and password percent-encoded\n",
  );
});

test("does not start when the schema in TRACKER_SCHEMA does not exist", async () => {
  await using app = await openTestApp();
  const runner = spawnRunner({ DATABASE_URL: app.deps.config.databaseUrl, TRACKER_SCHEMA: "nowhere" });
  expect(await runner.exited).toBe(1);
  expect(runner.problems()).toBe(
    'Cannot start: TRACKER_SCHEMA: schema "nowhere": missing; set TRACKER_SCHEMA to the schema of the tables or views\n',
  );
});

test("does not start when DATABASE_DIRECT_URL and DATABASE_URL lead to different databases", async () => {
  await using app = await openTestApp();
  await using other = await openTestDatabase();
  const runner = spawnRunner({ DATABASE_URL: app.deps.config.databaseUrl, DATABASE_DIRECT_URL: other.url });
  expect(await runner.exited).toBe(1);
  expect(runner.problems()).toBe(
    "Cannot start: DATABASE_URL and DATABASE_DIRECT_URL lead to different databases; set both to the same one\n",
  );
});

test("starts while the pooler at DATABASE_URL cannot be reached", async () => {
  await using app = await openTestApp();
  const { databaseUrl, dataDir } = app.deps.config;
  const runner = await startRunner({
    DATABASE_URL: "postgres://app@127.0.0.1:1/app",
    DATABASE_DIRECT_URL: databaseUrl,
    DATA_DIR: dataDir,
  });
  runner.kill("SIGTERM");
  expect(await runner.exited).toBe(0);
});
