/** Sends the file of an export while it is generated: counts its rows, records it in the audit log, streams it. */
import { contentDisposition, exportFileStamp, sanitizeProjectName } from "../../shared/exports/file_names.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { limitStatements, preferParallelCopies } from "../../sql/connection/snapshot.ts";
import { FORMATS } from "../../sql/exports/dataset_file.ts";
import { auditActor } from "../http/audit_actor.ts";
import { type OperationDeps, reply } from "../http/operation.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { chooseEncoding, compress } from "../http/response/content_encoding.ts";
import { countBytes, responseStream } from "../http/response/stream.ts";
import type { ExportParameters } from "./export_request.ts";
import { countWithinLimit, type ExportRequest, type OpenExport, withOpenExport } from "./open_export.ts";

interface ExportFile {
  kind: "dataset" | "bundle";
  /** The dataset, or `bundle`; part of the file name. */
  content: string;
  maxRows: number;
  /** Counts the rows, but no further than `limit`. */
  count(tx: Sql, limit: number): Promise<number>;
  /** Makes the content. */
  open(totalRows: number): AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Replies with the file that `describe` makes of the open export, and closes the export when the stream has ended. Refuses
 * in the order 401, 404, 403, 402, 400, 413, always before the first byte (docs/contract.md, Errors).
 */
export async function sendExport<Parameters extends ExportParameters>(
  deps: OperationDeps,
  exportRequest: Omit<ExportRequest<Parameters>, "kind">,
  describe: (opened: OpenExport<Parameters>) => ExportFile,
) {
  const kind = requestContext(exportRequest.request).method === "HEAD" ? "head" : "file";
  let isNoted = false;
  const sent = await withOpenExport(deps, { ...exportRequest, kind }, async (opened) => {
    const file = describe(opened);
    const { asOf, parameters } = opened;
    const rows = await countWithinLimit(opened, file);
    Object.assign(requestContext(exportRequest.request).fields, { asOf, rows, format: parameters.format });
    // An export that the replica breaks off before its first byte is opened again.
    if (kind === "file" && !isNoted) await noteExport(deps.sql, { ...exportRequest, opened, file, rows });
    isNoted = true;
    // A ZIP is compressed already.
    const isCompressed = file.kind === "bundle" || FORMATS[parameters.format].isCompressed;
    const accepted = exportRequest.request.headers.get("accept-encoding");
    const encoding = isCompressed ? null : chooseEncoding(accepted);
    const headers = fileHeaders(file, { opened, rows, encoding });
    if (kind === "file") {
      const lines = () => (encoding ? compress(file.open(rows), encoding) : file.open(rows));
      return reply(200, await stream(deps, { ...exportRequest, opened, file, rows, lines }), { headers });
    }
    await opened.close();
    announceStream(exportRequest.request);
    return reply(200, null, { headers });
  });
  return sent ?? reply(200, null);
}

type Sent = Pick<ExportRequest<unknown>, "request" | "caller"> & {
  opened: OpenExport;
  file: ExportFile;
  rows: number;
};

/** Records in the audit log which data is exported, before the first byte is sent. */
async function noteExport(sql: Sql, { request, caller, opened, file, rows }: Sent): Promise<void> {
  const { project, asOf, parameters } = opened;
  const { format, since } = parameters;
  await insertAuditEntry(sql, {
    ...auditActor(request, caller),
    action: `export.${file.kind}`,
    subject: { type: "project", id: project.id },
    orgId: project.orgId,
    details: {
      ...(file.kind === "dataset" ? { dataset: file.content } : {}),
      format,
      asOf,
      ...(since === null ? {} : { since }),
      rows,
    },
  });
}

/** The first chunk is read here, so that an early failure is an error response and no broken download. */
async function stream(
  deps: OperationDeps,
  { request, opened, file, rows, lines }: Sent & { lines: () => AsyncGenerator<Uint8Array, void, void> },
): Promise<ReadableStream<Uint8Array>> {
  const { metrics } = deps.exports;
  await opened.snapshot.run((tx) => limitStatements(tx, 0));
  await opened.snapshot.run(preferParallelCopies);
  const sent = { bytes: 0 };
  const labels = { kind: file.kind, format: opened.parameters.format };
  const chunks = countBytes(lines(), (bytes) => {
    sent.bytes += bytes;
    metrics.bytes.inc(labels, bytes);
  });
  const first = await chunks.next();
  const endStream = announceStream(request);
  return responseStream(chunks, {
    first,
    abort: opened.abort,
    watch: opened.watch,
    connection: requestContext(request).connection,
    onSourceEnd: () => opened.close(),
    onEnd: (end) => {
      if (end.outcome === "cut") metrics.cut.inc({ reason: end.reason });
      if (end.outcome === "failed") metrics.cut.inc({ reason: "failed" });
      if (end.outcome === "complete") metrics.rows.inc(labels, rows);
      endStream({ ...end, bytes: sent.bytes });
    },
  });
}

function fileHeaders(
  { kind, content }: ExportFile,
  { opened, rows, encoding }: { opened: OpenExport; rows: number; encoding: string | null },
): Record<string, string> {
  const { asOf, project, parameters } = opened;
  const { format } = parameters;
  const extension = kind === "bundle" ? "zip" : format;
  const rest = `${content}-${exportFileStamp(asOf)}.${extension}`;
  return {
    "Content-Type": kind === "bundle" ? "application/zip" : FORMATS[format].contentType,
    "Content-Disposition": contentDisposition({
      ascii: `${sanitizeProjectName(project.name)}-${rest}`,
      full: `${project.name}-${rest}`,
    }),
    "Cache-Control": "no-store",
    "X-Export-As-Of": asOf,
    "X-Export-Next-Since": asOf,
    "X-Export-Total-Rows": String(rows),
    ...(kind === "dataset" ? { Vary: "Accept-Encoding" } : {}),
    ...(encoding ? { "Content-Encoding": encoding } : {}),
  };
}
