/** Metrics of the service, except request metrics. */
import type { Registry } from "prom-client";
import { registerDirectoryMetrics } from "../../shared/monitoring/directory_metrics.ts";
import { registerGauge } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import { CATALOG_SYNC_OUTCOMES } from "../../shared/vocabulary.ts";
import type { Replica } from "../../sql/connection/replica.ts";
import { registerPoolMetrics, registerServerConnections } from "../../sql/monitoring/pool_metrics.ts";
import { registerWatermarkMetrics } from "../exports/export_resources.ts";
import { registerJobMetrics } from "../exports/job_metrics.ts";
import type { OperationDeps } from "../http/operation.ts";
import type { CatalogCache } from "../models/catalog_cache.ts";

/** Registers the metrics of pools, replica, storage, catalog, jobs and watermark. */
export function registerServiceMetrics(deps: OperationDeps): void {
  const { config, sql, exportSql, replica, catalog, log } = deps;
  const { registry } = deps.metrics;
  if (replica) registerReplicaMetrics(registry, { replica, log });
  registerPoolMetrics(registry, { requests: sql, exports: exportSql });
  registerServerConnections(registry, { sql, log });
  registerDirectoryMetrics(registry, { artifactUrl: config.artifactUrl, log });
  registerCatalogMetrics(registry, catalog);
  registerJobMetrics(registry, { sql, log });
  registerWatermarkMetrics(registry, { sql, log, config });
}

/** Registers the gauges of the replica, as seen by this process. Each scrape queries the replica. */
function registerReplicaMetrics(registry: Registry, { replica, log }: { replica: Replica; log: Log }): void {
  registerGauge(registry, {
    name: "database_replica_used",
    help: "1 while exports and the catalog are read from the replica, 0 while the primary is used instead",
    read: async () => Number(await replica.check()),
  });
  registerGauge(registry, {
    name: "database_replica_lag_seconds",
    help: "How far the replica is behind the primary; NaN if unknown",
    read: async () => {
      const seconds = await replica.measureLag().catch((error) => {
        log.debug({ err: error }, "cannot measure the replica's lag");
        return null;
      });
      return seconds ?? Number.NaN;
    },
  });
}

/** Registers the gauges of the catalog in this process. Each scrape reads the cache. */
function registerCatalogMetrics(registry: Registry, cache: CatalogCache): void {
  const liveModels = () =>
    (cache.peek()?.entries ?? []).map(({ row }) => row).filter(({ removedAt }) => removedAt === null);
  registerGauge(registry, {
    name: "catalog_models",
    help: "Live models in the catalog",
    read: () => liveModels().length,
  });
  registerGauge(registry, {
    name: "catalog_stale_models",
    help: "Live models whose row of the source cannot be read, so that they stay as they were",
    read: () => liveModels().filter(({ staleSince }) => staleSince !== null).length,
  });
  registerGauge(registry, {
    name: "catalog_held_prices",
    help: "Models whose doubtful prices wait for a second sync or an operator",
    read: () => cache.peek()?.version.held ?? 0,
  });
  registerGauge(registry, {
    name: "catalog_synced_timestamp_seconds",
    help: "End of the last successful catalog sync; 0 before the first",
    read: () => Date.parse(cache.peek()?.version.syncedAt ?? "1970-01-01T00:00:00Z") / 1000,
  });
  registerGauge(registry, {
    name: "catalog_last_sync",
    help: "1 for the outcome of the last catalog sync, 0 for the others",
    labelNames: ["outcome"],
    read: () => {
      const last = cache.peek()?.version.lastOutcome;
      return CATALOG_SYNC_OUTCOMES.map((outcome) => ({
        labels: { outcome },
        value: Number(outcome === last),
      }));
    },
  });
}
