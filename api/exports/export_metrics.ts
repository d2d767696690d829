/** What Prometheus is told of exports. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { StreamSlots } from "./stream_slots.ts";

export interface ExportMetrics {
  /** Bytes of files that were handed to clients, after compression. */
  bytes: Counter<"kind" | "format">;
  /** Rows of files that were sent whole. */
  rows: Counter<"kind" | "format">;
  /** Snapshots that exports were read from, by the server that gave them: primary or replica. */
  snapshots: Counter<"database">;
  /** How far the newest settled instant lies back; open transactions of others hold it. */
  watermarkLagSeconds: Gauge;
}

/** Makes the metrics of exports and registers them; the slots are read when somebody asks. */
export function createExportMetrics(registry: Registry, slots: StreamSlots): ExportMetrics {
  const registers = [registry];
  new Gauge({
    name: "export_stream_slots_in_use",
    help: "Exports that are streaming now",
    registers,
    collect() {
      this.set(slots.active);
    },
  });
  new Gauge({
    name: "export_stream_slots",
    help: "Exports that may stream at once",
    registers,
    collect() {
      this.set(slots.max);
    },
  });
  return {
    bytes: new Counter({
      name: "export_bytes_total",
      help: "Bytes of exports handed to clients, after compression",
      labelNames: ["kind", "format"],
      registers,
    }),
    rows: new Counter({
      name: "export_rows_total",
      help: "Rows of exports that were sent whole",
      labelNames: ["kind", "format"],
      registers,
    }),
    snapshots: new Counter({
      name: "export_snapshots_total",
      help: "Snapshots that exports were read from, by the server that gave them: primary or replica",
      labelNames: ["database"],
      registers,
    }),
    watermarkLagSeconds: new Gauge({
      name: "export_watermark_lag_seconds",
      help: "Age of the watermark that the last export without as_of got",
      registers,
    }),
  };
}
