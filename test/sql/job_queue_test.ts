import { expect, test } from "bun:test";
import { JOBS_APPLICATION } from "../../sql/connection/application_names.ts";
import { openPool, type Pool, type Sql } from "../../sql/connection/pool.ts";
import {
  type Boss,
  cancelJob,
  completeJob,
  enqueueJob,
  openQueue,
  openWorkerQueue,
  postponeJob,
  scheduleJob,
} from "../../sql/job_queue.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { listOpenTransactions, takeEveryConnection } from "../helpers/postgres/open_transactions.ts";
import { waitFor } from "../helpers/wait_for.ts";

const name = "build_org_export";

function failOn(error: unknown): never {
  throw error;
}

test("queues, cancels and completes a job only if the transaction commits", async () => {
  await using db = await openTestDatabase();
  const boss = await openQueue(db.sql, failOn);
  const states = async (): Promise<string[]> =>
    (await db.sql<{ state: string }[]>`select state::text from pgboss.job order by created_on`).map(
      (row) => row.state,
    );
  const enqueue = (tx: Sql, id: string) =>
    enqueueJob(tx, boss, { id, name, payload: { exportJobId: id }, expireSeconds: 60 });
  const undone = (work: (tx: Sql) => Promise<void>) =>
    expect(
      db.sql.begin(async (tx) => {
        await work(tx);
        throw new Error("undo");
      }),
    ).rejects.toThrow("undo");
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  await undone((tx) => enqueue(tx, first));
  expect(await states()).toEqual([]);
  await db.sql.begin((tx) => enqueue(tx, first));
  await db.sql.begin((tx) => enqueue(tx, second));
  expect(await states()).toEqual(["created", "created"]);
  await undone((tx) => cancelJob(tx, boss, { id: first, name }));
  expect(await states()).toEqual(["created", "created"]);
  await db.sql.begin((tx) => cancelJob(tx, boss, { id: first, name }));
  const [job] = await boss.fetch(name);
  expect(job).toMatchObject({ id: second, data: { exportJobId: second } });
  await undone((tx) => completeJob(tx, boss, { id: second, name }));
  expect(await states()).toEqual(["cancelled", "active"]);
  await db.sql.begin((tx) => completeJob(tx, boss, { id: second, name }));
  expect(await states()).toEqual(["cancelled", "completed"]);
  await boss.stop({ graceful: false });
});

test("enqueueJob() keeps text unchanged and rejects an id that is already queued", async () => {
  await using db = await openTestDatabase();
  const boss = await openQueue(db.sql, failOn);
  const id = crypto.randomUUID();
  const job = {
    id,
    name,
    payload: { exportJobId: 'a "quote", a \\ and ünïcödé' },
    expireSeconds: 60,
  } as const;
  await db.sql.begin((tx) => enqueueJob(tx, boss, job));
  const [row] = await db.sql`select jsonb_typeof(data) as type, data from pgboss.job where id = ${id}`;
  expect(row).toEqual({ type: "object", data: job.payload });
  await expect(db.sql.begin((tx) => enqueueJob(tx, boss, job))).rejects.toThrow("it is already queued");
  await boss.stop({ graceful: false });
});

test("limits an attempt by the job's timeout, or by the queue's timeout if the job has no timeout", async () => {
  await using db = await openTestDatabase();
  const boss = await openQueue(db.sql, failOn);
  const id = () => crypto.randomUUID();
  await db.sql.begin(async (tx) => {
    await enqueueJob(tx, boss, { id: id(), name, payload: { exportJobId: id() }, expireSeconds: 60 });
    await enqueueJob(tx, boss, { id: id(), name: "send_account_mail", payload: { accountMailId: id() } });
    await enqueueJob(tx, boss, { id: id(), name: "send_export_ready", payload: { exportJobId: id() } });
    await enqueueJob(tx, boss, { id: id(), name: "send_webhook_disabled", payload: { webhookId: id() } });
  });
  const rows = await db.sql<{ name: string; seconds: number }[]>`
    select name, expire_seconds as seconds from pgboss.job`;
  expect(Object.fromEntries(rows.map((row) => [row.name, row.seconds]))).toEqual({
    build_org_export: 60,
    send_account_mail: 900,
    send_export_ready: 3600,
    send_webhook_disabled: 3600,
  });
  await boss.stop({ graceful: false });
});

test("scheduleJob() keeps only the last schedule, and queues no entry until the previous entry is completed", async () => {
  await using db = await openTestDatabase();
  const sweep = "expire_org_exports";
  const bosses = await Promise.all([openQueue(db.sql, failOn), openQueue(db.sql, failOn)]);
  const [boss] = bosses;
  const schedule = (cron: string) =>
    Promise.all([...bosses, ...bosses].map((each) => scheduleJob(each, { name: sweep, cron })));
  const states = async () =>
    (await db.sql`select state::text from pgboss.job where name = ${sweep}`).map((row) => row["state"]);
  await schedule("*/5 * * * *");
  expect(await states()).toEqual(["created"]);
  const [job] = await boss.fetch(sweep);
  await schedule("7 3 * * *");
  expect(await states()).toEqual(["active"]);
  await boss.complete(sweep, job?.id ?? "");
  await schedule("7 3 * * *");
  expect((await states()).sort()).toEqual(["completed", "created"]);
  const rows = await db.sql`select name, cron, timezone from pgboss.schedule`;
  expect([...rows]).toEqual([{ name: sweep, cron: "7 3 * * *", timezone: "UTC" }]);
  for (const each of bosses) await each.stop({ graceful: false });
});

