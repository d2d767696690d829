/** What every export holds while it runs: a stream slot, a settled watermark, a snapshot to read from. */
import type { Config } from "../../shared/config.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { type ExportSnapshot, openExportSnapshot } from "../../sql/export_snapshot.ts";
import type { Pool } from "../../sql/pool.ts";
import type { ExportMetrics } from "./export_metrics.ts";
import { requireWatermark } from "./require_watermark.ts";
import type { StreamSlots } from "./stream_slots.ts";

const RETRY_SLOT_SECONDS = 5;

export interface ExportDeps {
  /** Requests: the watermark is chosen here, and queries are cancelled from here. */
  sql: Pool;
  /** Streams: as many connections as there are slots. */
  exportSql: Pool;
  slots: StreamSlots;
  metrics: ExportMetrics;
  log: Log;
  config: Config;
}

export interface OpenExport {
  asOf: string;
  snapshot: ExportSnapshot;
  /** Frees the slot and the connection. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens an export as of `asOf`, or as of the newest settled instant for `null`. Throws SERVICE_UNAVAILABLE when no
 * slot is free or the watermark does not settle, VALIDATION_ERROR when it is in the future.
 */
export async function openExport(deps: ExportDeps, asOf: string | null): Promise<OpenExport> {
  const release = deps.slots.take();
  if (!release) {
    throw new ApiError("SERVICE_UNAVAILABLE", {
      message: `Cannot start another export now: ${deps.slots.max} are running`,
      headers: { "Retry-After": String(RETRY_SLOT_SECONDS) },
    });
  }
  try {
    const settled = await requireWatermark(deps, asOf);
    const snapshot = await openExportSnapshot(deps.exportSql);
    const close = async (): Promise<void> => {
      await snapshot.close();
      release();
    };
    return { asOf: settled, snapshot, close };
  } catch (error) {
    release();
    throw error;
  }
}
