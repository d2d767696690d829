/** Entry point of the API process: configuration, connections, the socket, and leaving in order. */
import { setTimeout as delay } from "node:timers/promises";
import { serveMetricsOrExit } from "../shared/monitoring/metrics_server.ts";
import { createProcessRegistry } from "../shared/monitoring/process_metrics.ts";
import { requireNoArguments } from "../shared/process/arguments.ts";
import type { Config } from "../shared/process/config.ts";
import {
  type Host,
  listenOrExit,
  openProcessLog,
  readConfigOrExit,
  serviceHost,
  startOrExit,
  stopOnSignals,
} from "../shared/process/entry_point.ts";
import type { Log } from "../shared/process/log.ts";
import { openTracing } from "../shared/tracing/open_tracing.ts";
import {
  API_APPLICATION,
  EXPORT_APPLICATION,
  POOLED_API_APPLICATION,
} from "../sql/connection/application_names.ts";
import { warnIfClearText } from "../sql/connection/clear_text.ts";
import { describeConnectionFailure } from "../sql/connection/connection_failure.ts";
import { requireDirectConnection, requireSameDatabase } from "../sql/connection/direct_connection.ts";
import { countExportConnections } from "../sql/connection/export_connections.ts";
import { EXPORT_LANES_MAX } from "../sql/connection/lanes.ts";
import type { Nodes } from "../sql/connection/nodes.ts";
import { openPool, type Pool } from "../sql/connection/pool.ts";
import { openReplica, type Replica } from "../sql/connection/replica.ts";
import { maySeeSessions } from "../sql/exports/harmless_sessions.ts";
import { openQueue } from "../sql/queue.ts";
import { requireCompatibleSchema } from "../sql/schema_state.ts";
import { requireTracker } from "../sql/tracker/tracker_differences.ts";
import { openNodes } from "../sql/tracker/tracker_shards.ts";
import { buildApp } from "./app.ts";
import type { Deps } from "./deps.ts";
import { openDocuments } from "./documents/documents.ts";
import { createCredentialCache } from "./http/credential_cache.ts";
import { createMetrics } from "./http/metrics.ts";
import { listen, stopListening } from "./listen.ts";
import { CatalogCache } from "./models/catalog_cache.ts";

const USAGE = `Usage: bun run api

Serves the HTTP API until SIGTERM. Environment variables configure it; docs/configuration.md lists them.
DATABASE_URL is required, and the database must have been migrated: bun run migrate.
`;

/** Requests that are running at SIGTERM have 25 s to finish. */
const FINISH_TIMEOUT_MS = 25_000;

interface Pools {
  /** For requests; perhaps behind a connection pooler. */
  sql: Pool;
  /** Exports have connections of their own: readers who take their time keep no request waiting. */
  exportSql: Pool;
  replica: Replica | null;
}

function openPools(config: Config, log: Log): Pools {
  const {
    databaseUrl,
    databaseDirectUrl,
    databaseReplicaUrl,
    databasePoolMax: max,
    exportStreamsMax,
  } = config;
  const applicationName = EXPORT_APPLICATION;
  const exportMax = countExportConnections(exportStreamsMax);
  const exportSql = openPool(databaseDirectUrl, { applicationName, max: exportMax, readOnly: true });
  const isPooled = databaseUrl !== databaseDirectUrl;
  const sql = isPooled
    ? openPool(databaseUrl, { applicationName: POOLED_API_APPLICATION, max, isPooled })
    : openPool(databaseUrl, { applicationName: API_APPLICATION, max });
  const replica = openReplica({
    url: databaseReplicaUrl,
    primary: sql,
    applicationName,
    log,
    max: exportMax,
    lanesMax: EXPORT_LANES_MAX,
  });
  return { sql, exportSql, replica };
}

/** Null if the tracker tables are not distributed over a Citus cluster. */
function openExportNodes(sql: Pool, config: Config, log: Log): Promise<Nodes | null> {
  return openNodes(sql, {
    url: config.databaseDirectUrl,
    applicationName: EXPORT_APPLICATION,
    max: countExportConnections(config.exportStreamsMax),
    lanesMax: EXPORT_LANES_MAX,
    log,
  });
}

/** Throws when `directUrl` leads to a pooler, or to another database than requests use. Warns about clear text. */
async function checkConnections({ sql, replica }: Pools, directUrl: string, log: Log): Promise<void> {
  const direct = openPool(directUrl, { applicationName: API_APPLICATION, max: 1 });
  try {
    await requireDirectConnection(direct);
    await requireSameDatabase(sql, direct);
    const warned = new Set<string>();
    for (const pool of [sql, direct]) await warnIfClearText(pool, (message) => warned.add(message));
    for (const message of warned) log.warn({ event: "database.clear_text" }, message);
    void replica?.warnIfClearText();
  } finally {
    await direct.end({ timeout: 1 });
  }
}

/** Exports answer 503 as soon as another role has a session on the database: better known before. */
async function warnIfBlind(sql: Pool, log: Log): Promise<void> {
  if (await maySeeSessions(sql)) return;
  const [{ role }] = await sql<[{ role: string }]>`select current_user as role`;
  log.warn(
    { event: "export.watermark_blind", hint: `grant pg_read_all_stats to "${role}"` },
    "the database hides other sessions from this service: exports fail while other roles are connected",
  );
}

/** Serves the app on PORT, and its metrics on METRICS_PORT if that is set. */
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
  requireNoArguments(process, USAGE);
  const host = serviceHost(process, "api");
  const config = readConfigOrExit(host);
  const log = openProcessLog(host, config, "api");
  const pools = openPools(config, log);
  const { sql, exportSql, replica } = pools;
  const { boss, nodes } = await startOrExit(host, describeConnectionFailure, async () => {
    await checkConnections(pools, config.databaseDirectUrl, log);
    await requireCompatibleSchema(sql, (message) => log.warn({ event: "schema.newer" }, message));
    await requireTracker(sql, config.trackerSchema);
    await warnIfBlind(sql, log);
    return {
      boss: await openQueue(sql, (error) => log.warn({ err: error }, "cannot read the queue")),
      nodes: await openExportNodes(sql, config, log),
    };
  });
  const metrics = createMetrics(createProcessRegistry());
  const catalog = new CatalogCache({ sql, replica, log });
  const documents = openDocuments();
  const stop = new AbortController();
  const tracing = await openTracing(process.env, { serviceName: "ulr-api", log });
  const deps = {
    config,
    sql,
    exportSql,
    replica,
    nodes,
    boss,
    log,
    metrics,
    tracing,
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
          // Only SIGTERM asks for it: Ctrl-C wants the process gone, and after an uncaught error it takes nothing new.
          if (reason === "SIGTERM") await delay(shutdownDelayMs);
        },
      },
      {
        name: "finish requests",
        timeoutMs: FINISH_TIMEOUT_MS + 1_000,
        // Not an error: the next phase cuts off what is still running.
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
      await boss.stop({ graceful: false });
      // At once: one after the other, two servers that are silent would take longer than the phase may.
      const pools = [exportSql, sql].map((pool) => pool.end({ timeout: 2 }));
      await Promise.all([replica?.close(), nodes?.close(), ...pools]);
    },
  });
  log.info({ host: config.host, port: server.port, publicUrl: config.publicUrl }, "listening");
}

await main();
