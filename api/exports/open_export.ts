/** Opens an export: takes a slot, settles the cutoff, opens the snapshot that the rows are read from, and refuses too many. */
import { RETRY_AFTER } from "../../shared/error_rows.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { NO_FILTERS } from "../../shared/exports/datasets.ts";
import type { VisibleProjectRow } from "../../sql/accounts/visible_project.ts";
import type { Node } from "../../sql/connection/nodes.ts";
import { hasSqlState, QUERY_CANCELED, type Sql } from "../../sql/connection/pool.ts";
import {
  type ExportLanes,
  type ExportSnapshot,
  limitStatements,
  openExportSnapshot,
} from "../../sql/connection/snapshot.ts";
import { openOnNode, requireOneMachine } from "../../sql/exports/open_on_node.ts";
import { type ExportSelection, WrongTimeError } from "../../sql/exports/rows.ts";
import {
  type AsOfResult,
  NO_SESSION,
  settleAsOf,
  type WatermarkBlocker,
} from "../../sql/exports/settle_as_of.ts";
import { isChangeLogKept } from "../../sql/exports/tracker_changes.ts";
import { isTrackerReadable } from "../../sql/tracker/tracker_differences.ts";
import type { TrackerShards } from "../../sql/tracker/tracker_shards.ts";
import { OWN_TRACKER_SCHEMA } from "../../sql/tracker/tracker_tables.ts";
import type { Caller } from "../http/caller.ts";
import { unavailable } from "../http/error_handler.ts";
import type { OperationDeps } from "../http/operation.ts";
import { announceStream } from "../http/request_context.ts";
import type { StreamWatch } from "../http/response/watch_stream.ts";
import { invalidInput } from "../http/validation_problems.ts";
import {
  type ExportParameters,
  type ExportPolicy,
  mayContinue,
  requireExportProject,
} from "./export_request.ts";

/** SQLSTATEs insufficient_privilege, undefined_table and invalid_schema_name. */
const UNREADABLE = ["42501", "42P01", "3F000"];
/** An older cutoff is logged: a transaction was probably left open. */
const NOTEWORTHY_LAG_MS = 5000;
/** Where too large an export is possible. */
const ASYNC_ENDPOINT = "/api/v1/export/jobs";

/** Where an export reads, and as of when. */
interface ExportSource {
  asOf: string;
  snapshot: ExportSnapshot;
  /** What to read there in place of the tracker tables; null for the tables. */
  shards: TrackerShards | null;
  /** Second connections to the snapshot's server. */
  lanes: ExportLanes;
  /** Returns true if a read failed because of the replica, so that the primary may succeed. */
  isReplicaFault(error: unknown): boolean;
}

export interface OpenExport<Parameters = ExportParameters> extends ExportSource {
  project: VisibleProjectRow;
  parameters: Parameters;
  /** All rows that the common parameters select. */
  selection: ExportSelection;
  /** Aborted when the client has disconnected or the stream is cut off; cancels the running query. */
  abort: AbortController;
  /** Watches the export's stream. */
  watch: StreamWatch;
  /** Releases the slot and the connection. A second call does nothing. */
  close(): Promise<void>;
}

export interface ExportRequest<Parameters> {
  request: Request;
  caller: Caller;
  /** The project's id, slug or name. */
  project: string;
  /** The access check of the start, repeated while the export runs. */
  policy: ExportPolicy;
  /** Parses the query, once the caller may export the project. */
  parse: () => Parameters;
  /** Only `file` streams. The others count rows without a stream slot; `head` checks that one is free. */
  kind: "file" | "head" | "estimate";
}

/**
 * Checks access and parameters, opens an export at its cutoff, and calls `serve`, whose reply closes it; it is closed here
 * if `serve` throws. If `serve` throws because the replica is gone, it is called once more with an export of the primary.
 * Returns null if the client has left.
 *
 * Throws the errors of `requireExportProject`, `parse` and `settleCutoff`, RATE_LIMITED if the share of the caller or
 * organization is used up, SERVICE_UNAVAILABLE if no slot is free, EXPORT_PREPARE_TIMEOUT if counting takes too long.
 */
export async function withOpenExport<Parameters extends ExportParameters, Answer>(
  deps: OperationDeps,
  exportRequest: ExportRequest<Parameters>,
  serve: (opened: OpenExport<Parameters>) => Promise<Answer>,
): Promise<Answer | null> {
  const project = await requireExportProject(deps.sql, exportRequest);
  const parameters = exportRequest.parse();
  const abort = new AbortController();
  const opening = { ...exportRequest, project, parameters, asOf: parameters.asOf, abort };
  try {
    return await openAndServe(deps, opening, serve);
  } catch (error) {
    if (!abort.signal.aborted) throw await explainMissingTracker(deps, error);
    announceStream(exportRequest.request)({ outcome: "aborted", bytes: 0 });
    return null;
  }
}

interface Opening<Parameters> extends Omit<ExportRequest<Parameters>, "project"> {
  project: VisibleProjectRow;
  parameters: Parameters;
  asOf: string | null;
  abort: AbortController;
}

type AnyOpening = Opening<ExportParameters>;

