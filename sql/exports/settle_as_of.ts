/**
 * Settles the cutoff of an export: chooses the default of `as_of`, or checks the time that the caller requested. No open
 * transaction can still add a row at or before a settled cutoff. The newest settled cutoff is the watermark.
 *
 * The time of a row is the start of its transaction (`now()`, rounded to milliseconds). The cutoff must therefore precede the
 * start of every open and every future transaction. pg_stat_activity shows the start of a transaction with a delay: a session
 * first reads the clock, then reports the transaction, and the scheduler may interrupt it in between. A session is therefore
 * trusted only after it was seen waiting for its client at a time after the cutoff. Every later transaction of that session
 * starts after the cutoff. A fixed sleep would be simpler, but wrong on a busy machine.
 */
import { RETRY_AFTER } from "../../shared/error_details.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { addMilliseconds } from "../../shared/instant.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import { OWN_APPLICATION_NAMES } from "../connection/application_names.ts";
import type { Node } from "../connection/nodes.ts";
import type { Sql } from "../connection/pool.ts";
import { OWN_TRACKER_SCHEMA, trackerRelations, trackerTables } from "../tracker/tracker_tables.ts";
import { type AbandonedCitusWrite, listAbandonedCitusWrites } from "./abandoned_citus_writes.ts";
import { listHarmlessSessions } from "./harmless_sessions.ts";
import { isChangeLogKept, SINCE_DAYS } from "./tracker_changes.ts";

/** How long to wait for short transactions if `as_of` is omitted, so that the cutoff is as recent as possible. */
const FRESHNESS_WAIT_MS = 100;
/** Maximum time that a request waits for its cutoff to settle. */
const SETTLE_TIMEOUT_MS = 5000;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;

/** A larger lag of the cutoff is logged, because a transaction was probably left open. */
const NOTEWORTHY_LAG_MS = 5000;

/** Stands for the missing pid of prepared transactions, which have no session. */
const NO_SESSION = 0;

/** An open transaction or an abandoned write that holds back the watermark, as it is logged. */
interface WatermarkBlocker {
  pid: number;
  applicationName: string;
  /** Start of the transaction. Null if the start is hidden or unknown. No cutoff settles in that case. */
  transactionStart: string | null;
  /** True if the database hides the session from the service. */
  isHidden: boolean;
}

/** `observedAt` is the database's time at the first observation. */
export type AsOfResult =
  | { ok: true; asOf: string; observedAt: string; blockers: WatermarkBlocker[] }
  | { ok: false; reason: "future" | "unsettled"; blockers: WatermarkBlocker[] };

export interface SettleOptions {
  /** ISO 8601 with milliseconds, as `parseInstant` returns it. */
  asOf?: string;
  timeoutMs?: number;
  /** Application names whose sessions are ignored, because the operator guarantees that they write no tracker rows. */
  ignoredApplications?: readonly string[];
  /** Schema of the tracker tables or views. */
  trackerSchema?: string;
  /** The database nodes that the export reads from, if the tracker tables are distributed. */
  nodes?: readonly Node[];
  /** Aborted when the result is no longer needed. */
  signal?: AbortSignal;
}

interface CutoffDeps {
  sql: Sql;
  log: Log;
  config: Pick<Config, "exportIgnoreApplications" | "trackerSchema">;
}

interface CutoffOptions {
  /** Null for the newest settled watermark. */
  asOf: string | null;
  /** Start of an increment; null for a full export. */
  since: string | null;
  signal?: AbortSignal;
  nodes: readonly Node[];
}

/**
 * Settles `asOf`, or chooses the newest settled watermark if it is null. Throws VALIDATION_ERROR if `asOf` is in the future
 * or an increment from `since` cannot be exact. Throws SERVICE_UNAVAILABLE if the cutoff does not settle. Call it outside a
 * transaction.
 */
