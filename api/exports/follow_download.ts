/** Monitors downloads of finished exports. Bun sends the files itself and reports neither progress nor completion. */
import type { Log } from "../../shared/process/log.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { announceStream, type CutReason, requestContext } from "../http/request_context.ts";
import { ReaderPace, type StreamWatch, watchStream } from "../http/response/stream.ts";
import type { ExportMetrics } from "./export_resources.ts";

const SAMPLE_MS = 250;

interface Download {
  request: Request;
  watch: StreamWatch;
  job: { id: string; format: ExportFormat };
  /** Bytes of a complete download. */
  bytes: number;
}

/**
 * Counts the bytes that the client receives, and logs the request after the response. Cuts off a download that is too slow,
 * takes too long, or is no longer allowed. Call it after all checks that can refuse the request.
 */
export function followDownload(
  { metrics, log }: { metrics: ExportMetrics; log: Log },
  { request, watch, job, bytes }: Download,
): void {
  const { connection, requestId } = requestContext(request);
  const endStream = announceStream(request);
  const labels = { kind: "organization", format: job.format };
  const pace = new ReaderPace(watch.rules);
  /** Bytes that the client acknowledged for earlier responses on the connection; null if the system does not report them. */
  const before = connection.acknowledgedBytes();
  /** Bytes acknowledged for this response, including a few hundred bytes of headers. */
  let received = before === null ? null : 0;
  let sampledAt = performance.now();
  const count = (): void => {
    const acknowledged = connection.acknowledgedBytes();
    if (acknowledged === null || before === null || received === null) return;
    const more = Math.min(bytes, acknowledged - before) - received;
    received += more;
    metrics.bytes.inc(labels, more);
    pace.offered(more, sampledAt);
    sampledAt = performance.now();
    pace.taken(sampledAt);
  };
  const timer = setInterval(count, SAMPLE_MS);
  let cutReason: CutReason | undefined;
  const stopWatch = watchStream(watch, {
    pace,
    cut(reason) {
      if (!connection.isOpen()) return;
      count();
      cutReason = reason;
      watch.permit.release();
      connection.reset();
      metrics.cut.inc({ reason });
      log.info({ event: "export_job.download_cut", exportJobId: job.id, requestId, reason }, "download cut");
    },
  });
  void connection.whenOver().then((isSent) => {
    clearInterval(timer);
    stopWatch();
    if (cutReason) return endStream({ outcome: "cut", reason: cutReason, bytes: received });
    if (!isSent) return endStream({ outcome: "aborted", bytes: received });
    metrics.bytes.inc(labels, bytes - (received ?? 0));
    endStream({ outcome: "complete", bytes });
  });
}
