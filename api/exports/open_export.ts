/** Opens an export: project, access, parameters, slot, cutoff and snapshot. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type ExportSelection, NO_FILTERS } from "../../shared/exports/selection.ts";
import { type ExportFacts, maySeeOrg, type Verdict } from "../../shared/policy.ts";
import type { Log } from "../../shared/process/log.ts";
import { isUuid } from "../../shared/uuid.ts";
import { isCredentialLive } from "../../sql/accounts/sessions.ts";
import {
  findVisibleProject,
  findVisibleProjectByName,
  type VisibleProjectRow,
} from "../../sql/accounts/visible_project.ts";
import { hasSqlState, QUERY_CANCELED, type Sql } from "../../sql/connection/pool.ts";
import {
  type ExportLanes,
  type ExportSnapshot,
  limitStatements,
  openExportSnapshot,
} from "../../sql/connection/snapshot.ts";
import { openOnNode, requireOneMachine } from "../../sql/exports/open_on_node.ts";
import { WrongTimeError } from "../../sql/exports/rows.ts";
import { isTrackerReadable } from "../../sql/tracker/tracker_differences.ts";
import type { TrackerShards } from "../../sql/tracker/tracker_shards.ts";
import { OWN_TRACKER_SCHEMA } from "../../sql/tracker/tracker_tables.ts";
import type { Caller } from "../http/caller.ts";
import { unavailable } from "../http/error_handler.ts";
import type { OperationDeps } from "../http/operation.ts";
import { boundOrgOf, resolveOrg } from "../http/organization.ts";
import { announceStream } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { requireVisible } from "../http/require_visible.ts";
import type { StreamWatch } from "../http/response/watch_stream.ts";
import { settleCutoff } from "./cutoff.ts";
import { requireExportSlot, takeExportSlot } from "./export_slots.ts";

/** SQLSTATEs insufficient_privilege, undefined_table and invalid_schema_name. */
const UNREADABLE = ["42501", "42P01", "3F000"];
/** Where too large an export is possible. */
export const ASYNC_ENDPOINT = "/api/v1/export/jobs";

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

/** The parameters that every export has. */
type CommonParameters = Pick<ExportSelection, "visibility"> & {
  /** Null for the newest settled instant. */
  asOf: string | null;
  /** Start of an increment; null for a full export. */
  since: string | null;
};

export interface OpenExport<Parameters = CommonParameters> extends ExportSource {
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
export async function withOpenExport<Parameters extends CommonParameters, Answer>(
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

type AnyOpening = Opening<CommonParameters>;

async function openAndServe<Parameters extends CommonParameters, Answer>(
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
    if (error instanceof WrongTimeError) throw wrongTime(error);
    if (!opened.isReplicaFault(error)) throw error;
    return await openAndServe({ ...deps, replica: null }, { ...opening, asOf: opened.asOf }, serve);
  }
}

async function openExport<Parameters extends CommonParameters>(
  deps: OperationDeps,
  opening: Opening<Parameters>,
): Promise<OpenExport<Parameters>> {
  const { abort, caller, project, parameters } = opening;
  const { slots, streamRules: rules } = deps.exports;
  const claim = { holder: caller.userId, group: project.orgId };
  if (opening.kind === "head") requireExportSlot(slots, "streams", claim);
  const permit = takeExportSlot(slots, opening.kind === "file" ? "streams" : "counts", claim);
  const forget = abortWhenLeft(opening);
  try {
    const source = (await openNodeSource(deps, opening)) ?? (await openSource(deps, opening));
    const close = async (): Promise<void> => {
      forget();
      await source.snapshot.close();
      permit.release();
    };
    const watch = { rules, permit, mayContinue: () => mayContinueExport(deps, opening) };
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

/** Repeats the checks of the start: credential, membership, role and subscription. */
function mayContinueExport(deps: OperationDeps, opening: AnyOpening): Promise<boolean> {
  const { caller, request, project, policy } = opening;
  return mayContinue(deps, caller, () =>
    requireExportProject(deps.sql, { caller, request, project: project.id, policy }),
  );
}

/** Aborts when the client disconnects. Returns a function that unsubscribes. */
function abortWhenLeft({ request, abort }: AnyOpening): () => void {
  const leave = (): void => abort.abort();
  if (request.signal.aborted) leave();
  request.signal.addEventListener("abort", leave);
  return () => request.signal.removeEventListener("abort", leave);
}

/** UNPROCESSABLE_ENTITY: a row has a time that no format can write. */
function wrongTime(error: WrongTimeError): ApiError {
  return new ApiError("UNPROCESSABLE_ENTITY", {
    message: `${error.message}.`,
    details: { reason: "time", ...error.row },
    cause: error,
  });
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

const MAX_PROJECT_NAME_LENGTH = 200;

/** Decides whether a caller may export. */
export type ExportPolicy = (facts: ExportFacts) => Verdict;

/**
 * Finds a project by id in the caller's organizations, or by slug or name in the organization of the request. Throws
 * PROJECT_NOT_FOUND, also for a project that the caller may not see, and the errors of `resolveOrg` and `policy`.
 */
async function requireExportProject(
  sql: Sql,
  access: { caller: Caller; request: Request; project: string; policy: ExportPolicy },
): Promise<VisibleProjectRow> {
  const project = await findProject(sql, access);
  const { credential } = access.caller;
  requireAllowed(maySeeOrg(credential, { ...project, slug: project.orgSlug }));
  const verdict = access.policy({
    credential,
    role: project.role,
    tier: project.subscriptionTier,
  });
  if (!verdict.ok) throw new ApiError(verdict.code, verdict.details ? { details: verdict.details } : {});
  return project;
}

async function findProject(
  sql: Sql,
  access: { caller: Caller; request: Request; project: string },
): Promise<VisibleProjectRow> {
  const { caller, request, project: name } = access;
  const { userId } = caller;
  if (isUuid(name)) {
    const project = await findVisibleProject(sql, { id: name, userId, orgId: boundOrgOf(caller) });
    const found = requireVisible(project, () => notFound(TEXTS.PROJECT_NOT_FOUND.id(name)));
    // The id needs no organization, but a header that names none of the caller's is refused as everywhere.
    if (request.headers.has("x-org-slug")) await resolveOrg(sql, caller, request);
    return found;
  }
  const { orgId, slug } = await resolveOrg(sql, caller, request);
  if (name.length > MAX_PROJECT_NAME_LENGTH || name.includes("\0")) {
    throw notFound(TEXTS.PROJECT_NOT_FOUND.search({ project: null, slug }));
  }
  const project = await findVisibleProjectByName(sql, { name, userId, orgId });
  return requireVisible(project, () => notFound(TEXTS.PROJECT_NOT_FOUND.search({ project: name, slug })));
}

function notFound(message: string): ApiError {
  return new ApiError("PROJECT_NOT_FOUND", { message });
}

/**
 * Checks the credential, then calls `requireAccess`, which throws ApiError if access has ended. A database error ends
 * nothing, because the next check comes soon. Never throws.
 */
export async function mayContinue(
  { sql, log }: { sql: Sql; log: Log },
  caller: Caller,
  requireAccess: () => Promise<unknown>,
): Promise<boolean> {
  try {
    if (!(await isCredentialLive(sql, caller.credential))) return false;
    await requireAccess();
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    log.warn(
      { event: "export.access_unknown", err: error },
      "cannot check whether the caller of an export still has access",
    );
    return true;
  }
}
