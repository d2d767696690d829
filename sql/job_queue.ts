/** The queue of background jobs: pg-boss in the schema `pgboss`. Jobs are queued inside our own transactions. */
import { type ConstructorOptions, type Db, PgBoss, type Queue } from "pg-boss";
import {
  JOB_NAMES,
  type JobName,
  type JobPayloads,
  type ScheduledJobName,
} from "../shared/background_jobs.ts";
import type { Sql } from "./connection/pool.ts";

export type Boss = PgBoss;

const SCHEMA = "pgboss";
/** Seconds without a heartbeat after which an attempt fails. Another runner gets the job after the queue's retry delay. */
const HEARTBEAT_SECONDS = 20;
/** Interval of the checks for lapsed heartbeats, due schedules and queue lengths. */
const HEARTBEAT_CHECK_SECONDS = 5;
/** OIDs of PostgreSQL types. */
const TEXT = 25;
const TIMESTAMPTZ = 1184;

/** A pg-boss script that runs in its own transaction. */
const TRANSACTION_SCRIPT = /^\s*BEGIN;(.*)COMMIT;\s*$/s;

/** Adapts a pool or an open transaction to the database interface of pg-boss. */
function bossDatabase(sql: Sql): Db {
  return {
    async executeSql(text, values = []) {
      // PostgreSQL runs all statements of one message in one transaction. `begin` is not needed, and a pool would reject it.
      const [, statements = text] = TRANSACTION_SCRIPT.exec(text) ?? [];
      const parameters = values.map((value) => bossParameter(sql, value)) as never[];
      const result: unknown[] = await sql.unsafe(statements, parameters);
      // A message with several statements returns a list of results.
      return { rows: result.some(Array.isArray) ? result.flat() : [...result] };
    },
  };
}

/**
 * Converts a parameter of pg-boss for the driver. pg-boss binds JSON as text. Without the type `text`, the driver would stringify
 * the JSON again. pg-boss binds times as Date, but our pools expect strings.
 */
function bossParameter(sql: Sql, value: unknown): unknown {
  if (value instanceof Date) return sql.typed(value.toISOString() as never, TIMESTAMPTZ);
  return typeof value === "string" ? sql.typed(value as never, TEXT) : value;
}

/** Installs or upgrades the schema of pg-boss and creates the queues. `sql` must be one connection, not a pool. */
export async function installQueues(sql: Sql): Promise<void> {
  // Background errors are ignored, because the calls below throw the relevant errors.
  const boss = await startBoss(sql, () => {}, { migrate: true, supervise: false, schedule: false });
  try {
    for (const name of JOB_NAMES) {
      await boss.createQueue(name, QUEUE_SETTINGS[name]);
      // An existing queue keeps its policy.
      const { policy: _policy, ...options } = QUEUE_SETTINGS[name];
      await boss.updateQueue(name, options);
    }
  } finally {
    await boss.stop({ graceful: false });
  }
}

/** Called with background errors, such as a lost connection that is not restored yet. */
export type OnBossError = (error: unknown) => void;

function startBoss(sql: Sql, onError: OnBossError, options: ConstructorOptions): Promise<Boss> {
  const boss = new PgBoss({ db: bossDatabase(sql), schema: SCHEMA, migrate: false, ...options });
  // Without a listener, an error event would crash the process.
  boss.on("error", onError);
  return boss.start();
}

/** Opens the queue for a process that only adds jobs, on the process's own connections. `stop` ends the queue's timer. */
export function openQueue(sql: Sql, onError: OnBossError): Promise<Boss> {
  return startBoss(sql, onError, { supervise: false, schedule: false });
}

/**
 * Opens the queue for the job runner, which runs jobs, retries the jobs of crashed workers, and maintains the schedules. The jobs
 * use the same pool, so stop the queue before ending the pool.
 */
export function openWorkerQueue(sql: Sql, onError: OnBossError): Promise<Boss> {
  return startBoss(sql, onError, {
    schedule: true,
    superviseIntervalSeconds: HEARTBEAT_CHECK_SECONDS,
    monitorIntervalSeconds: HEARTBEAT_CHECK_SECONDS,
    cronMonitorIntervalSeconds: HEARTBEAT_CHECK_SECONDS,
    queueCacheIntervalSeconds: HEARTBEAT_CHECK_SECONDS,
  });
}

/**
 * Corrects times in the queue that are in the future because the database's clock was set back. Otherwise, pg-boss would not check
 * heartbeats or schedules, and would not start waiting jobs, until the clock has caught up.
 */