async function openAndServe<Parameters extends ExportParameters, Answer>(
  deps: OperationDeps,
  opening: Opening<Parameters>,
  serve: (opened: OpenExport<Parameters>) => Promise<Answer>,
): Promise<Answer> {
  const opened = await openExport(deps, opening);
  try {
    // Counting alone has a time limit; a file has none here.
    if (opening.kind !== "file") {
      await opened.snapshot.run((tx) => limitStatements(tx, deps.config.exportPrepareTimeoutMs));
    }
    return await serve(opened);
  } catch (error) {
    await opened.close();
    if (opening.abort.signal.aborted) throw error;
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
    if (!opened.isReplicaFault(error)) throw error;
    return await openAndServe({ ...deps, replica: null }, { ...opening, asOf: opened.asOf }, serve);
  }
}

async function openExport<Parameters extends ExportParameters>(
  deps: OperationDeps,
  opening: Opening<Parameters>,
): Promise<OpenExport<Parameters>> {
  const { request, caller, policy, project, parameters, abort } = opening;
  const { streams, counts, streamRules: rules } = deps.exports;
  const claim = { holder: caller.userId, group: project.orgId };
  if (opening.kind === "head") streams.requireFree(claim);
  const permit = (opening.kind === "file" ? streams : counts).take(claim);
  const forget = abortWhenLeft(opening);
  try {
    const source = (await openNodeSource(deps, opening)) ?? (await openSource(deps, opening));
    const close = async (): Promise<void> => {
      forget();
      await source.snapshot.close();
      permit.release();
    };
    // Repeats the checks of the start: credential, membership, role and subscription.
    const access = { caller, request, project: project.id, policy };
    const requireAccess = () => requireExportProject(deps.sql, access);
    const watch = { rules, permit, mayContinue: () => mayContinue(deps, caller, requireAccess) };
    const selection: ExportSelection = {
      trackerSchema: deps.config.trackerSchema,
      shards: source.shards,
      projectId: project.id,
      asOf: source.asOf,
      since: parameters.since,
      visibility: parameters.visibility,
      filters: NO_FILTERS,
    };
    return { ...source, project, parameters, selection, abort, watch, close };
  } catch (error) {
    forget();
    permit.release();
    throw error;
  }
}

/** Settles the cutoff, and opens a snapshot on the node that holds the project; null if no node does. */
async function openNodeSource(deps: OperationDeps, opening: AnyOpening): Promise<ExportSource | null> {
  const { sql, nodes, config } = deps;
  const { signal } = opening.abort;
  if (config.trackerSchema !== OWN_TRACKER_SCHEMA) return null;
  let { asOf } = opening;
  const { since } = opening.parameters;
  const opened = await openOnNode({ sql, nodes, projectId: opening.project.id, signal }, async (node) => {
    asOf = await settleCutoff(deps, { asOf, since, signal, nodes: [node] });
  });
  if (opened === null || asOf === null) return null;
  const { node, snapshot, shards } = opened;
  deps.exports.metrics.snapshots.inc({ database: "node", node: node.name });
  return { asOf, snapshot, shards, lanes: node.lanes, isReplicaFault: () => false };
}

/** Settles the cutoff, and opens a snapshot on the replica while it keeps up, otherwise on the primary. */
async function openSource(deps: OperationDeps, opening: AnyOpening): Promise<ExportSource> {
  const { sql, exportSql, replica } = deps;
  const { signal } = opening.abort;
  const asOf = await settleCutoff(deps, { asOf: opening.asOf, since: opening.parameters.since, signal });
  // It shows everything committed before this line, and so all rows up to the cutoff.
  const position = (await replica?.readPosition()) ?? null;
  const fromReplica = position && replica ? await replica.openSnapshot(position, signal) : null;
  const snapshot = fromReplica ?? (await openExportSnapshot(exportSql, { control: sql, signal }));
  if (deps.config.trackerSchema === OWN_TRACKER_SCHEMA) await requireOneMachine(snapshot, deps.nodes);
  deps.exports.metrics.snapshots.inc({ database: fromReplica ? "replica" : "primary" });
  const lanes = fromReplica && replica ? replica.lanes : deps.exports.lanes;
  const isReplicaFault = (error: unknown): boolean =>
    fromReplica ? (replica?.isToBlameFor(error) ?? false) : false;
  return { asOf, snapshot, shards: null, lanes, isReplicaFault };
}

/** Counts the rows of a file, but not much further than its limit. Throws EXPORT_TOO_LARGE beyond it. */
export async function countWithinLimit(
  { snapshot }: ExportSource,
  { maxRows, count }: { maxRows: number; count: (tx: Sql, limit: number) => Promise<number> },
): Promise<number> {
  const rows = await snapshot.run((tx) => count(tx, maxRows + 1));
  if (rows <= maxRows) return rows;
  const details = { rows, limit: maxRows, asyncEndpoint: ASYNC_ENDPOINT };
  throw new ApiError("EXPORT_TOO_LARGE", { details });
}

