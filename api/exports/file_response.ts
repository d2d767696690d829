/** Responds with a file that is generated while it is sent. */
import { contentDisposition, exportFileStamp, sanitizeProjectName } from "../../shared/exports/file_names.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { limitStatements, preferParallelCopies } from "../../sql/exports/rows.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { countBytes, responseStream } from "../http/response/stream.ts";
import type { ExportMetrics } from "./export_metrics.ts";
import type { OpenExport } from "./open_export.ts";

export interface ExportFile {
  /** `dataset` or `bundle`, for the metrics. */
  kind: "dataset" | "bundle";
  format: ExportFormat;
  contentType: string;
  projectName: string;
  /** The dataset, or `bundle`; part of the file name. */
  content: string;
  extension: string;
  totalRows: number;
  /** Headers in addition to those of every file. */
  headers?: Readonly<Record<string, string>>;
  /** Makes the content. */
  open: () => AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Responds with the file of an open export, and closes the export when the stream has ended. The first chunk is read
 * before the response, so that an early failure is an error response and no broken download.
 */
export async function fileResponse(
  request: Request,
  given: { opened: OpenExport; file: ExportFile; metrics: ExportMetrics },
): Promise<Response> {
  const { opened, file, metrics } = given;
  const headers = fileHeaders(file, opened.asOf);
  Object.assign(requestContext(request).fields, {
    asOf: opened.asOf,
    rows: file.totalRows,
    format: file.format,
  });
  if (requestContext(request).method === "HEAD") {
    await opened.close();
    announceStream(request);
    return new Response(null, { headers });
  }
  await opened.snapshot.run((tx) => limitStatements(tx, 0));
  await opened.snapshot.run(preferParallelCopies);
  const sent = { bytes: 0 };
  const labels = { kind: file.kind, format: file.format };
  const chunks = countBytes(file.open(), (bytes) => {
    sent.bytes += bytes;
    metrics.bytes.inc(labels, bytes);
  });
  const first = await chunks.next();
  const endStream = announceStream(request);
  const body = responseStream(chunks, {
    first,
    abort: opened.abort,
    watch: opened.watch,
    connection: requestContext(request).connection,
    onSourceEnd: () => opened.close(),
    onEnd: (end) => {
      if (end.outcome === "cut") metrics.cut.inc({ reason: end.reason });
      if (end.outcome === "failed") metrics.cut.inc({ reason: "failed" });
      if (end.outcome === "complete") metrics.rows.inc(labels, file.totalRows);
      endStream({ ...end, bytes: sent.bytes });
    },
  });
  return new Response(body, { headers });
}

function fileHeaders(file: ExportFile, asOf: string): Record<string, string> {
  const rest = `${file.content}-${exportFileStamp(asOf)}.${file.extension}`;
  return {
    "Content-Type": file.contentType,
    "Content-Disposition": contentDisposition({
      ascii: `${sanitizeProjectName(file.projectName)}-${rest}`,
      full: `${file.projectName}-${rest}`,
    }),
    "Cache-Control": "no-store",
    "X-Export-As-Of": asOf,
    "X-Export-Next-Since": asOf,
    "X-Export-Total-Rows": String(file.totalRows),
    ...file.headers,
  };
}