export async function settleCutoff(
  deps: CutoffDeps,
  { asOf, since, signal, nodes }: CutoffOptions,
): Promise<string> {
  const result = await settleAsOf(deps.sql, {
    ignoredApplications: deps.config.exportIgnoreApplications,
    trackerSchema: deps.config.trackerSchema,
    nodes,
    ...(asOf === null ? {} : { asOf }),
    ...(signal ? { signal } : {}),
  });
  report(deps, result, asOf === null);
  if (result.ok) {
    if (since !== null) await requireSince(deps, { since, asOf: result.asOf });
    return result.asOf;
  }
  if (result.reason === "future") throw invalidParameter("as_of", "must not be in the future");
  const { hidden, open } = TEXTS.SERVICE_UNAVAILABLE.cutoff;
  throw new ApiError("SERVICE_UNAVAILABLE", {
    message: isBlind(result.blockers) ? hidden : open,
    retryAfter: RETRY_AFTER.build,
  });
}

/** Returns whether the database hides blocking sessions, in which case waiting does not help. */
function isBlind(blockers: readonly WatermarkBlocker[]): boolean {
  return blockers.some(({ isHidden }) => isHidden);
}

/** Logs the blockers of the watermark (docs/watermark.md). */
function report(deps: CutoffDeps, result: AsOfResult, isChosen: boolean): void {
  // Uses only the database's clock, because a difference from this machine's clock would look like a lag.
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
 * Throws VALIDATION_ERROR if an increment from `since` to `asOf` cannot be exact. The error has `details.reason:
 * "since_too_old"`, except if changes are not logged at all.
 */
async function requireSince(
  { sql, config }: CutoffDeps,
  { since, asOf }: { since: string; asOf: string },
): Promise<void> {
  if (config.trackerSchema !== OWN_TRACKER_SCHEMA) {
    const message = "is not available: this service does not log changes of its tracker. Take a full export";
    throw invalidParameter("since", message);
  }
  const reason = "since_too_old";
  if (since > asOf) throw invalidParameter("since", `must not be later than the cutoff, ${asOf}`, reason);
  if (!(await isChangeLogKept(sql, since))) {
    const message = `must be within the last ${SINCE_DAYS} days, because older changes are deleted. Take a full export`;
    throw invalidParameter("since", message, reason);
  }
}

function invalidParameter(path: "as_of" | "since", message: string, reason?: string): ApiError {
  return new ApiError("VALIDATION_ERROR", {
    message: TEXTS.VALIDATION_ERROR.problem({ path, message }),
    details: { ...(reason === undefined ? {} : { reason }), errors: [{ path, message }] },
  });
}

interface SessionRow {
  pid: number;
  /** The role that the session logged in as; null for prepared transactions. */
  roleId: number | null;
  backendStart: string;
  applicationName: string;
  /** Start of the open transaction, truncated to milliseconds. */
  xactStart: string | null;
  /** Whether the session waits for its client, in a transaction or not. */
  isWaiting: boolean;
  /** Whether the session belongs to a client. Background workers never wait for a client. */
  isClient: boolean;
  /** Whether the session's activity is hidden from the service, or not reported. */
  isHidden: boolean;
}

/** Result of all observations so far, for one watermark. */
interface Findings {
  /** Sessions and writes that are, or may be, in a transaction that started at or before the watermark. */
  blockers: WatermarkBlocker[];
  /** Whether all other sessions are known to be clear (`isClear`). */
  isKnown: boolean;
}

/** The databases whose sessions are observed, and the sessions to ignore. */
interface Scope {
  sql: Sql;
  ignoredApplications: readonly string[];
  /** Qualified names of the tracker tables. */
  tables: readonly string[];
  nodes: readonly Node[];
}

/**
 * Settles `asOf`, or chooses the newest settled watermark if it is undefined. Everything committed before the call is at or
 * before that watermark, unless an open transaction holds it back. Call it outside a transaction, and take the snapshot
 * afterwards. Throws NodeUnavailable if a node cannot be reached.
 */
export async function settleAsOf(sql: Sql, options: SettleOptions = {}): Promise<AsOfResult> {
  const { asOf, timeoutMs = SETTLE_TIMEOUT_MS, signal } = options;
  const { ignoredApplications = [], trackerSchema = OWN_TRACKER_SCHEMA, nodes = [] } = options;
  const scope = { sql, ignoredApplications, tables: trackerTables(trackerSchema), nodes };
  const { observedAt } = await observe(scope);
  if (asOf !== undefined && asOf > observedAt) return { ok: false, reason: "future", blockers: [] };
  // Rounding to milliseconds can put a row that was just committed half a millisecond ahead of the clock.
  const watermark = asOf ?? addMilliseconds(observedAt, 1);
  const trusted = new Set<string>();
  const begun = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const { blockers, isKnown } = await examine(scope, { watermark, trusted });
    const waitedMs = performance.now() - begun;
    signal?.throwIfAborted();
    const starts = blockers.flatMap(({ transactionStart }) => transactionStart ?? []);
    const isDated = isKnown && starts.length === blockers.length;
    const [oldest] = starts.sort();
    if (isKnown && blockers.length === 0) return { ok: true, asOf: watermark, observedAt, blockers };
    // Without `asOf`, the cutoff is just before the oldest transaction that is still open after the wait.
    if (isDated && oldest && asOf === undefined && waitedMs > FRESHNESS_WAIT_MS) {
      return { ok: true, asOf: addMilliseconds(oldest, -1), observedAt, blockers };
    }
    if (waitedMs > timeoutMs) return { ok: false, reason: "unsettled", blockers };
    await Bun.sleep(pauseMs);
  }
}

