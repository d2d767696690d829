/**
 * Cuts off downloads that are too slow, too long, or no longer allowed. Bun sends files itself and reports no progress.
 */
import type { Log } from "../../shared/process/log.ts";
import type { ClientConnection } from "../http/request_context.ts";
import { type StreamWatch, watchStream } from "../http/response/stream_cutoff.ts";
import type { ExportMetrics } from "./export_metrics.ts";

/**
 * Watches a download until it is sent. Only its end is known: a reader is slow if, after the first window, it would
 * have finished by now at the minimum rate.
 */
export function watchDownload(
  { metrics, log }: { metrics: ExportMetrics; log: Log },
  given: {
    watch: StreamWatch;
    connection: ClientConnection;
    bytes: number;
    jobId: string;
    requestId: string;
  },
): void {
  const { watch, connection, bytes, jobId, requestId } = given;
  const { slowWindowMs, minBytesPerSecond } = watch.rules;
  const slowAt = performance.now() + slowWindowMs + (bytes / minBytesPerSecond) * 1000;
  watchStream(watch, {
    isOver: () => !connection.isOpen(),
    isSlow: () => performance.now() > slowAt,
    cut(reason) {
      connection.breakOff();
      metrics.cut.inc({ reason });
      log.info({ event: "export_job.download_cut", exportJobId: jobId, requestId, reason }, "download cut");
    },
  });
}
