/** Metrics and readiness of the catalog-sync process. */
import { Counter } from "prom-client";
import { createProcessRegistry } from "../shared/monitoring/process_metrics.ts";
import { registerPoolMetrics } from "../sql/monitoring/pool_metrics.ts";
import { createDatabaseCheck, createReadyResponse, registerDatabaseUp } from "../sql/monitoring/readiness.ts";
import type { SyncDeps, SyncReport } from "./sync.ts";

const OUTCOMES: readonly SyncReport["outcome"][] = ["changed", "unchanged", "refused", "failed", "busy"];

/** Creates the registry of the process, the counter of syncs and the response to GET /health/ready. */
export function createSyncMetrics({ sql, shutdownSignal }: SyncDeps) {
  const registry = createProcessRegistry();
  const checkDatabase = createDatabaseCheck(sql);
  registerDatabaseUp(registry, checkDatabase);
  registerPoolMetrics(registry, { sync: sql });
  const syncs = new Counter({
    name: "catalog_syncs_total",
    help: "Catalog syncs of this process, by outcome; busy means that another process synced",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) syncs.inc({ outcome }, 0);
  return {
    registry,
    onOutcome: (outcome: SyncReport["outcome"]) => syncs.inc({ outcome }),
    respondReady: createReadyResponse({ checkDatabase, shutdownSignal }),
  };
}
