/** What all exports of a process share: slots, second connections, the store of archives, metrics. */

import { Counter, Gauge, type Registry } from "prom-client";
import { openArtifactStore } from "../../shared/artifacts/open.ts";
import type { ArtifactStore } from "../../shared/artifacts/store.ts";
import { RETRY_AFTER } from "../../shared/error_rows.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { EXPORT_COUNTS_MAX, EXPORT_LANES_MAX, ExportLanes } from "../../sql/connection/snapshot.ts";
import { type Claim, type Permit, Semaphore, type Shortage } from "../http/limits/semaphore.ts";
import type { Metrics } from "../http/metrics.ts";
import type { CutReason } from "../http/request_context.ts";
import { STREAM_RULES, type StreamRules } from "../http/response/watch_stream.ts";

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

export interface ExportSlots {
  /** Streams of datasets and bundles; each holds a snapshot while its client reads. */
  streams: Semaphore;
  /** Estimates and HEAD requests: they count rows for a few seconds. */
  counts: Semaphore;
  /** Downloads of finished exports. */
  downloads: Semaphore;
}

function createExportSlots(config: Config): ExportSlots {
  const limits = {
    max: config.exportStreamsMax,
    perHolder: config.exportStreamsPerUser,
    perGroup: config.exportStreamsPerOrg,
  };
  const half = Math.ceil(EXPORT_COUNTS_MAX / 2);
  return {
    streams: new Semaphore(limits),
    counts: new Semaphore({ max: EXPORT_COUNTS_MAX, perHolder: half, perGroup: half }),
    downloads: new Semaphore(limits),
  };
}

/** Nouns for error messages. */
const SLOT_WORDS = {
  streams: { one: "export", many: "exports" },
  counts: { one: "estimate", many: "estimates" },
  downloads: { one: "download", many: "downloads" },
} as const;

/**
 * Takes a slot. Throws RATE_LIMITED if the share of the user or organization is used up, SERVICE_UNAVAILABLE if all
 * slots of the process are.
 */
export function takeExportSlot(slots: ExportSlots, kind: keyof ExportSlots, claim: Claim): Permit {
  const result = slots[kind].take(claim);
  if (result.ok) return result.permit;
  throw slotError(slots, kind, result.shortage);
}

/** Throws what `takeExportSlot` would, without taking a slot, so that HEAD responds like GET. */
export function requireExportSlot(slots: ExportSlots, kind: keyof ExportSlots, claim: Claim): void {
  const shortage = slots[kind].findShortage(claim);
  if (shortage !== null) throw slotError(slots, kind, shortage);
}

function slotError(slots: ExportSlots, kind: keyof ExportSlots, shortage: Shortage): ApiError {
  const { max, perHolder, perGroup } = slots[kind].limits;
  const { one, many } = SLOT_WORDS[kind];
  const retryAfter = RETRY_AFTER.stream;
  switch (shortage) {
    case "holder":
      return new ApiError("RATE_LIMITED", {
        message: TEXTS.RATE_LIMITED.exportsOfUser({ one, limit: perHolder }),
        details: { share: "user", limit: perHolder },
        retryAfter,
      });
    case "group":
      return new ApiError("RATE_LIMITED", {
        message: TEXTS.RATE_LIMITED.exportsOfOrg({ one, many, limit: perGroup }),
        details: { share: "organization", limit: perGroup },
        retryAfter,
      });
    case "all":
      return new ApiError("SERVICE_UNAVAILABLE", {
        message: TEXTS.SERVICE_UNAVAILABLE.exports({ one, limit: max, seconds: retryAfter }),
        retryAfter,
      });
  }
}
