/**
 * Streams an export. The steps are access, slot, cutoff, snapshot, number of rows, audit entry and stream. A request can be
 * refused only before the first byte.
 */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { NO_FILTERS } from "../../shared/exports/datasets.ts";
import { contentDisposition, exportFileStamp, sanitizeProjectName } from "../../shared/exports/file_names.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { VisibleProjectRow } from "../../sql/accounts/visible_project.ts";
import type { Node } from "../../sql/connection/nodes.ts";
import { hasSqlState, QUERY_CANCELED, type Sql } from "../../sql/connection/pool.ts";
import { type ExportLanes, limitStatements, preferParallelCopies } from "../../sql/connection/snapshot.ts";
import { FORMATS } from "../../sql/exports/dataset_file.ts";
import { type ExportSource, openSource } from "../../sql/exports/open_source.ts";
import { type ExportSelection, WrongTimeError } from "../../sql/exports/select_rows.ts";
import { settleCutoff } from "../../sql/exports/settle_as_of.ts";
import { isTrackerReadable } from "../../sql/tracker/tracker_differences.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { unavailable } from "../http/error_handler.ts";
import { type OperationDeps, reply } from "../http/operation.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import { chooseEncoding, compress } from "../http/response/content_encoding.ts";
import { countBytes, responseStream, type StreamWatch } from "../http/response/stream.ts";
import {
  type ExportParameters,
  type ExportPolicy,
  mayContinue,
  repeatChecks,
  requireExportProject,
} from "./export_request.ts";
import { ASYNC_ENDPOINT, type CountedFile, countWithinLimit } from "./row_limit.ts";

/** SQLSTATEs insufficient_privilege, undefined_table and invalid_schema_name. */
const UNREADABLE = ["42501", "42P01", "3F000"];
/** Maximum age of an access check before the first byte. */
const ACCESS_FRESH_MS = 1000;

export interface OpenExport<Parameters = ExportParameters> extends ExportSource {
  project: VisibleProjectRow;
  parameters: Parameters;
  /** Rows selected by the common parameters. */
  selection: ExportSelection;
  /** Second connections to the snapshot's server. */
  lanes: ExportLanes;
  /** Cancels the running query. Aborted when the client disconnects or the stream is cut off. */
  abort: AbortController;
  watch: StreamWatch;
  /** Repeats the initial access checks if they are old, because counting may take minutes. Throws if access has ended. */
  requireAccessStill(): Promise<void>;
  /** Releases the slot and the connection. A second call does nothing. */
  close(): Promise<void>;
}

interface ExportRequest<Parameters> {
  request: Request;
  caller: Caller;
  /** The project's id, slug or name. */
  project: string;
  /** Access policy, checked at the start and while the export runs. */
  policy: ExportPolicy;
  /** Parses the query. Called only if the caller may export the project. */
  parse: () => Parameters;
  /** `file` streams rows. `head` and `estimate` only count them, without a stream slot. `head` fails if no slot is free. */
  kind: "file" | "head" | "estimate";
}

interface ExportFile extends CountedFile {
  /** Name of the dataset, or `bundle`. Part of the file name. */
  content: string;
  /** Generates the content. */
  open(totalRows: number): AsyncGenerator<Uint8Array, void, void>;
}

/**
 * Streams the file that `describe` returns for the open export, and closes the export after the stream. Reports errors in the
 * order 401, 404, 403, 402, 400, 413, before the first byte (docs/contract.md, Errors).
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
    const rows = await countWithinLimit(deps.config, opened, file);
    Object.assign(requestContext(exportRequest.request).fields, { asOf, rows, format: parameters.format });
    // Adds a single audit entry, even if the replica aborts the export before the first byte and it is opened again.
    if (kind === "file" && !isNoted) await noteExport(deps.sql, { ...exportRequest, opened, file, rows });
    isNoted = true;
    // A ZIP is already compressed.
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

/**
 * Checks access and parameters, opens an export at its cutoff, and calls `serve`. If `serve` returns, its reply must close the
 * export. If `serve` throws because of the replica, it is called again with an export of the primary. Returns null if the client
 * has disconnected. Throws the errors of `requireExportProject`, `parse` and `settleCutoff`. Throws RATE_LIMITED if the caller
 * or organization has used up its share, SERVICE_UNAVAILABLE if no slot is free, and EXPORT_PREPARE_TIMEOUT if counting takes
 * too long.
 */
export async function withOpenExport<Parameters extends ExportParameters, Answer>(
  deps: OperationDeps,
  exportRequest: ExportRequest<Parameters>,
  serve: (opened: OpenExport<Parameters>) => Promise<Answer>,
): Promise<Answer | null> {
  const checkedAt = performance.now();
  const project = await requireExportProject(deps.sql, exportRequest);
  const parameters = exportRequest.parse();
  const { request } = exportRequest;
  const abort = new AbortController();
  if (request.signal.aborted) abort.abort();
  request.signal.addEventListener("abort", () => abort.abort());
  const opening = { ...exportRequest, project, parameters, abort, checkedAt };
  try {
    const served = await openAndServe(deps, opening, serve);
    if (served === null) announceStream(request)({ outcome: "aborted", bytes: 0 });
    return served;
  } catch (error) {
    if (hasSqlState(error, ...UNREADABLE)) await requireTracker(deps, error);
    throw error;
  }
}

