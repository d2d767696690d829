/** What all exports of a process share: slots, second connections, the store of archives, metrics. */
import { openArtifactStore } from "../../shared/artifacts/open.ts";
import type { ArtifactStore } from "../../shared/artifacts/store.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import { EXPORT_LANES_MAX, ExportLanes } from "../../sql/connection/lanes.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import type { Metrics } from "../http/metrics.ts";
import { STREAM_RULES, type StreamRules } from "../http/response/stream_cutoff.ts";
import { createExportMetrics, type ExportMetrics } from "./export_metrics.ts";
import { createExportSlots, type ExportSlots } from "./export_slots.ts";

export interface ExportResources {
  slots: ExportSlots;
  /** Second connections for large datasets, to the primary. */
  lanes: ExportLanes;
  /** Where finished organization exports are. */
  store: ArtifactStore;
  /** When a stream is cut off. */
  streamRules: StreamRules;
  metrics: ExportMetrics;
}

export function createExportResources(deps: {
  config: Config;
  sql: Pool;
  exportSql: Pool;
  log: Log;
  metrics: Metrics;
  /** Overrides STREAM_RULES, for tests. */
  streamRules?: Partial<StreamRules>;
}): ExportResources {
  const { config, sql, exportSql, log } = deps;
  const slots = createExportSlots(config);
  const maxMs = config.exportStreamMaxMinutes * 60_000;
  return {
    slots,
    lanes: new ExportLanes({ pool: exportSql, control: sql, max: EXPORT_LANES_MAX, log }),
    store: openArtifactStore(config),
    streamRules: { ...STREAM_RULES, maxMs, ...deps.streamRules },
    metrics: createExportMetrics(deps.metrics.registry, slots.streams),
  };
}
