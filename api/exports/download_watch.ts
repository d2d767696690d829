/** Breaks off downloads that have to end. Bun sends such a file by itself, and does not say how far it has come. */
import type { Log } from "../../shared/process/log.ts";
import type { ClientConnection } from "../http/request_context.ts";
import { type StreamWatch, watchStream } from "../http/response/stream_cutoff.ts";
import type { ExportMetrics } from "./export_metrics.ts";

/**
 * Watches a download of so many bytes until its connection has taken it. Of its reader is known only whether it has
 * finished: it is slow when it would have by now at the least rate, and the first window is over.
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