/**
 * Returns the age in seconds of the oldest open transaction that holds back the cutoff of exports; 0 if no transaction does.
 * Null if the database hides a session that may hold it back.
 */
export async function measureWatermarkHold(
  sql: Sql,
  { exportIgnoreApplications: ignoredApplications, trackerSchema }: CutoffDeps["config"],
): Promise<number | null> {
  const scope = { sql, ignoredApplications, tables: trackerTables(trackerSchema), nodes: [] };
  const { observedAt, sessions } = await observe(scope);
  const open = sessions.filter(({ xactStart, isHidden }) => xactStart !== null || isHidden);
  const blockers = await excludeHarmless(scope, open);
  // Prepared transactions count as hidden, because it is unknown which of them wrote. Their `xactStart` is the oldest PREPARE.
  if (blockers.some(({ pid, isHidden }) => isHidden && pid !== NO_SESSION)) return null;
  const starts = blockers.flatMap(({ xactStart }) => (xactStart === null ? [] : Date.parse(xactStart)));
  return starts.length === 0 ? 0 : Math.max(0, Date.parse(observedAt) - Math.min(...starts)) / 1000;
}

/** Observes the sessions again and finds the blockers of the watermark. Adds waiting sessions to `trusted`. */
async function examine(
  scope: Scope,
  { watermark, trusted }: { watermark: string; trusted: Set<string> },
): Promise<Findings> {
  const { observedAt, sessions } = await observe(scope);
  // Nothing is known before the watermark has passed, or after the clock was set back.
  if (observedAt <= watermark) return { blockers: [], isKnown: false };
  const blocking: SessionRow[] = [];
  let isKnown = true;
  for (const session of sessions) {
    const key = `${session.pid} ${session.backendStart}`;
    if (isBlocker(session, watermark)) blocking.push(session);
    else if (!isClear(session, watermark, trusted.has(key))) isKnown = false;
    // Takes effect at the next observation, because this observation read the transaction before the wait state.
    if (session.isWaiting) trusted.add(key);
  }
  // Read after the sessions, because by then all writes left behind by an ended session are visible.
  const abandoned = await listAbandonedCitusWrites(scope.sql, scope.nodes);
  const harmful = await excludeHarmless(scope, blocking);
  return { blockers: [...harmful.map(describeBlocker), ...abandoned.map(describeWrite)], isKnown };
}

function describeBlocker({ pid, applicationName, isHidden, xactStart }: SessionRow): WatermarkBlocker {
  // Prepared transactions count as hidden, because it is unknown which of them wrote.
  return {
    pid,
    applicationName,
    transactionStart: isHidden ? null : xactStart,
    isHidden: isHidden && pid !== NO_SESSION,
  };
}

