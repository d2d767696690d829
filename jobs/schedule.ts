/** The background jobs: schedules, concurrency, polling intervals and the function of each job. */
import { JOB_NAMES, type JobName, type JobPayloads } from "../shared/background_jobs.ts";
import type { Log } from "../shared/process/log.ts";
import { pause } from "../shared/process/with_timeout.ts";
import type { TraceSpan, Tracing } from "../shared/tracing/tracing.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { type Boss, correctQueueTimes, type QueueClaim, scheduleJob } from "../sql/job_queue.ts";
import { sendAccountMail } from "./account_mail/send_account_mail.ts";
import { buildOrgExport } from "./build_org_export.ts";
import { deleteExpiredExports } from "./delete_expired_exports.ts";
import { deleteOldRecords } from "./delete_old_records.ts";
import type { RunnerDeps } from "./runner_deps.ts";
import { sendExportReady } from "./send_export_ready.ts";
import { followStoreOwner } from "./store_owner.ts";
import { sendWebhookDisabled } from "./webhooks/send_webhook_disabled.ts";

/** Concurrent builds per process, each with its own snapshot. */
export const CONCURRENT_BUILDS = 2;
/** Concurrent mails about exports per process, each with a database connection. */
export const CONCURRENT_MAILS = 2;
/**
 * Account mails that a process sends concurrently. The limit is high, so that a slow mail server does not delay mails that people
 * need to sign in. A send holds no database connection while it waits for the mail server.
 */
const CONCURRENT_ACCOUNT_MAILS = 8;
/** The schedule of `delete_old_records`, in UTC. `EXPORT_SWEEP_CRON` is the schedule of `expire_org_exports`. */
const RETENTION_CRON = "37 * * * *";

interface Job<Name extends JobName> {
  /** Concurrent runs per process. */
  concurrency: number;
  /** Seconds between polls. */
  pollSeconds: number;
  /** True if the job stays in the queue while the artifact store belongs to another database. */
  needsStore: boolean;
  /** Runs the job; throws if the queue should retry it. The signal is aborted when the queue considers the job lost. */
  run(
    deps: RunnerDeps,
    payload: JobPayloads[Name],
    claim: QueueClaim & { signal: AbortSignal },
  ): Promise<void>;
}

const JOBS: { readonly [Name in JobName]: Job<Name> } = {
  build_org_export: { concurrency: CONCURRENT_BUILDS, pollSeconds: 1, needsStore: true, run: buildOrgExport },
  delete_old_records: {
    concurrency: 1,
    pollSeconds: 5,
    needsStore: false,
    run: (deps, _payload, { signal }) =>
      deleteOldRecords(deps, AbortSignal.any([signal, deps.shutdownSignal])),
  },
  expire_org_exports: {
    concurrency: 1,
    pollSeconds: 5,
    needsStore: true,
    run: (deps, _payload, { signal }) =>
      deleteExpiredExports(deps, AbortSignal.any([signal, deps.shutdownSignal])),
  },
  // `needsStore` is false, because people must be able to sign in even if the artifact store is down.
  send_account_mail: {
    concurrency: CONCURRENT_ACCOUNT_MAILS,
    pollSeconds: 1,
    needsStore: false,
    run: sendAccountMail,
  },
  send_export_ready: {
    concurrency: CONCURRENT_MAILS,
    pollSeconds: 1,
    needsStore: true,
    run: sendExportReady,
  },
  send_webhook_disabled: { concurrency: 1, pollSeconds: 5, needsStore: true, run: sendWebhookDisabled },
};

