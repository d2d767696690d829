/** Answers with a file that is made while it is sent (contract section 4, Headers). */
import { contentDisposition, exportFileStamp, sanitizeProjectName } from "../../shared/file_names.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { preferParallelCopies } from "../../sql/export_rows.ts";
import { announceStream, requestContext } from "../request_context.ts";
import type { ExportMetrics } from "./export_metrics.ts";
import type { OpenExport } from "./open_export.ts";
import { responseStream } from "./response_stream.ts";

export interface ExportFile {
  /** `dataset` or `bundle`, for the metrics. */
  kind: "dataset" | "bundle";
  format: ExportFormat;
  contentType: string;
  projectName: string;
  /** What the file's name says it is: the dataset, or `bundle`. */
  content: string;
  extension: string;
  totalRows: number;
  /** Headers besides those every file has. */
  headers?: Readonly<Record<string, string>>;
  /** Makes the content; the signal is aborted when the client leaves. */
  open: (signal: AbortSignal) => AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Takes over an open export and answers with its file. The first chunk is made before the answer, so that what
 * fails at once is an error and no broken download. Closes the export when it throws, or when the stream is over.
 */
export async function fileResponse(
  request: Request,
  given: { opened: OpenExport; file: ExportFile; metrics: ExportMetrics },
): Promise<Response> {
  const { opened, file, metrics } = given;
  const headers = fileHeaders(file, opened.asOf);
  if (requestContext(request).method === "HEAD") {
    await opened.close();
    return new Response(null, { headers });
  }
  await preferParallelCopies(opened.snapshot.tx);
  const abort = new AbortController();
  const leave = (): void => abort.abort();
  request.signal.addEventListener("abort", leave);
  const sent = { bytes: 0 };
  const labels = { kind: file.kind, format: file.format };
  const chunks = countBytes(file.open(abort.signal), (bytes) => {
    sent.bytes += bytes;
    metrics.bytes.inc(labels, bytes);
  });
  const close = async (): Promise<void> => {
    request.signal.removeEventListener("abort", leave);
    await opened.close();
  };
  const first = await chunks.next().catch(async (error: unknown) => {
    await close();
    if (abort.signal.aborted) return null;
    throw error;
  });
  const endStream = announceStream(request);
  if (first === null) {
    // The client left before there was anything to send: nobody reads this answer.
    endStream({ outcome: "aborted", bytes: 0 });
    return new Response(null, { headers });
  }
  const body = responseStream(startWith(first, chunks), {
    abort,
    onEnd: async (end) => {
      await close();
      if (end.outcome === "complete") metrics.rows.inc(labels, file.totalRows);
      endStream({ ...end, bytes: sent.bytes });
    },
  });
  Object.assign(requestContext(request).fields, {
    asOf: opened.asOf,
    rows: file.totalRows,
    format: file.format,
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
    "X-Export-Total-Rows": String(file.totalRows),
    ...file.headers,
  };
}

async function* countBytes(
  chunks: AsyncGenerator<Uint8Array, void, void>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** Puts a chunk that was taken already back in front. */
async function* startWith(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
