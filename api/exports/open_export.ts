/** What every export holds while it runs: a stream slot, a settled watermark, a snapshot to read from. */
import type { Config } from "../../shared/config.ts";
import type { Log } from "../../shared/log.ts";
import { type ExportSnapshot, openExportSnapshot } from "../../sql/export_snapshot.ts";
import type { Pool } from "../../sql/pool.ts";
import { announceStream } from "../request_context.ts";
import type { ExportMetrics } from "./export_metrics.ts";
import { requireWatermark } from "./require_watermark.ts";
import type { StreamSlots } from "./stream_slots.ts";

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
  /** Aborted when the client has left: what runs is cancelled. */
  abort: AbortController;
  /** Frees the slot and the connection. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens an export as of `asOf`, or as of the newest settled instant for `null`, and hands it to `serve`, which closes
 * it or lets its answer's stream do so; it is closed here when `serve` throws. Throws SERVICE_UNAVAILABLE when no slot
 * is free or the watermark does not settle, VALIDATION_ERROR when it is in the future. A client that leaves before
 * there is an answer gets one that nobody reads.
 */
export async function withOpenExport<Answer>(
  deps: ExportDeps,
  given: { request: Request; asOf: string | null },
  serve: (opened: OpenExport) => Promise<Answer>,
): Promise<Answer | Response> {
  const { request, asOf } = given;
  const abort = new AbortController();
  const leave = (): void => abort.abort();
  if (request.signal.aborted) leave();
  request.signal.addEventListener("abort", leave);
  const forget = (): void => request.signal.removeEventListener("abort", leave);
  let opened: OpenExport | null = null;
  try {
    opened = await openExport(deps, { asOf, abort, forget });
    return await serve(opened);
  } catch (error) {
    await opened?.close();
    forget();
    if (!abort.signal.aborted) throw error;
    announceStream(request)({ outcome: "aborted", bytes: 0 });
    return new Response(null);
  }
}

async function openExport(
  deps: ExportDeps,
  given: { asOf: string | null; abort: AbortController; forget: () => void },
): Promise<OpenExport> {
  const { abort, forget } = given;
  const release = deps.slots.take("start another export");
  try {
    const asOf = await requireWatermark(deps, given.asOf, abort.signal);
    const snapshot = await openExportSnapshot(deps.exportSql, { control: deps.sql, signal: abort.signal });
    const close = async (): Promise<void> => {
      forget();
      await snapshot.close();
      release();
    };
    return { asOf, snapshot, abort, close };
  } catch (error) {
    release();
    throw error;
  }
}