/** Describes a write without the start of its transaction. PostgreSQL knows only the later time of PREPARE. */
function describeWrite({ pid, what }: AbandonedCitusWrite): WatermarkBlocker {
  return { pid: pid ?? NO_SESSION, applicationName: what, transactionStart: null, isHidden: false };
}

/** Removes blockers that cannot write tracker rows. Usually there are no blockers, so no query is needed. */
async function excludeHarmless({ sql, tables }: Scope, blockers: SessionRow[]): Promise<SessionRow[]> {
  const sessions = blockers.flatMap(({ pid, roleId }) => (roleId === null ? [] : [{ pid, roleId }]));
  if (sessions.length === 0) return blockers;
  const harmless = await listHarmlessSessions(sql, { sessions, tables });
  return blockers.filter(({ pid }) => !harmless.has(pid));
}

/** Returns whether the session may be in a transaction that started at or before the watermark. */
function isBlocker(session: SessionRow, watermark: string): boolean {
  return session.isHidden || (session.xactStart !== null && session.xactStart <= watermark);
}

/** Returns whether every later transaction of the session starts after the watermark. */
function isClear(session: SessionRow, watermark: string, wasWaiting: boolean): boolean {
  if (session.xactStart !== null) return true;
  return wasWaiting || !session.isClient || session.backendStart > watermark;
}

/**
 * Returns every other session that could write to this database. PostgreSQL's own workers are excluded, because they write no
 * rows. Citus's maintenance daemon is excluded too, because its transaction stays open while a node does not respond. A write
 * that the daemon commits was prepared on its node before, so `listAbandonedCitusWrites` finds it. A prepared transaction
 * with tracker rows has no session and no known start. Nothing settles while one exists. `observedAt` is the time before the
 * observation, truncated to milliseconds.
 */
async function observe({ sql, ignoredApplications, tables }: Scope) {
  const rows = await sql<({ observedAt: string } & (SessionRow | { pid: null }))[]>`
    with recursive ${trackerRelations(sql, tables)}
    select t.observed_at, s.*
    from (select statement_timestamp() as observed_at) as t
    left join lateral (
      select
        a.pid,
        a.usesysid as role_id,
        a.backend_start,
        a.application_name,
        a.xact_start,
        coalesce(a.wait_event = 'ClientRead', false) as is_waiting,
        coalesce(a.backend_type = 'client backend', true) as is_client,
        a.query = '<insufficient privilege>' or coalesce(a.state = 'disabled', false) as is_hidden
      from pg_stat_get_activity(null) as a
      where a.datid = (select oid from pg_database where datname = current_database())
        and a.pid <> pg_backend_pid()
        -- null for PostgreSQL's own workers, such as autovacuum, even if they are hidden
        and a.usesysid is not null
        -- null for a hidden session, which must not be excluded
        and coalesce(a.backend_type not in ('autovacuum worker', 'parallel worker', 'walsender'), true)
        and coalesce(a.backend_type not like 'Citus Maintenance Daemon%', true)
        and a.application_name <> all (${[...OWN_APPLICATION_NAMES, ...ignoredApplications]})
      union all
      -- Locks of prepared transactions have no pid, so it is unknown which of them wrote.
      select ${NO_SESSION}::int, null::oid, min(x.prepared), 'prepared transactions ' || string_agg(x.gid, ', '), min(x.prepared), false, false, true
      from pg_prepared_xacts as x
      where x.database = current_database()
        and exists (
          select from pg_locks as l
          where l.pid is null
            and l.mode = 'RowExclusiveLock'
            and l.database = (select oid from pg_database where datname = current_database())
            and l.relation in (select oid from tracker)
        )
      having count(*) > 0
    ) as s on true`;
  const [first] = rows;
  if (!first) throw new Error("Cannot observe the sessions: the database returned no row");
  return { observedAt: first.observedAt, sessions: rows.filter((row) => row.pid !== null) };
}
