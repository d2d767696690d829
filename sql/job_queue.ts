/** The queue of background jobs: pg-boss in schema `pgboss`, written inside our own transactions. */
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
/** How long an entry stays with a runner whose heartbeats have stopped. Then another runner gets it, within 30 s. */
const HEARTBEAT_SECONDS = 20;
/** How often lapsed heartbeats are checked, due schedules, and how many entries wait. */
const HEARTBEAT_CHECK_SECONDS = 5;
/** OIDs of types. */
const TEXT = 25;
const TIMESTAMPTZ = 1184;

/** A script that pg-boss runs in its own transaction. */
const TRANSACTION_SCRIPT = /^\s*BEGIN;(.*)COMMIT;\s*$/s;

/** Adapts a pool or an open transaction to the database interface of pg-boss. */
function bossDatabase(sql: Sql): Db {
  return {
    async executeSql(text, values = []) {
      // PostgreSQL runs the statements of one message in one transaction; a pool refuses `begin`.
      const [, statements = text] = TRANSACTION_SCRIPT.exec(text) ?? [];
      const parameters = values.map((value) => bossParameter(sql, value)) as never[];
      const result: unknown[] = await sql.unsafe(statements, parameters);
      // Several statements return a list of results.
      return { rows: result.some(Array.isArray) ? result.flat() : [...result] };
    },
  };
}

/**
 * pg-boss binds JSON as text. Without the type text, the driver would stringify it again. It binds instants as Date, but our
 * pools expect strings.
 */
function bossParameter(sql: Sql, value: unknown): unknown {
  if (value instanceof Date) return sql.typed(value.toISOString() as never, TIMESTAMPTZ);
  return typeof value === "string" ? sql.typed(value as never, TEXT) : value;
}

/** Installs or upgrades the schema and creates the queues. `sql` must be one connection, not a pool. */
export async function installQueues(sql: Sql): Promise<void> {
  // Relevant errors are thrown by the calls below.
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

/** Called with background errors, such as a lost connection before it is restored. */
export type OnBossError = (error: unknown) => void;

function startBoss(sql: Sql, onError: OnBossError, options: ConstructorOptions): Promise<Boss> {
  const boss = new PgBoss({ db: bossDatabase(sql), schema: SCHEMA, migrate: false, ...options });
  // Without a listener, an error event would end the process.
  boss.on("error", onError);
  return boss.start();
}

/** Opens the queue for processes that only add jobs, on their own connections. `stop` ends its timer. */
export function openQueue(sql: Sql, onError: OnBossError): Promise<Boss> {
  return startBoss(sql, onError, { supervise: false, schedule: false });
}

/**
 * Opens the queue for the job runner, which runs jobs, retries those of dead workers, and maintains the schedules. The pool
 * is shared with the jobs; stop the queue before ending it.
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
 * Corrects times that are in the future because the database's clock was set back. Until the clock had caught up, pg-boss
 * would check no heartbeats and no schedules, and start no job that was waiting.
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
      -- Of a job that was queued before, nothing tells the clock's step from a pause that was meant.
      start_after = case when created_on > now() then least(start_after, now()) else start_after end
    where name in (select name from checks) and state <= 'active'
      and (heartbeat_on > now() or (created_on > now() and start_after > now()))`;
}

/** A job to queue, with its id in the queue. */
export interface QueuedJob<Name extends JobName> {
  id: string;
  name: Name;
  payload: JobPayloads[Name];
  /** How long an attempt may run before it counts as stuck, if the queue does not say. */
  expireSeconds?: number;
  /** When it may run; at once if unset or null. */
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

/** An entry of the queue as a worker fetched it. Another worker that fetches it later has a higher `retryCount`. */
export interface QueueClaim {
  id: string;
  name: JobName;
  retryCount: number;
}

/** Gives a claimed job back, to run at `startAt`. Call inside the transaction that notes why. */
export async function postponeJob(
  sql: Sql,
  boss: Boss,
  { claim: { id, name, retryCount }, startAt }: { claim: QueueClaim; startAt: string },
): Promise<void> {
  const db = bossDatabase(sql);
  // Does nothing if the claim has lapsed. Then the entry waits already, or another worker has it.
  await boss.fail(name, { id, retryCount }, null, { db });
  await boss.update(name, undefined, { id, startAfter: startAt, db });
}

/** Removes a job from the queue. Call inside the transaction that cancels it. */
export async function cancelJob(sql: Sql, boss: Boss, job: { id: string; name: JobName }): Promise<void> {
  await boss.cancel(job.name, job.id, { db: bossDatabase(sql) });
}

/** Completes a job. Call inside the transaction of its last effect, so that both commit together. */
export async function completeJob(sql: Sql, boss: Boss, job: { id: string; name: JobName }): Promise<void> {
  await boss.complete(job.name, job.id, null, { db: bossDatabase(sql) });
}

/**
 * Schedules a job without a payload by a cron expression (UTC), replaces its earlier schedule, and queues it once now. Any
 * number of processes may do this: each occurrence is queued once.
 */
export async function scheduleJob(boss: Boss, job: { name: ScheduledJobName; cron: string }): Promise<void> {
  await boss.schedule(job.name, job.cron, {}, { tz: "UTC" });
  await boss.send(job.name, {});
}

const DAY_SECONDS = 24 * 3600;
const YEAR_SECONDS = 365 * DAY_SECONDS;

/**
 * At most one entry, waiting or active. The retry is for a sweep whose runner died: until its entry ends, no other
 * sweep can be queued.
 */
const SWEEP = {
  policy: "exclusive",
  retryLimit: 1,
  retryDelay: 1,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: 15 * 60,
  deleteAfterSeconds: DAY_SECONDS,
} as const;

/** Retries after 1, 2, 4 … 60 minutes, each randomly shortened by up to half: for 17 to 34 hours. */
const MAIL = {
  retryLimit: 40,
  retryDelay: 60,
  retryBackoff: true,
  retryDelayMax: 3600,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // Longer than the mail server may take to respond (jobs/mailer.ts).
  expireInSeconds: 3600,
} as const;

/** The largest value of a column of type `integer`. */
const MAX_INTEGER = 2 ** 31 - 1;

/** Settings of pg-boss per queue. */
const QUEUE_SETTINGS: Readonly<Record<JobName, Omit<Queue, "name">>> = {
  // Attempts are counted in the row of the export job, and waits for storage or database end by its times. pg-boss must never
  // give up on an entry or delete it, because the row would then wait forever.
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
  // A person is waiting for the mail.
  send_account_mail: { ...MAIL, retryDelay: 5, expireInSeconds: 15 * 60 },
  send_export_ready: MAIL,
  send_webhook_disabled: MAIL,
};
