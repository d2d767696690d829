/** What every export holds while it runs: a slot, a settled watermark, a snapshot to read from. */
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

/** SQLSTATE query_canceled: what a statement timeout ends in. */
const QUERY_CANCELED = "57014";

export interface ExportDeps {
  /** Requests: the watermark is chosen here, and queries are cancelled from here. */
  sql: Pool;
  /** Streams: as many connections as there are slots and lanes. */
  exportSql: Pool;
  lanes: ExportLanes;
  /** Where snapshots are opened when it can give them; `null` when there is none. */
  replica: Replica | null;
  slots: ExportSlots;
  /** When a stream is ended although its client is still there. */
  streamRules: StreamRules;
  metrics: ExportMetrics;
  log: Log;
  config: Config;
}

export interface OpenExport {
  asOf: string;
  snapshot: ExportSnapshot;
  /** Second connections to the server that the snapshot is of. */
  lanes: ExportLanes;
  /** Aborted when the client has left, or the stream was cut: what runs is cancelled. */
  abort: AbortController;
  /** What ends the stream of it. */
  watch: StreamWatch;
  /** Whether a read failed for what it was read from, so that the primary may do better. */
  isReplicaFault(error: unknown): boolean;
  /** Frees the slot and the connection. A second call does nothing. */
  close(): Promise<void>;
}

export interface ExportRequest {
  request: Request;
  caller: Caller;
  project: ReadableProjectRow;
  /** What the caller was allowed by. */
  policy: ExportPolicy;
  /** `null`: the newest settled instant. */
  asOf: string | null;
  /** Of an increment. */
  since: string | null;
  /** Only `file` streams. The others count rows and take no slot of a stream; `head` says whether there is one. */
  kind: "file" | "head" | "estimate";
}

/** Of a route that sends a file: to HEAD it sends none. */
export function fileKind(request: Request): "file" | "head" {
  return requestContext(request).method === "HEAD" ? "head" : "file";
}

/**
 * Opens an export as of `asOf`, or as of the newest settled instant for `null`, and hands it to `serve`, which closes
 * it or lets its response's stream do so; it is closed here when `serve` throws. When it throws because a replica is
 * gone, it is called once more, with an export of the primary. Throws RATE_LIMITED when the caller's or the organization's
 * share of the slots is used up, SERVICE_UNAVAILABLE when no slot is free or the watermark does not settle,
 * VALIDATION_ERROR when it is in the future, EXPORT_PREPARE_TIMEOUT when counting takes too long. A client that leaves before there is a response gets one that nobody reads.
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
    // What only counts is bounded; a file may be counted and sent for as long as that takes.
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

/** Checks again what was checked at the start: credential, membership, role and subscription. */
function mayContinueExport(deps: ExportDeps, given: ExportRequest): Promise<boolean> {
  const { caller, request, project, policy } = given;
  return mayContinue(deps, caller, () =>
    requireExportProject(deps.sql, { caller, request, project: project.id, policy }),
  );
}

/** Aborts when the client leaves, until the function that it returns is called. */
function abortWhenLeft({ request, abort }: Opening): () => void {
  const leave = (): void => abort.abort();
  if (request.signal.aborted) leave();
  request.signal.addEventListener("abort", leave);
  return () => request.signal.removeEventListener("abort", leave);
}

/** Shows everything that was committed before the call, so all rows up to a watermark that was settled before it. */
async function openReplicaSnapshot(
  replica: Replica | null,
  signal: AbortSignal,
): Promise<ExportSnapshot | null> {
  const position = (await replica?.readPosition()) ?? null;
  return position === null || replica === null ? null : replica.openSnapshot(position, signal);
}