interface Worker extends AsyncDisposable {
  sql: Pool;
  boss: Boss;
  errors: unknown[];
}

/** Opens a queue as the job runner does: the queue supervises jobs and uses a pool of several connections. */
async function openWorker(db: TestDatabase): Promise<Worker> {
  const sql = openPool(db.url, { applicationName: JOBS_APPLICATION, max: 3 });
  const errors: unknown[] = [];
  const boss = await openWorkerQueue(sql, (error) => errors.push(error));
  return {
    sql,
    boss,
    errors,
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: false });
      await sql.end({ timeout: 1 });
    },
  };
}

async function listStates(db: TestDatabase, queue: string): Promise<string[]> {
  const rows = await db.sql<{ state: string }[]>`
    select state::text from pgboss.job where name = ${queue} order by created_on`;
  return rows.map((row) => row.state);
}

test("maintains the worker's queue through the service's own pool", async () => {
  await using db = await openTestDatabase();
  await using worker = await openWorker(db);
  const { boss, sql, errors } = worker;
  const [lapsed, spent] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const id of [lapsed, spent]) {
    const job = { id, name, payload: { exportJobId: id }, expireSeconds: 60 } as const;
    await sql.begin((tx) => enqueueJob(tx, boss, job));
    await boss.fetch(name, { includeMetadata: true });
  }
  await boss.complete(name, spent);
  await db.sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = ${lapsed}`;
  await db.sql`update pgboss.job set completed_on = now() - interval '1 year' where id = ${spent}`;
  await boss.supervise(name);
  expect(await listStates(db, name)).toEqual(["retry"]);
  await scheduleJob(boss, { name: "expire_org_exports", cron: "* * * * *" });
  // Tests a Date parameter, because pg-boss binds `createdBefore` as a Date.
  expect(await boss.previewRedrive(name, { createdBefore: new Date() })).toMatchObject({ total: 1 });
  expect(await boss.getSchedules()).toMatchObject([{ name: "expire_org_exports", cron: "* * * * *" }]);
  expect(errors).toEqual([]);
});

test("keeps a build in the queue, however often the build is postponed or its runner crashes", async () => {
  await using db = await openTestDatabase();
  await using worker = await openWorker(db);
  const { boss, sql, errors } = worker;
  const id = crypto.randomUUID();
  await sql.begin((tx) =>
    enqueueJob(tx, boss, { id, name, payload: { exportJobId: id }, expireSeconds: 60 }),
  );
  const fetch = async () => (await boss.fetch(name, { includeMetadata: true }))[0]?.retryCount ?? 0;
  await fetch();
  // The number of seconds in a week: one retry per second for the maximum of EXPORT_BUILD_PATIENCE_MINUTES.
  await db.sql`update pgboss.job set retry_count = ${7 * 24 * 3600} where id = ${id}`;
  await db.sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = ${id}`;
  await boss.supervise(name);
  expect(await listStates(db, name)).toEqual(["retry"]);
  await db.sql`update pgboss.job set start_after = now() where id = ${id}`;
  const retryCount = await fetch();
  expect(retryCount).toBe(7 * 24 * 3600 + 1);
  const startAt = new Date().toISOString();
  await sql.begin((tx) => postponeJob(tx, boss, { claim: { id, name, retryCount }, startAt }));
  expect(await listStates(db, name)).toEqual(["retry"]);
  expect(await fetch()).toBe(retryCount + 1);
  expect(errors).toEqual([]);
});

test("leaves no open transaction if a pg-boss SQL script fails midway", async () => {
  await using db = await openTestDatabase();
  await using worker = await openWorker(db);
  // The runtime role owns no tables, so it cannot create a partition.
  const made = worker.boss.createQueue("one_more", { partition: true });
  expect(await made.catch((error) => error.code)).toBe("42501");
  expect(await listOpenTransactions(db)).toEqual([]);
  expect(await db.sql`select from pgboss.queue where name = 'one_more'`).toHaveLength(0);
  await takeEveryConnection(worker.sql);
  expect(worker.errors).toEqual([]);
});

test("a worker keeps processing jobs after its connections are terminated", async () => {
  await using db = await openTestDatabase();
  await using worker = await openWorker(db);
  const done: string[] = [];
  const options = { pollingIntervalSeconds: 0.5, localConcurrency: 2 } as const;
  await worker.boss.work<{ exportJobId: string }>(name, options, async ([job]) => {
    if (job) done.push(job.data.exportJobId);
  });
  for (const id of [crypto.randomUUID(), crypto.randomUUID()]) {
    const job = { id, name, payload: { exportJobId: id }, expireSeconds: 60 } as const;
    await db.sql.begin((tx) => enqueueJob(tx, worker.boss, job));
    await waitFor(() => done.includes(id));
    await db.admin`
      select pg_terminate_backend(pid, 5000)
      from pg_stat_activity
      where datname = ${new URL(db.url).pathname.slice(1)} and application_name = ${JOBS_APPLICATION}`;
  }
  expect(done).toHaveLength(2);
});
