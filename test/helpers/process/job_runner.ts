/** Runs the job runner in the test's process, with the database and artifact directory of a test app. */
import { Registry } from "prom-client";
import { sendAccountMail } from "../../../jobs/account_mail/send_account_mail.ts";
import { buildOrgExport } from "../../../jobs/build_org_export.ts";
import { openMailer } from "../../../jobs/mailer.ts";
import type { RunnerDeps } from "../../../jobs/runner_deps.ts";
import { createRunnerMetrics } from "../../../jobs/runner_metrics.ts";
import { createJobs } from "../../../jobs/schedule.ts";
import { sendExportReady } from "../../../jobs/send_export_ready.ts";
import { openStoreOwner } from "../../../jobs/store_owner.ts";
import { openArtifactStore } from "../../../shared/artifacts/open_store.ts";
import type { ArtifactStore } from "../../../shared/artifacts/store.ts";
import type { JobName, JobPayloads } from "../../../shared/background_jobs.ts";
import type { Config } from "../../../shared/process/config.ts";
import { JOBS_APPLICATION } from "../../../sql/connection/application_names.ts";
import { Replica } from "../../../sql/connection/replica.ts";
import { type Boss, openQueue, openWorkerQueue, type QueueClaim } from "../../../sql/job_queue.ts";
import { openNodes } from "../../../sql/tracker/tracker_shards.ts";
import type { TestApp } from "../http/app.ts";

export interface TestRunner extends AsyncDisposable {
  deps: RunnerDeps;
  /**
   * Fetches the next entry of the build queue, even if it is not due, and runs one attempt to build this job's file.
   */
  build(exportJobId: string): Promise<void>;
  /** Fetches the next entry of the mail queue, even if it is not due, and tries once to send this job's mail. */
  mail(exportJobId: string): Promise<void>;
  /** Sends the account mails in the queue, oldest first, even if they are not due. Rejects at the first failure. */
  accountMails(): Promise<void>;
  /** Aborts builds as a shutdown does. */
  leave(): void;
}

export interface TestRunnerOptions {
  config?: Partial<Config>;
  store?: (store: ArtifactStore) => ArtifactStore;
  /** True to run queued jobs continuously. By default, jobs run only when the test calls a method of `TestRunner`. */
  isWorking?: boolean;
}

/** Opens the runner; `await using` stops it. */
export async function openTestRunner(app: TestApp, options: TestRunnerOptions = {}): Promise<TestRunner> {
  const config = { ...app.deps.config, ...options.config };
  const applicationName = JOBS_APPLICATION;
  const sql = app.db.openPool({ applicationName, max: 9 });
  const exportSql = app.db.openPool({ applicationName, max: 2, readOnly: true });
  const { log } = app.deps;
  const exports = { applicationName, max: 2, log };
  const { databaseReplicaUrl: url } = config;
  const replica = url ? new Replica(url, { primary: sql, ...exports }) : null;
  const nodes = await openNodes(sql, { url: config.databaseUrl, ...exports });
  const onError = (error: unknown) => log.error({ err: error }, "queue");
  // A worker queue would reassign a job that a test runs itself, because that job has no heartbeat.
  const boss = await (options.isWorking ? openWorkerQueue(sql, onError) : openQueue(sql, onError));
  const stop = new AbortController();
  const opened = openArtifactStore(config);
  const store = options.store?.(opened) ?? opened;
  const deps: RunnerDeps = {
    config,
    sql,
    exportSql,
    replica,
    nodes,
    boss,
    log,
    store,
    owner: openStoreOwner({ sql, store, log }),
    mailer: openMailer(config),
    metrics: createRunnerMetrics(new Registry()),
    tracing: null,
    shutdownSignal: stop.signal,
  };
  const jobs = options.isWorking ? createJobs(deps) : null;
  await jobs?.start();
  return {
    deps,
    build: (exportJobId) =>
      attempt(boss, { name: "build_org_export", id: exportJobId }, (claim) =>
        buildOrgExport(deps, { exportJobId }, { ...claim, signal: new AbortController().signal }),
      ),
    mail: (exportJobId) =>
      attempt(boss, { name: "send_export_ready", id: exportJobId }, () =>
        sendExportReady(deps, { exportJobId }),
      ),
    accountMails: () => sendQueuedAccountMails(deps),
    leave: () => stop.abort(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await jobs?.finish();
      await boss.stop({ graceful: false });
      await Promise.all([replica?.close(), nodes?.close()]);
    },
  };
}

async function sendQueuedAccountMails(deps: RunnerDeps): Promise<void> {
  const name = "send_account_mail";
  while (true) {
    const [job] = await deps.boss.fetch<JobPayloads[typeof name]>(name, { ignoreStartAfter: true });
    if (!job) return;
    await sendAccountMail(deps, job.data, { signal: new AbortController().signal }).catch(
      async (error: unknown) => {
        await deps.boss.fail(name, job.id);
        throw error;
      },
    );
    await deps.boss.complete(name, job.id);
  }
}

/** Fetches the next entry of the queue and runs one attempt of the job `id`. Fails the job if `run` throws. */
async function attempt(
  boss: Boss,
  { name, id }: { name: JobName; id: string },
  run: (claim: QueueClaim) => Promise<void>,
): Promise<void> {
  const [fetched] = await boss.fetch(name, { ignoreStartAfter: true });
  const claim = { id, name, retryCount: fetched?.retryCount ?? 0 };
  try {
    await run(claim);
  } catch (error) {
    await boss.fail(name, claim);
    throw error;
  }
}
