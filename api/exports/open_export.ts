/** Opens an export: slot, settled watermark and snapshot. */
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { ReadableProjectRow } from "../../sql/accounts/projects.ts";
import type { ExportLanes } from "../../sql/connection/lanes.ts";
import { hasSqlState, type Pool } from "../../sql/connection/pool.ts";
import type { Replica } from "../../sql/connection/replica.ts";
import { type ExportSnapshot, openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { limitStatements } from "../../sql/exports/rows.ts";
import type { Caller } from "../http/caller.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import type { StreamRules, StreamWatch } from "../http/response/stream_cutoff.ts";
import type { ExportMetrics } from "./export_metrics.ts";
import { type ExportPolicy, requireExportProject } from "./export_project.ts";
import { type ExportSlots, requireExportSlot, takeExportSlot } from "./export_slots.ts";
import { mayContinue } from "./may_continue.ts";
import { explainMissingTracker } from "./missing_tracker.ts";
import { requireSince } from "./require_since.ts";
import { requireWatermark } from "./require_watermark.ts";
import { prepareTimeout } from "./too_large.ts";

/** SQLSTATE query_canceled, as after a statement timeout. */
const QUERY_CANCELED = "57014";

export interface ExportDeps {
  /** The pool of requests: chooses watermarks and cancels queries. */
  sql: Pool;
  /** The pool of streams: one connection per slot and lane. */
  exportSql: Pool;
  lanes: ExportLanes;
  /** Preferred for snapshots; null without a replica. */
  replica: Replica | null;
  slots: ExportSlots;
  /** When a stream is cut off. */
  streamRules: StreamRules;
  metrics: ExportMetrics;
  log: Log;
  config: Config;
}

export interface OpenExport {
  asOf: string;
  snapshot: ExportSnapshot;
  /** Second connections to the snapshot's server. */
  lanes: ExportLanes;
  /** Aborted when the client has disconnected or the stream is cut off; cancels the running query. */
  abort: AbortController;
  /** Watches the export's stream. */
  watch: StreamWatch;
  /** Returns true if a read failed because of the replica, so that the primary may succeed. */
  isReplicaFault(error: unknown): boolean;
  /** Releases the slot and the connection. A second call does nothing. */
  close(): Promise<void>;
}

export interface ExportRequest {
  request: Request;
  caller: Caller;
  project: ReadableProjectRow;
  /** The access check of the start, repeated while the export runs. */
  policy: ExportPolicy;
  /** Null for the newest settled instant. */
  asOf: string | null;
  /** Of an increment. */
  since: string | null;
  /** Only `file` streams. The others count rows without a stream slot; `head` checks that one is free. */
  kind: "file" | "head" | "estimate";
}

/** Returns the kind of a request to a file route. */
export function fileKind(request: Request): "file" | "head" {
  return requestContext(request).method === "HEAD" ? "head" : "file";
}

/**
 * Opens an export as of `asOf`, or of the newest settled instant for null, and calls `serve`, whose response closes it;
 * it is closed here if `serve` throws. If `serve` throws because the replica is gone, it is called once more with an
 * export of the primary. Throws RATE_LIMITED if the share of the caller or organization is used up, SERVICE_UNAVAILABLE
 * if no slot is free or the watermark does not settle, VALIDATION_ERROR if it is in the future, EXPORT_PREPARE_TIMEOUT
 * if counting takes too long.
 */
export async function withOpenExport<Answer>(
  deps: ExportDeps,
  given: ExportRequest,
  serve: (opened: OpenExport) => Promise<Answer>,
): Promise<Answer | Response> {
  const abort = new AbortController();
  try {
    return await openAndServe(deps, { ...given, abort }, serve);
  } catch (error) {
    if (!abort.signal.aborted) throw await explainMissingTracker(deps, error);
    announceStream(given.request)({ outcome: "aborted", bytes: 0 });
    return new Response(null);
  }
}

interface Opening extends ExportRequest {
  abort: AbortController;
}

async function openAndServe<Answer>(
  deps: ExportDeps,
  given: Opening,
  serve: (opened: OpenExport) => Promise<Answer>,
): Promise<Answer> {
  const opened = await openExport(deps, given);
  try {
    // Counting alone has a time limit; a file has none here.
    if (given.kind !== "file") {
      await opened.snapshot.run((tx) => limitStatements(tx, deps.config.exportPrepareTimeoutMs));
    }
    return await serve(opened);
  } catch (error) {
    await opened.close();
    if (given.abort.signal.aborted) throw error;
    if (hasSqlState(error, QUERY_CANCELED)) throw prepareTimeout(error);
    if (!opened.isReplicaFault(error)) throw error;
    return await openAndServe({ ...deps, replica: null }, { ...given, asOf: opened.asOf }, serve);
  }
}

async function openExport(deps: ExportDeps, given: Opening): Promise<OpenExport> {
  const { abort, caller, project } = given;
  const claim = { holder: caller.userId, group: project.orgId };
  if (given.kind === "head") requireExportSlot(deps.slots, "streams", claim);
  const permit = takeExportSlot(deps.slots, given.kind === "file" ? "streams" : "counts", claim);
  const forget = abortWhenLeft(given);
  try {
    const asOf = await requireWatermark(deps, given.asOf, abort.signal);
    if (given.since !== null) await requireSince(deps, { since: given.since, asOf });
    const fromReplica = await openReplicaSnapshot(deps.replica, abort.signal);
    const snapshot =
      fromReplica ?? (await openExportSnapshot(deps.exportSql, { control: deps.sql, signal: abort.signal }));
    deps.metrics.snapshots.inc({ database: fromReplica ? "replica" : "primary" });
    const isReplicaFault = (error: unknown): boolean =>
      fromReplica ? (deps.replica?.isToBlameFor(error) ?? false) : false;
    const close = async (): Promise<void> => {
      forget();
      await snapshot.close();
      permit.release();
    };
    const watch = { rules: deps.streamRules, permit, mayContinue: () => mayContinueExport(deps, given) };
    const lanes = fromReplica && deps.replica ? deps.replica.lanes : deps.lanes;
    return { asOf, snapshot, lanes, abort, watch, isReplicaFault, close };
  } catch (error) {
    forget();
    permit.release();
    throw error;
  }
}

/** Repeats the checks of the start: credential, membership, role and subscription. */
function mayContinueExport(deps: ExportDeps, given: ExportRequest): Promise<boolean> {
  const { caller, request, project, policy } = given;
  return mayContinue(deps, caller, () =>
    requireExportProject(deps.sql, { caller, request, project: project.id, policy }),
  );
}

/** Aborts when the client disconnects. Returns a function that unsubscribes. */
function abortWhenLeft({ request, abort }: Opening): () => void {
  const leave = (): void => abort.abort();
  if (request.signal.aborted) leave();
  request.signal.addEventListener("abort", leave);
  return () => request.signal.removeEventListener("abort", leave);
}

/** Opens a snapshot of everything committed before the call, and so of all rows up to a watermark settled before. */
async function openReplicaSnapshot(
  replica: Replica | null,
  signal: AbortSignal,
): Promise<ExportSnapshot | null> {
  const position = (await replica?.readPosition()) ?? null;
  return position === null || replica === null ? null : replica.openSnapshot(position, signal);
}
