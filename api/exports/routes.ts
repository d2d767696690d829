/** The routes of exports, and what they share: slots, connections, metrics. */
import { Elysia } from "elysia";
import { openArtifactStore } from "../../shared/artifacts/open.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import { EXPORT_LANES_MAX, ExportLanes } from "../../sql/connection/lanes.ts";
import type { Nodes } from "../../sql/connection/nodes.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import type { Replica } from "../../sql/connection/replica.ts";
import type { Boss } from "../../sql/queue.ts";
import { STREAM_RULES, type StreamRules } from "../http/response/stream_cutoff.ts";
import type { Metrics } from "../monitoring/metrics.ts";
import { bundleRoutes } from "./bundle.ts";
import { datasetRoutes } from "./dataset.ts";
import { datasetListRoutes } from "./dataset_list.ts";
import { deletedRoutes } from "./deleted.ts";
import { estimateRoutes } from "./estimate.ts";
import { createExportMetrics } from "./export_metrics.ts";
import { createExportSlots } from "./export_slots.ts";
import { jobDownloadRoutes } from "./job_download.ts";
import { registerJobMetrics } from "./job_metrics.ts";
import { jobRoutes } from "./job_routes.ts";
import type { ExportDeps } from "./open_export.ts";
import { registerWatermarkMetrics } from "./watermark_metrics.ts";

export function exportRoutes(deps: {
  config: Config;
  sql: Pool;
  exportSql: Pool;
  replica: Replica | null;
  nodes: Nodes;
  boss: Boss;
  log: Log;
  metrics: Metrics;
  /** Overrides STREAM_RULES, for tests. */
  streamRules?: Partial<StreamRules>;
}) {
  const slots = createExportSlots(deps.config);
  const { config, sql, exportSql, replica, nodes, boss, log } = deps;
  const store = openArtifactStore(config);
  const metrics = createExportMetrics(deps.metrics.registry, slots.streams);
  const maxMs = config.exportStreamMaxMinutes * 60_000;
  const streamRules = { ...STREAM_RULES, maxMs, ...deps.streamRules };
  registerJobMetrics(deps.metrics.registry, { sql, log });
  registerWatermarkMetrics(deps.metrics.registry, { sql, log, config });
  const lanes = new ExportLanes({ pool: exportSql, control: sql, max: EXPORT_LANES_MAX, log });
  const databases = { sql, exportSql, lanes, replica, nodes };
  const exportDeps: ExportDeps = { config, ...databases, log, slots, streamRules, metrics };
  return new Elysia()
    .use(datasetListRoutes())
    .use(bundleRoutes(exportDeps))
    .use(estimateRoutes(exportDeps))
    .use(deletedRoutes(exportDeps))
    .use(datasetRoutes(exportDeps))
    .use(jobDownloadRoutes({ sql, log, metrics, slots, streamRules, store }))
    .use(jobRoutes({ config, sql, nodes, boss, log }));
}