/** Aborts when the client disconnects. Returns a function that unsubscribes. */
function abortWhenLeft({ request, abort }: AnyOpening): () => void {
  const leave = (): void => abort.abort();
  if (request.signal.aborted) leave();
  request.signal.addEventListener("abort", leave);
  return () => request.signal.removeEventListener("abort", leave);
}

/** Throws SERVICE_UNAVAILABLE if the tracker's tables cannot be read: a job would be queued and fail. */
export async function requireTracker({ sql, config }: OperationDeps): Promise<void> {
  if (!(await isTrackerReadable(sql, config.trackerSchema)))
    throw unavailable(null, TEXTS.SERVICE_UNAVAILABLE.tracker);
}

/** Returns SERVICE_UNAVAILABLE for a query that failed because the tracker's tables were removed, or else `error` itself. */
async function explainMissingTracker({ sql, config }: OperationDeps, error: unknown): Promise<unknown> {
  if (!hasSqlState(error, ...UNREADABLE)) return error;
  return (await isTrackerReadable(sql, config.trackerSchema))
    ? error
    : unavailable(error, TEXTS.SERVICE_UNAVAILABLE.tracker);
}

type CutoffDeps = Pick<OperationDeps, "config" | "sql" | "log">;

interface CutoffOptions {
  /** Null for the newest settled watermark. */
  asOf: string | null;
  /** Start of an increment; null for a full export. */
  since: string | null;
  signal?: AbortSignal;
  nodes?: readonly Node[];
}

/**
 * Settles `asOf`, or chooses the newest settled watermark if it is null. Throws VALIDATION_ERROR if `asOf` is in the
 * future or an increment from `since` cannot be exact, SERVICE_UNAVAILABLE if it does not settle. Call it outside a
 * transaction.
 */
export async function settleCutoff(
  deps: CutoffDeps,
  { asOf: wanted, since, ...options }: CutoffOptions,
): Promise<string> {
  const asOf = await requireWatermark(deps, wanted, options);
  if (since !== null) await requireSince(deps, { since, asOf });
  return asOf;
}

async function requireWatermark(
  deps: CutoffDeps,
  asOf: string | null,
  { signal, nodes = [] }: Pick<CutoffOptions, "signal" | "nodes">,
): Promise<string> {
  const result = await settleAsOf(deps.sql, {
    ignoredApplications: deps.config.exportIgnoreApplications,
    trackerSchema: deps.config.trackerSchema,
    nodes,
    ...(asOf === null ? {} : { asOf }),
    ...(signal ? { signal } : {}),
  });
  report(deps, result, asOf === null);
  if (result.ok) return result.asOf;
  if (result.reason === "future") {
    throw invalidInput([{ path: "as_of", message: "must not be in the future" }]);
  }
  const { hidden, open } = TEXTS.SERVICE_UNAVAILABLE.cutoff;
  throw new ApiError("SERVICE_UNAVAILABLE", {
    message: isBlind(result.blockers) ? hidden : open,
    retryAfter: RETRY_AFTER.build,
  });
}

/**
 * Returns true if the database hides sessions, so that waiting does not help. Prepared transactions have no session.
 */
function isBlind(blockers: readonly WatermarkBlocker[]): boolean {
  return blockers.some(({ pid, transactionStart }) => pid !== NO_SESSION && transactionStart === null);
}

/** Logs the sessions that hold back the watermark (docs/watermark.md). */
function report(deps: CutoffDeps, result: AsOfResult, isChosen: boolean): void {
  // By the database's clock alone: the difference to this machine's would look like a lag.
  const lagMs = result.ok && isChosen ? Date.parse(result.observedAt) - Date.parse(result.asOf) : 0;
  const isUnsettled = !result.ok && result.reason === "unsettled";
  if (!isUnsettled && lagMs < NOTEWORTHY_LAG_MS) return;
  const { blockers } = result;
  const fields = { event: "export.watermark_held_back", lagMs, blockers };
  if (isBlind(blockers)) {
    const hint = "grant pg_read_all_stats to the database role of the service";
    deps.log.warn({ ...fields, hint }, "sessions that the database hides hold back the cutoff of exports");
  } else {
    deps.log.warn(fields, "open transactions hold back the cutoff of exports");
  }
}

/**
 * Throws VALIDATION_ERROR if an increment from `since` to `asOf` cannot be exact, so that the caller has to take a full
 * export: with `details.reason: "since_too_old"`, or without if changes are not logged at all.
 */
async function requireSince(
  { sql, config }: CutoffDeps,
  { since, asOf }: { since: string; asOf: string },
): Promise<void> {
  if (config.trackerSchema !== OWN_TRACKER_SCHEMA) {
    const message = "is not available: this service does not log changes of its tracker. Take a full export";
    throw invalidInput([{ path: "since", message }]);
  }
  if (since > asOf) throw sinceError(`must not be later than the cutoff, ${asOf}`);
  if (!(await isChangeLogKept(sql, since))) {
    throw sinceError(
      "must be within the last 90 days, because older changes are deleted. Take a full export",
    );
  }
}

function sinceError(message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", {
    message: TEXTS.VALIDATION_ERROR.problem({ path: "since", message }),
    details: { reason: "since_too_old", errors: [{ path: "since", message }] },
  });
}