interface Opening<Parameters> extends Omit<ExportRequest<Parameters>, "project"> {
  project: VisibleProjectRow;
  parameters: Parameters;
  abort: AbortController;
  /** Time of the last access check, from `performance.now()`. */
  checkedAt: number;
}

/** Opens an export and calls `serve`. Returns null if it fails after the client has disconnected. */
async function openAndServe<Parameters extends ExportParameters, Answer>(
  deps: OperationDeps,
  opening: Opening<Parameters>,
  serve: (opened: OpenExport<Parameters>) => Promise<Answer>,
): Promise<Answer | null> {
  let opened: OpenExport<Parameters> | null = null;
  try {
    opened = await openExport(deps, opening);
    // For a file, counting may take as long as streaming. Counting alone has a shorter limit.
    const countMs =
      opening.kind === "file" ? deps.exports.streamRules.maxMs : deps.config.exportPrepareTimeoutMs;
    await opened.snapshot.run((tx) => limitStatements(tx, countMs));
    return await serve(opened);
  } catch (error) {
    // Reads the signal before closing: a client that disconnects during the close has not caused the error.
    const hasLeft = opening.abort.signal.aborted;
    await opened?.close();
    if (hasLeft) return null;
    if (!opened) throw error;
    if (hasSqlState(error, QUERY_CANCELED)) {
      throw new ApiError("EXPORT_PREPARE_TIMEOUT", {
        details: { asyncEndpoint: ASYNC_ENDPOINT },
        cause: error,
      });
    }
    if (error instanceof WrongTimeError) {
      const details = { reason: "time", ...error.row };
      throw new ApiError("UNPROCESSABLE_ENTITY", { message: `${error.message}.`, details, cause: error });
    }
    if (!opened.replica?.isToBlameFor(error)) throw error;
    const parameters = { ...opening.parameters, asOf: opened.asOf };
    return await openAndServe({ ...deps, replica: null }, { ...opening, parameters }, serve);
  }
}

async function openExport<Parameters extends ExportParameters>(
  deps: OperationDeps,
  opening: Opening<Parameters>,
): Promise<OpenExport<Parameters>> {
  const { request, caller, policy, project, parameters, abort } = opening;
  const { since } = parameters;
  const { streams, counts, streamRules: rules } = deps.exports;
  const claim = { holder: caller.userId, group: project.orgId };
  if (opening.kind === "head") streams.requireFree(claim);
  const permit = (opening.kind === "file" ? streams : counts).take(claim);
  try {
    const { signal } = abort;
    const settle = (nodes: readonly Node[]) =>
      settleCutoff(deps, { asOf: parameters.asOf, since, signal, nodes });
    const source = await openSource(deps, { projectId: project.id, signal, settle });
    const { node, replica } = source;
    deps.exports.metrics.snapshots.inc(
      node ? { database: "node", node: node.name } : { database: replica ? "replica" : "primary" },
    );
    const { lanes } = node ?? replica ?? deps.exports;
    const close = async (): Promise<void> => {
      await source.snapshot.close();
      permit.release();
    };
    // Repeats the initial checks of credential, membership, role and subscription.
    const access = { caller, request, project: project.id, policy };
    const requireAccess = () => requireExportProject(deps.sql, access);
    const watch = { rules, permit, mayContinue: () => mayContinue(deps, caller, requireAccess) };
    let { checkedAt } = opening;
    const requireAccessStill = async (): Promise<void> => {
      const now = performance.now();
      if (now - checkedAt < ACCESS_FRESH_MS) return;
      await repeatChecks(deps.sql, caller, requireAccess);
      checkedAt = now;
    };
    const selection: ExportSelection = {
      trackerSchema: deps.config.trackerSchema,
      shards: source.shards,
      projectId: project.id,
      asOf: source.asOf,
      since,
      visibility: parameters.visibility,
      filters: NO_FILTERS,
    };
    return { ...source, project, parameters, selection, lanes, abort, watch, requireAccessStill, close };
  } catch (error) {
    permit.release();
    throw error;
  }
}

/**
 * Throws SERVICE_UNAVAILABLE if the tracker's tables cannot be read. Otherwise, a job would be queued and fail. `cause` is the
 * error of a query that may have failed because the tables were removed.
 */
export async function requireTracker({ sql, config }: OperationDeps, cause: unknown = null): Promise<void> {
  if (!(await isTrackerReadable(sql, config.trackerSchema)))
    throw unavailable(cause, TEXTS.SERVICE_UNAVAILABLE.tracker);
}

type Sent = Pick<ExportRequest<unknown>, "request" | "caller"> & {
  opened: OpenExport;
  file: ExportFile;
  rows: number;
};

/** Adds an audit entry about the exported data before the first byte is sent. */
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

/**
 * Returns the export's stream. Reads the first chunk, so that an early failure becomes an error response instead of a broken
 * download. This may take minutes, so access is checked again.
 */
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
  await opened.requireAccessStill().catch(async (error: unknown) => {
    await chunks.return();
    throw error;
  });
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