export function createJobs(deps: RunnerDeps) {
  const { boss, log, config } = deps;
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  let starting: ReturnType<typeof followStoreOwner> | null = null;
  const take = async (needsStore: boolean): Promise<void> => {
    for (const name of namesOf(needsStore)) {
      if (!stop.signal.aborted) await work(deps, name, running);
    }
  };
  const onOwner = (isOurs: boolean): Promise<void> => (isOurs ? take(true) : stopTaking(boss, namesOf(true)));
  const takeUp = async () => {
    await scheduleJob(boss, { name: "expire_org_exports", cron: config.exportSweepCron });
    await scheduleJob(boss, { name: "delete_old_records", cron: RETENTION_CRON });
    await take(false);
    return followStoreOwner(deps, onOwner, stop.signal);
  };
  return {
    /**
     * Schedules the sweeps and starts working on the queues. While the artifact store belongs to another database, jobs that
     * need the store stay in their queue. Settles when the store has responded, at the latest after ten seconds.
     */
    async start(): Promise<void> {
      starting = takeUp();
      await starting;
      if (!stop.signal.aborted) log.info({ concurrentBuilds: CONCURRENT_BUILDS }, "working");
    },
    /** Stops fetching jobs. Settles when the running jobs have ended. May be called while `start` is running. */
    async finish(): Promise<void> {
      stop.abort();
      await stopTaking(boss, JOB_NAMES);
      const following = await starting?.catch(() => null);
      await following?.stopped;
      // `start` may just have started the workers of these queues.
      await stopTaking(boss, JOB_NAMES);
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** How often the queue's timestamps are corrected. */
const CORRECTION_MS = 5_000;

/**
 * Keeps the queue working if the database's clock is set back. Settles when `signal` is aborted. Retries while the database
 * is down.
 */
export async function keepQueueTimes(deps: { sql: Sql; log: Log }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await correctQueueTimes(deps.sql).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot correct the times of the queue");
    });
    await pause(CORRECTION_MS, signal);
  }
}

async function work<Name extends JobName>(
  deps: RunnerDeps,
  name: Name,
  running: Set<Promise<void>>,
): Promise<void> {
  const { concurrency, pollSeconds, run } = JOBS[name];
  const options = {
    batchSize: 1,
    localConcurrency: concurrency,
    pollingIntervalSeconds: pollSeconds,
    // With a backlog, a worker fetches its next job immediately.
    burstWhenReadyExceeds: concurrency,
    includeMetadata: true,
  } as const;
  await deps.boss.work<JobPayloads[Name], void, typeof options>(name, options, async ([job]) => {
    if (!job) return;
    const span = startJobSpan(deps.tracing, { name, id: job.id, payload: job.data });
    const log = span ? deps.log.child({ traceId: span.traceId }) : deps.log;
    const { id, retryCount, signal } = job;
    const done = run({ ...deps, log }, job.data, { id, name, retryCount, signal });
    running.add(done);
    try {
      await done;
    } catch (error) {
      span?.fail(error instanceof Error ? error.name : "unknown");
      if (job.retryCount >= job.retryLimit && !deps.shutdownSignal.aborted) {
        deps.metrics.jobsGivenUp.inc({ queue: name });
        deps.log.error(
          { event: "job.given_up", job: name, jobId: job.id, err: error },
          "a job failed for good",
        );
      }
      throw error;
    } finally {
      running.delete(done);
      span?.end();
    }
  });
}

/** Starts the span of a job, in the trace of the request that queued it. */
function startJobSpan(
  tracing: Tracing | null,
  { name, id, payload }: { name: JobName; id: string; payload: object },
): TraceSpan | null {
  const traceparent = "traceparent" in payload ? String(payload.traceparent) : null;
  return (
    tracing?.startSpan(`process ${name}`, {
      kind: "consumer",
      parent: { traceparent },
      attributes: {
        "messaging.system": "pg-boss",
        "messaging.operation.type": "process",
        "messaging.destination.name": name,
        "messaging.message.id": id,
      },
    }) ?? null
  );
}

function namesOf(needsStore: boolean): readonly JobName[] {
  return JOB_NAMES.filter((name) => JOBS[name].needsStore === needsStore);
}

async function stopTaking(boss: Boss, names: readonly JobName[]): Promise<void> {
  await Promise.all(names.map((name) => boss.offWork(name, { wait: false })));
}
