/** Follows downloads of finished exports to their end. Bun sends files itself, and reports neither progress nor end. */
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
  /** What is sent if the download is whole. */
  bytes: number;
}

/**
 * Counts what the client receives, and logs the request when the response has ended. Cuts off a download that is too slow,
 * too long, or no longer allowed. Call it when nothing can be refused any more.
 */
export function followDownload(
  { metrics, log }: { metrics: ExportMetrics; log: Log },
  { request, watch, job, bytes }: Download,
): void {
  const { connection, requestId } = requestContext(request);
  const endStream = announceStream(request);
  const labels = { kind: "organization", format: job.format };
  const pace = new ReaderPace(watch.rules);
  /** Of earlier responses on the connection; null if the system does not tell. */
  const before = connection.acknowledgedBytes();
  /** How much has arrived. The head of the response counts too, some hundred bytes. */
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
