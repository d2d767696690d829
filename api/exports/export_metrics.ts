/** Prometheus metrics of exports. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { Semaphore } from "../http/limits/semaphore.ts";
import type { CutReason } from "../http/request_context.ts";

/** Why a response ended early: a limit of the service, or a failure. */
const CUT_REASONS: readonly (CutReason | "failed")[] = [
  "lasted_too_long",
  "reader_too_slow",
  "access_ended",
  "failed",
];

export interface ExportMetrics {
  /** Bytes of files sent to clients, after compression. */
  bytes: Counter<"kind" | "format">;
  /** Rows of files that were sent completely. */
  rows: Counter<"kind" | "format">;
  /** Files that ended early, by reason. */
  cut: Counter<"reason">;
  /** Snapshots that exports read, by database: primary, replica, or node with its `host:port`. */
  snapshots: Counter<"database" | "node">;
}

/** Creates and registers the metrics of exports. The slots are read at each scrape. */
export function createExportMetrics(registry: Registry, slots: Semaphore): ExportMetrics {
  const registers = [registry];
  new Gauge({
    name: "export_stream_slots_in_use",
    help: "Exports that are streaming",
    registers,
    collect() {
      this.set(slots.used);
    },
  });
  new Gauge({
    name: "export_stream_slots",
    help: "Exports that can stream at the same time",
    registers,
    collect() {
      this.set(slots.limits.max);
    },
  });
  const metrics: ExportMetrics = {
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
