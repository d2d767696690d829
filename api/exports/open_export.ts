/** Opens an export: slot, settled watermark and snapshot. */
import type { ReadableProjectRow } from "../../sql/accounts/projects.ts";
import type { ExportLanes } from "../../sql/connection/lanes.ts";
import { hasSqlState } from "../../sql/connection/pool.ts";
import type { Replica } from "../../sql/connection/replica.ts";
import { type ExportSnapshot, openExportSnapshot } from "../../sql/connection/snapshot.ts";
import { openOnNode } from "../../sql/exports/open_on_node.ts";
import { limitStatements } from "../../sql/exports/rows.ts";
import { WrongTimeError } from "../../sql/exports/wrong_time_error.ts";
import type { TrackerShards } from "../../sql/tracker/tracker_shards.ts";
import { OWN_TRACKER_SCHEMA } from "../../sql/tracker/tracker_tables.ts";
import type { OperationDeps } from "../deps.ts";
import type { Caller } from "../http/caller.ts";
import { announceStream, requestContext } from "../http/request_context.ts";
import type { StreamWatch } from "../http/response/stream_cutoff.ts";
import { type ExportPolicy, requireExportProject } from "./export_project.ts";
import { requireExportSlot, takeExportSlot } from "./export_slots.ts";
import { mayContinue } from "./may_continue.ts";
import { explainMissingTracker } from "./missing_tracker.ts";
import { requireSince } from "./require_since.ts";
import { requireWatermark } from "./require_watermark.ts";
import { prepareTimeout, wrongTime } from "./too_large.ts";

/** SQLSTATE query_canceled, as after a statement timeout. */
const QUERY_CANCELED = "57014";

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

export interface OpenExport extends ExportSource {
  /** Aborted when the client has disconnected or the stream is cut off; cancels the running query. */
  abort: AbortController;
  /** Watches the export's stream. */
  watch: StreamWatch;
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
  deps: OperationDeps,
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
  deps: OperationDeps,
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
    if (error instanceof WrongTimeError) throw wrongTime(error);
    if (!opened.isReplicaFault(error)) throw error;
    return await openAndServe({ ...deps, replica: null }, { ...given, asOf: opened.asOf }, serve);
  }
}

async function openExport(deps: OperationDeps, given: Opening): Promise<OpenExport> {
  const { abort, caller, project } = given;
  const claim = { holder: caller.userId, group: project.orgId };
  if (given.kind === "head") requireExportSlot(deps.exports.slots, "streams", claim);
  const permit = takeExportSlot(deps.exports.slots, given.kind === "file" ? "streams" : "counts", claim);
  const forget = abortWhenLeft(given);
  try {
    const source = (await openNodeSource(deps, given)) ?? (await openSource(deps, given));
    const close = async (): Promise<void> => {
      forget();
      await source.snapshot.close();
      permit.release();
    };
    const watch = {
      rules: deps.exports.streamRules,
      permit,
      mayContinue: () => mayContinueExport(deps, given),
    };
    return { ...source, abort, watch, close };
  } catch (error) {
    forget();
    permit.release();
    throw error;
  }
}

/** Settles the watermark, and opens a snapshot on the node that holds the project; null if no node does. */
async function openNodeSource(deps: OperationDeps, given: Opening): Promise<ExportSource | null> {
  const { sql, nodes, config } = deps;
  const { signal } = given.abort;
  if (config.trackerSchema !== OWN_TRACKER_SCHEMA) return null;
  let { asOf } = given;
  const opened = await openOnNode({ sql, nodes, projectId: given.project.id, signal }, async (node) => {
    asOf = await requireWatermark(deps, asOf, { signal, nodes: [node] });
    if (given.since !== null) await requireSince(deps, { since: given.since, asOf });
  });
  if (opened === null || asOf === null) return null;
  const { node, snapshot, shards } = opened;
  deps.exports.metrics.snapshots.inc({ database: "node", node: node.name });
  return { asOf, snapshot, shards, lanes: node.lanes, isReplicaFault: () => false };
}

/** Settles the watermark, and opens a snapshot on the replica while it keeps up, otherwise on the primary. */
async function openSource(deps: OperationDeps, given: Opening): Promise<ExportSource> {
  const { sql, exportSql, replica } = deps;
  const { signal } = given.abort;
  const asOf = await requireWatermark(deps, given.asOf, { signal });
  if (given.since !== null) await requireSince(deps, { since: given.since, asOf });
  const fromReplica = await openReplicaSnapshot(replica, signal);
  const snapshot = fromReplica ?? (await openExportSnapshot(exportSql, { control: sql, signal }));
  deps.exports.metrics.snapshots.inc({ database: fromReplica ? "replica" : "primary" });
  const lanes = fromReplica && replica ? replica.lanes : deps.exports.lanes;
  const isReplicaFault = (error: unknown): boolean =>
    fromReplica ? (replica?.isToBlameFor(error) ?? false) : false;
  return { asOf, snapshot, shards: null, lanes, isReplicaFault };
}

/** Repeats the checks of the start: credential, membership, role and subscription. */
function mayContinueExport(deps: OperationDeps, given: ExportRequest): Promise<boolean> {
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