export async function correctQueueTimes(sql: Sql): Promise<void> {
  await sql`
    with schedules as (
      update pgboss.version set cron_on = null where cron_on > now()
    ), checks as (
      update pgboss.queue
      set monitor_claim_on = null, monitor_on = null, maintain_on = null
      where monitor_claim_on > now()
      returning name
    )
    update pgboss.job
    set heartbeat_on = least(heartbeat_on, now()),
      -- If created_on is not in the future, a delay caused by the clock cannot be distinguished from an intended delay.
      start_after = case when created_on > now() then least(start_after, now()) else start_after end
    where name in (select name from checks) and state <= 'active'
      and (heartbeat_on > now() or (created_on > now() and start_after > now()))`;
}

/** A job to queue, with its id in the queue. */
export interface QueuedJob<Name extends JobName> {
  id: string;
  name: Name;
  payload: JobPayloads[Name];
  /** Seconds after which a running attempt expires, for queues without the setting `expireInSeconds`. */
  expireSeconds?: number;
  /** The earliest start time of the job; immediately if unset or null. */
  startAt?: string | null;
}

/** Queues a job that exists only if the surrounding transaction commits. */
export async function enqueueJob<Name extends JobName>(
  sql: Sql,
  boss: Boss,
  job: QueuedJob<Name>,
): Promise<void> {
  const { id, name, payload, expireSeconds, startAt = null } = job;
  const expiry = expireSeconds === undefined ? {} : { expireInSeconds: expireSeconds };
  const start = startAt === null ? {} : { startAfter: startAt };
  const queued = await boss.send(name, payload, { id, ...expiry, ...start, db: bossDatabase(sql) });
  if (queued === null) throw new Error(`Cannot queue ${name} "${id}": it is already queued`);
}

/** A job that a worker has fetched from the queue. If another worker fetches the job later, its `retryCount` is higher. */
export interface QueueClaim {
  id: string;
  name: JobName;
  retryCount: number;
}

/** Returns a claimed job to the queue, to run at `startAt`. Call inside the transaction that records the reason. */
export async function postponeJob(
  sql: Sql,
  boss: Boss,
  { claim: { id, name, retryCount }, startAt }: { claim: QueueClaim; startAt: string },
): Promise<void> {
  const db = bossDatabase(sql);
  // Has no effect if the claim has lapsed. The job is then waiting again or fetched by another worker.
  await boss.fail(name, { id, retryCount }, null, { db });
  await boss.update(name, undefined, { id, startAfter: startAt, db });
}

/** Cancels a job in the queue. Call inside the transaction that records the cancellation. */
export async function cancelJob(sql: Sql, boss: Boss, job: { id: string; name: JobName }): Promise<void> {
  await boss.cancel(job.name, job.id, { db: bossDatabase(sql) });
}

/** Marks a job as completed. Call inside the transaction of the job's last effect, so that both commit together. */
export async function completeJob(sql: Sql, boss: Boss, job: { id: string; name: JobName }): Promise<void> {
  await boss.complete(job.name, job.id, null, { db: bossDatabase(sql) });
}

/**
 * Schedules a job without a payload by a cron expression (UTC), and queues it once now. The schedule replaces an earlier one. Any
 * number of processes may schedule the same job: each occurrence is queued only once.
 */
export async function scheduleJob(boss: Boss, job: { name: ScheduledJobName; cron: string }): Promise<void> {
  await boss.schedule(job.name, job.cron, {}, { tz: "UTC" });
  await boss.send(job.name, {});
}

const DAY_SECONDS = 24 * 3600;
const YEAR_SECONDS = 365 * DAY_SECONDS;

/**
 * At most one sweep of a queue is waiting or active. If a runner crashes during a sweep, no other sweep can be queued until that
 * sweep ends, so it is retried.
 */
const SWEEP = {
  policy: "exclusive",
  retryLimit: 1,
  retryDelay: 1,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: 15 * 60,
  deleteAfterSeconds: DAY_SECONDS,
} as const;

/** Retries after 1 to 2 minutes, then after delays that double up to 60 minutes. All retries together take 35 to 36 hours. */
const MAIL = {
  retryLimit: 40,
  retryDelay: 60,
  retryBackoff: true,
  retryDelayMax: 3600,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // Longer than the timeout for responses of the mail server (jobs/mailer.ts).
  expireInSeconds: 3600,
} as const;

/** The largest value of a column of type `integer`. */
const MAX_INTEGER = 2 ** 31 - 1;

/** pg-boss settings of each queue. */
const QUEUE_SETTINGS: Readonly<Record<JobName, Omit<Queue, "name">>> = {
  // The row of an export job counts the attempts and limits the waits for storage or the database. pg-boss must never give up on a
  // queued job or delete it, because the export job would then wait forever.
  build_org_export: {
    retryLimit: MAX_INTEGER,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 30,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retentionSeconds: 10 * YEAR_SECONDS,
  },
  delete_old_records: SWEEP,
  expire_org_exports: SWEEP,
  // A user is waiting for the mail.
  send_account_mail: { ...MAIL, retryDelay: 5, expireInSeconds: 15 * 60 },
  send_export_ready: MAIL,
  send_webhook_disabled: MAIL,
};
