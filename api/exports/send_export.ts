/** Sends the file of an export while it is generated: counts its rows, records it in the audit log, streams it. */
import { Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../shared/errors.ts";
import { contentDisposition, exportFileStamp, sanitizeProjectName } from "../../shared/exports/file_names.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { limitStatements, preferParallelCopies } from "../../sql/connection/snapshot.ts";
import { FORMATS } from "../../sql/exports/dataset_file.ts";
import { auditActor } from "../http/audit_actor.ts";
import { type Files, type OperationDeps, reply } from "../http/operation.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { compress } from "../http/response/compress_stream.ts";
import { chooseEncoding } from "../http/response/content_encoding.ts";
import { countBytes, responseStream } from "../http/response/stream.ts";
import { Instant, Text } from "../http/schemas.ts";
import { type ExportRequest, type OpenExport, withOpenExport } from "./open_export.ts";
import { countWithinLimit } from "./row_limit.ts";

export const ProjectParams = {
  project: Type.String({
    description: "The project's id, or its slug or name in the organization of the request",
    examples: ["checkout-service"],
  }),
};

/** The error of a file endpoint when a share of the slots is used up. */
export const SHARE_USED_UP = ["RATE_LIMITED", { share: "user", limit: 2 }] as const;

/** The error of an export that has a row with a time that no format can write. */
export const WRONG_TIME = [
  "UNPROCESSABLE_ENTITY",
  {
    ...{ reason: "time", dataset: "issues", column: "resolvedAt", time: "0044-03-15 00:00:00+00 BC" },
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  },
] as const;

/** What the exports of a project have in common. */
export const PROJECT_EXPORT = {
  method: "GET",
  access: "caller",
  tag: "Export",
  params: ProjectParams,
  usesOrg: true,
} as const;

export const PROJECT_FAILURES: readonly ErrorCode[] = [
  "SUBSCRIPTION_REQUIRED",
  "ORG_ACCESS_DENIED",
  "PROJECT_NOT_FOUND",
];

/** What everything about a bundle fails with. */
export const BUNDLE_FAILURES = [
  ...PROJECT_FAILURES,
  "INSUFFICIENT_ORG_ROLE",
  "KEY_KIND_FORBIDDEN",
  "EXPORT_PREPARE_TIMEOUT",
  WRONG_TIME,
  SHARE_USED_UP,
] as const;

export const FILE_HEADERS = {
  "X-Export-As-Of": { description: "The cutoff: rows created later are excluded", schema: Instant() },
  "X-Export-Next-Since": { description: "Pass it as `since` for the next increment", schema: Instant() },
  "X-Export-Total-Rows": { description: "Exact number of rows in the file", schema: Type.Integer() },
  "Content-Disposition": { description: "`attachment` with a file name", schema: Text },
};

const NDJSON = "application/x-ndjson";

/** NDJSON for the document: for a client a text, which it can split into rows of this schema. */
export function ndjsonFiles(rowSchema: object): Files["files"] {
  const contentSchema = { type: "array", items: rowSchema };
  return { [NDJSON]: { type: "string", contentMediaType: NDJSON, contentSchema } };
}

interface ExportFile {
  kind: "dataset" | "bundle";
  format: ExportFormat;
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
export async function sendExport<Parameters extends OpenExport["parameters"]>(
  deps: OperationDeps,
  exportRequest: Omit<ExportRequest<Parameters>, "kind">,
  describe: (opened: OpenExport<Parameters>) => ExportFile,
) {
  const kind = requestContext(exportRequest.request).method === "HEAD" ? "head" : "file";
  const sent = await withOpenExport(deps, { ...exportRequest, kind }, async (opened) => {
    const file = describe(opened);
    const rows = await countWithinLimit(file.maxRows, (limit) =>
      opened.snapshot.run((tx) => file.count(tx, limit)),
    );
    const { asOf } = opened;
    Object.assign(requestContext(exportRequest.request).fields, { asOf, rows, format: file.format });
    if (kind === "file") await noteExport(deps.sql, { ...exportRequest, opened, file, rows });
    const encoding = encodingOf(file, exportRequest.request);
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

/** A ZIP is compressed already. */
function encodingOf({ kind, format }: ExportFile, request: Request) {
  if (kind === "bundle" || FORMATS[format].isCompressed) return null;
  return chooseEncoding(request.headers.get("accept-encoding"));
}

type Sent = Pick<ExportRequest<unknown>, "request" | "caller"> & {
  opened: OpenExport;
  file: ExportFile;
  rows: number;
};

/** Records in the audit log which data is exported, before the first byte is sent. */
async function noteExport(sql: Sql, { request, caller, opened, file, rows }: Sent): Promise<void> {
  const { project, asOf, parameters } = opened;
  const { since } = parameters;
  await insertAuditEntry(sql, {
    ...auditActor(request, caller),
    action: `export.${file.kind}`,
    subject: { type: "project", id: project.id },
    orgId: project.orgId,
    details: {
      ...(file.kind === "dataset" ? { dataset: file.content } : {}),
      format: file.format,
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
  const labels = { kind: file.kind, format: file.format };
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
  { kind, format, content }: ExportFile,
  { opened, rows, encoding }: { opened: OpenExport; rows: number; encoding: string | null },
): Record<string, string> {
  const { asOf, project } = opened;
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
