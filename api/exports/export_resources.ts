/** Resources shared by all exports of a process: slots, second connections, the archive store and metrics. */

import { Counter, type Registry } from "prom-client";
import { openArtifactStore } from "../../shared/artifacts/open_store.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { registerGauge, registerMeasuredGauges } from "../../shared/monitoring/measured_gauge.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { EXPORT_COUNTS_MAX, EXPORT_LANES_MAX, ExportLanes } from "../../sql/connection/snapshot.ts";
import { measureWatermarkHold } from "../../sql/exports/settle_as_of.ts";
import { Slots, type SlotTexts } from "../http/limits/slots.ts";
import type { Metrics } from "../http/metrics.ts";
import type { CutReason } from "../http/request_context.ts";
import { STREAM_RULES, type StreamRules } from "../http/response/stream.ts";

export type ExportResources = ReturnType<typeof createExportResources>;

export function createExportResources(deps: {
  config: Config;
  sql: Pool;
  exportSql: Pool;
  log: Log;
  metrics: Metrics;
  /** Overrides STREAM_RULES, for tests. */
  streamRules?: Partial<StreamRules>;
}) {
  const { config, sql, exportSql, log } = deps;
  const limits = {
    max: config.exportStreamsMax,
    perHolder: config.exportStreamsPerUser,
    perGroup: config.exportStreamsPerOrg,
  };
  const streams = new Slots(limits, textsOf({ one: "export", many: "exports" }));
  const half = Math.ceil(EXPORT_COUNTS_MAX / 2);
  const maxMs = config.exportStreamMaxMinutes * 60_000;
  return {
    /** Slots of streaming exports. Each export holds a snapshot while its client reads. */
    streams,
    /** Slots of estimates and HEAD requests, which count rows for a few seconds. */
    counts: new Slots(
      { max: EXPORT_COUNTS_MAX, perHolder: half, perGroup: half },
      textsOf({ one: "estimate", many: "estimates" }),
    ),
    /** Slots of downloads of finished exports. */
    downloads: new Slots(limits, textsOf({ one: "download", many: "downloads" })),
    /** Second connections to the primary, for large datasets. */
    lanes: new ExportLanes({ pool: exportSql, control: sql, max: EXPORT_LANES_MAX, log }),
    /** Storage of finished organization exports. */
    store: openArtifactStore(config),
    /** Limits at which a stream is cut off. */
    streamRules: { ...STREAM_RULES, maxMs, ...deps.streamRules },
    metrics: createExportMetrics(deps.metrics.registry, streams),
  };
}

function textsOf({ one, many }: { one: string; many: string }): SlotTexts {
  return {
    holder: (limit) => TEXTS.RATE_LIMITED.exportsOfUser({ one, limit }),
    group: (limit) => TEXTS.RATE_LIMITED.exportsOfOrg({ one, many, limit }),
    all: ({ limit, seconds }) => TEXTS.SERVICE_UNAVAILABLE.exports({ one, limit, seconds }),
  };
}

/** Reasons for the early end of a response: a limit of the service, or a failure. */
const CUT_REASONS: readonly (CutReason | "failed")[] = [
  "lasted_too_long",
  "reader_too_slow",
  "access_ended",
  "failed",
];

export type ExportMetrics = ReturnType<typeof createExportMetrics>;

/** Creates and registers the metrics of exports. The slots are read at each scrape. */
function createExportMetrics(registry: Registry, slots: Slots) {
  const registers = [registry];
  registerGauge(registry, {
    name: "export_stream_slots_in_use",
    help: "Exports that are streaming",
    read: () => slots.used,
  });
  registerGauge(registry, {
    name: "export_stream_slots",
    help: "Exports that can stream at the same time",
    read: () => slots.limits.max,
  });
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

/** Registers the gauge of open transactions that hold back the cutoff, measured at each scrape (docs/watermark.md). */
export function registerWatermarkMetrics(
  registry: Registry,
  deps: { sql: Sql; log: Log; config: Pick<Config, "exportIgnoreApplications" | "trackerSchema"> },
): void {
  registerMeasuredGauges(
    { registry, log: deps.log },
    [
      {
        name: "export_watermark_held_back_seconds",
        help:
          "Age of the oldest open transaction that holds back the cutoff of exports; 0 without such a transaction, " +
          "NaN while the database hides sessions",
      },
    ],
    async () => [(await measureWatermarkHold(deps.sql, deps.config)) ?? Number.NaN],
  );
}
