/** What all exports of a process share: slots, second connections, the store of archives, metrics. */

import { Counter, Gauge, type Registry } from "prom-client";
import { openArtifactStore } from "../../shared/artifacts/open.ts";
import type { ArtifactStore } from "../../shared/artifacts/store.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { EXPORT_LANES_MAX, ExportLanes } from "../../sql/connection/snapshot.ts";
import type { Semaphore } from "../http/limits/semaphore.ts";
import type { Metrics } from "../http/metrics.ts";
import type { CutReason } from "../http/request_context.ts";
import { STREAM_RULES, type StreamRules } from "../http/response/watch_stream.ts";
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

/** Why a response ended early: a limit of the service, or a failure. */
const CUT_REASONS: readonly (CutReason | "failed")[] = [
  "lasted_too_long",
  "reader_too_slow",
  "access_ended",
  "failed",
];

export type ExportMetrics = ReturnType<typeof createExportMetrics>;

/** Creates and registers the metrics of exports. The slots are read at each scrape. */
function createExportMetrics(registry: Registry, slots: Semaphore) {
  const registers = [registry];
  const registerGauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  registerGauge("export_stream_slots_in_use", "Exports that are streaming", () => slots.used);
  registerGauge("export_stream_slots", "Exports that can stream at the same time", () => slots.limits.max);
  const metrics = {
    bytes: new Counter({
      name: "export_bytes_total",
      help: "Bytes of exports sent to clients, after compression",
      labelNames: ["kind", "format"],
      registers,
    }),
    rows: new Counter({
      name: "export_rows_total",
      help: "Rows of exports that were sent completely",
      labelNames: ["kind", "format"],
      registers,
    }),
    cut: new Counter({
      name: "export_streams_cut_total",
      help: "Exports and downloads that broke off before their end, by reason",
      labelNames: ["reason"],
      registers,
    }),
    snapshots: new Counter({
      name: "export_snapshots_total",
      help: "Snapshots that exports read, by database: primary, replica, or a machine of a cluster by host and port",
      labelNames: ["database", "node"],
      registers,
    }),
  };
  for (const reason of CUT_REASONS) metrics.cut.inc({ reason }, 0);
  return metrics;
}
