/** Follows downloads of finished exports to their end. Bun sends files itself, and reports neither progress nor end. */
import type { Log } from "../../shared/process/log.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import {
  announceStream,
  type ClientConnection,
  type CutReason,
  requestContext,
} from "../http/request_context.ts";
import { ReaderPace, type StreamRules, type StreamWatch, watchStream } from "../http/response/stream.ts";
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
  const progress = new Progress(connection, { rules: watch.rules, bytes });
  const count = (): void => metrics.bytes.inc(labels, progress.advance());
  const timer = setInterval(count, SAMPLE_MS);
  let cutReason: CutReason | undefined;
  const stopWatch = watchStream(watch, {
    pace: progress.pace,
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
    if (cutReason) return endStream({ outcome: "cut", reason: cutReason, bytes: progress.received });
    if (!isSent) return endStream({ outcome: "aborted", bytes: progress.received });
    metrics.bytes.inc(labels, bytes - (progress.received ?? 0));
    endStream({ outcome: "complete", bytes });
  });
}

/** How much of a response has arrived. Its head counts too, some hundred bytes. */
class Progress {
  /** Null if the system does not tell. */
  received: number | null;
  readonly #connection: ClientConnection;
  readonly #bytes: number;
  readonly pace: ReaderPace;
  /** Of earlier responses on the connection. */
  readonly #before: number;
  #sampledAt = performance.now();

  constructor(connection: ClientConnection, { rules, bytes }: { rules: StreamRules; bytes: number }) {
    const before = connection.acknowledgedBytes();
    this.received = before === null ? null : 0;
    this.#before = before ?? 0;
    this.#connection = connection;
    this.#bytes = bytes;
    this.pace = new ReaderPace(rules);
  }

  /** Returns how many more bytes have arrived since the last call. */
  advance(): number {
    const acknowledged = this.#connection.acknowledgedBytes();
    if (acknowledged === null || this.received === null) return 0;
    const more = Math.min(this.#bytes, acknowledged - this.#before) - this.received;
    this.received += more;
    this.pace.offered(more, this.#sampledAt);
    this.#sampledAt = performance.now();
    this.pace.taken(this.#sampledAt);
    return more;
  }
}
