/** Entry point of the job runner: configuration, connections, queues, shutdown. */
import { setTimeout as delay } from "node:timers/promises";
import type { Registry } from "prom-client";
import { openArtifactStore } from "../shared/artifacts/open_store.ts";
import { registerDirectoryMetrics } from "../shared/monitoring/directory_metrics.ts";
import { serveMetricsOrExit } from "../shared/monitoring/metrics_server.ts";
import { createProcessRegistry } from "../shared/monitoring/process_metrics.ts";
import { type Host, stopOnSignals } from "../shared/process/entry_point.ts";
import { JOBS_APPLICATION } from "../sql/connection/application_names.ts";
import { openWorkerQueue } from "../sql/job_queue.ts";
import { watchArtifactStore } from "../sql/monitoring/artifact_status.ts";
import { registerPoolMetrics } from "../sql/monitoring/pool_metrics.ts";
import { respondReady, watchDatabase } from "../sql/monitoring/readiness.ts";
import { openProcess, type ProcessNeeds, startOrExit } from "../sql/open_process.ts";
import { openMailer } from "./mailer.ts";
import type { RunnerDeps } from "./runner_deps.ts";
import { createRunnerMetrics, keepHeartbeat, registerWebhookMetrics } from "./runner_metrics.ts";
import { CONCURRENT_BUILDS, CONCURRENT_MAILS, createJobs, keepQueueTimes } from "./schedule.ts";
import { keepAuditLogSealed } from "./seal_audit_log.ts";
import { openStoreOwner } from "./store_owner.ts";
import { keepWebhooksDelivered } from "./webhooks/deliver_webhooks.ts";

const USAGE = `Usage: bun run jobs

Builds organization exports, deletes expired ones and sends mail until SIGTERM.
Environment variables configure it; docs/configuration.md lists them.
DATABASE_URL is required, and a migrated database: bun run migrate.
`;

/** Jobs that are running at SIGTERM have 18 s to finish. Unfinished jobs return to the queue. */
const FINISH_MS = 18_000;
/** Connections for pg-boss: fetching, heartbeats, supervision and schedule, each with short statements. */
const QUEUE_CONNECTIONS = 3;
/**
 * Two connections per build (row updates and cancellations), one per mail about an export, two for the sweeps, one for sealing the
 * audit log, and the queue's own connections.
 */
const POOL_MAX = 2 * CONCURRENT_BUILDS + CONCURRENT_MAILS + 3 + QUEUE_CONNECTIONS;

const NEEDS: ProcessNeeds = {
  name: "jobs",
  usage: USAGE,
  requests: ({ databaseDirectUrl: url }) => ({ url, applicationName: JOBS_APPLICATION, max: POOL_MAX }),
  exports: () => ({ applicationName: JOBS_APPLICATION, max: CONCURRENT_BUILDS }),
  openQueue: openWorkerQueue,
};

/** Serves the metrics on METRICS_PORT if it is set. */
function serveRunnerMetrics(
  host: Host,
  deps: RunnerDeps,
  { registry, shutdownSignal }: { registry: Registry; shutdownSignal: AbortSignal },
) {
  const { config, sql, exportSql, store, log } = deps;
  const checkDatabase = watchDatabase(sql, { ...config, registry });
  const findArtifactProblem = watchArtifactStore({ sql, store, registry, log });
  registerPoolMetrics(registry, { jobs: sql, builds: exportSql });
  registerDirectoryMetrics(registry, { artifactUrl: config.artifactUrl, log });
  registerWebhookMetrics(registry, { sql, log });
  return serveMetricsOrExit(host, config, {
    registry,
    respondReady: () => respondReady({ checkDatabase, findArtifactProblem, shutdownSignal }),
    log,
  });
}

async function main(): Promise<void> {
  const { host, close, ...opened } = await openProcess(process, NEEDS);
  const { config, log, sql } = opened;
  const leave = new AbortController();
  const stop = new AbortController();
  const store = openArtifactStore(config);
  const registry = createProcessRegistry();
  const deps = {
    ...opened,
    store,
    owner: openStoreOwner({ sql, store, log }),
    mailer: openMailer(config),
    metrics: createRunnerMetrics(registry),
    shutdownSignal: stop.signal,
  };
  // The process reports not ready after the first signal, even while jobs are still finishing.
  const metricsServer = serveRunnerMetrics(host, deps, { registry, shutdownSignal: leave.signal });
  const jobs = createJobs(deps);
  const background = [keepAuditLogSealed, keepHeartbeat, keepQueueTimes].map((keep) =>
    keep(deps, stop.signal),
  );
  const delivering = keepWebhooksDelivered(deps, leave.signal);

  stopOnSignals(host, {
    log,
    tracing: deps.tracing,
    phases: [
      {
        name: "finish jobs",
        timeoutMs: FINISH_MS + 1000,
        // A timeout is not an error: the next phase aborts the jobs that are still running.
        run: async () => {
          leave.abort();
          await Promise.race([Promise.all([jobs.finish(), delivering]), delay(FINISH_MS)]);
        },
      },
      {
        name: "cut off jobs",
        timeoutMs: 3_000,
        run: async () => {
          stop.abort();
          await Promise.all([...background, delivering, jobs.finish()]);
        },
      },
    ],
    close: async () => {
      await metricsServer?.stop(true);
      await close();
    },
  });
  // A signal may arrive while this waits for an unresponsive store, and while mails are being sent.
  await startOrExit(host, () => jobs.start());
}

await main();
