/** Entry point of the API process: configuration, connections, the socket and graceful shutdown. */
import { setTimeout as delay } from "node:timers/promises";
import { serveMetricsOrExit } from "../shared/monitoring/metrics_server.ts";
import { createProcessRegistry } from "../shared/monitoring/process_metrics.ts";
import { type Host, listenOrExit, stopOnSignals } from "../shared/process/entry_point.ts";
import type { Log } from "../shared/process/log.ts";
import {
  API_APPLICATION,
  EXPORT_APPLICATION,
  POOLED_API_APPLICATION,
} from "../sql/connection/application_names.ts";
import type { Pool } from "../sql/connection/pool.ts";
import { countExportConnections, EXPORT_LANES_MAX } from "../sql/connection/snapshot.ts";
import { maySeeSessions } from "../sql/exports/harmless_sessions.ts";
import { openQueue } from "../sql/job_queue.ts";
import { openProcess, type ProcessNeeds } from "../sql/open_process.ts";
import { buildApp } from "./app.ts";
import type { Deps } from "./deps.ts";
import { openDocuments } from "./documents/documents.ts";
import { createCredentialCache } from "./http/credential_cache.ts";
import { createMetrics } from "./http/metrics.ts";
import { listen, stopListening } from "./listen.ts";
import { CatalogCache } from "./models/catalog_cache.ts";

const USAGE = `Usage: bun run api

Serves the HTTP API until SIGTERM.
Environment variables configure it; docs/configuration.md lists them.
DATABASE_URL is required, and a migrated database: bun run migrate.
`;

/** Time that running requests have to finish during shutdown. */
const FINISH_TIMEOUT_MS = 25_000;

const NEEDS: ProcessNeeds = {
  name: "api",
  usage: USAGE,
  requests: ({ databaseUrl: url, databaseDirectUrl, databasePoolMax: max }) =>
    url === databaseDirectUrl
      ? { url, applicationName: API_APPLICATION, max, limitsLockWaits: true }
      : { url, applicationName: POOLED_API_APPLICATION, max, isPooled: true, limitsLockWaits: true },
  exports: ({ exportStreamsMax }) => ({
    applicationName: EXPORT_APPLICATION,
    max: countExportConnections(exportStreamsMax),
    lanesMax: EXPORT_LANES_MAX,
  }),
  openQueue,
  check: warnIfBlind,
};

/** Warns if the service cannot see other sessions. Exports then fail with 503 while another role is connected. */
async function warnIfBlind(sql: Pool, log: Log): Promise<void> {
  if (await maySeeSessions(sql)) return;
  const [{ role }] = await sql<[{ role: string }]>`select current_user as role`;
  log.warn(
    { event: "export.watermark_blind", hint: `grant pg_read_all_stats to "${role}"` },
    "the database hides other sessions from this service: exports fail while other roles are connected",
  );
}

/** Serves the app on PORT. If METRICS_PORT is set, serves metrics on that port. */
function serve(host: Host, deps: Deps) {
  const { config, log, metrics } = deps;
  const { host: hostname, port, trustProxy } = config;
  const app = buildApp(deps);
  const server = listenOrExit(host, config, () => listen(app, { host: hostname, port, trustProxy }));
  const ready = () => app.handle(new Request("http://localhost/health/ready"), "unknown");
  const { registry } = metrics;
  const metricsServer = serveMetricsOrExit(host, config, { registry, respondReady: ready, log });
  return { server, metricsServer };
}

async function main(): Promise<void> {
  const { host, close, ...opened } = await openProcess(process, NEEDS);
  const { config, log, sql, replica, tracing } = opened;
  const catalog = new CatalogCache({ sql, replica, log });
  const documents = openDocuments({ log });
  const stop = new AbortController();
  const deps = {
    ...opened,
    metrics: createMetrics(createProcessRegistry()),
    documents,
    catalog,
    callers: createCredentialCache(),
    shutdownSignal: stop.signal,
  };
  const { server, metricsServer } = serve(host, deps);
  catalog.start();

  const shutdownDelayMs = config.shutdownDelaySeconds * 1_000;
  stopOnSignals(host, {
    log,
    tracing,
    phases: [
      {
        name: "wait for load balancers",
        timeoutMs: shutdownDelayMs + 1_000,
        run: async (reason) => {
          stop.abort();
          // Only for SIGTERM. Ctrl-C should exit at once, and after an uncaught error it should accept no new requests.
          if (reason === "SIGTERM") await delay(shutdownDelayMs);
        },
      },
      {
        name: "finish requests",
        timeoutMs: FINISH_TIMEOUT_MS + 1_000,
        // A timeout here is not an error: the next phase aborts the requests that are still running.
        run: () => Promise.race([stopListening(server), delay(FINISH_TIMEOUT_MS)]),
      },
      {
        name: "close connections",
        timeoutMs: 1_000,
        run: async () => void (await Promise.all([server.stop(true), metricsServer?.stop(true)])),
      },
    ],
    close: async () => {
      catalog.close();
      await documents.close();
      await close();
    },
  });
  log.info({ host: config.host, port: server.port, publicUrl: config.publicUrl }, "listening");
}

await main();
