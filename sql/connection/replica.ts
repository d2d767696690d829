/**
 * An optional streaming replica for reads. While the replica is unavailable or behind, callers get null and read from the primary.
 */
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import { warnIfClearText } from "./direct_connection.ts";
import { hasSqlState, isConnectionError, onlyRow, openPool, type Pool, type Sql } from "./pool.ts";
import { ExportLanes, type ExportSnapshot, openExportSnapshot } from "./snapshot.ts";

/** Maximum time that a snapshot waits for a replica that is behind. A healthy replica needs a millisecond or two. */
const CATCH_UP_MS = 1000;
/** Timeout for opening a snapshot, including the wait for the replica. */
const TIMEOUT_MS = 2000;
/** Time during which the replica is not used after a failure. The next `readPosition()` then retries it in the background. */
const REST_MS = 5000;
/** Maximum number of connections for cancellations, retries and the catalog. */
const CONTROL_MAX = 4;
/** SQLSTATEs of queries that the replica canceled to continue its replay: serialization failure and deadlock. */
const RECOVERY_CONFLICTS = ["40001", "40P01"];

interface ReplicaOptions {
  primary: Pool;
  applicationName: string;
  /** Maximum number of connections for snapshots. */
  max: number;
  /** How many of these connections may be second connections of an export; none if omitted. */
  lanesMax?: number;
  log: Log;
}

export class Replica {
  /** Second connections for the replica's snapshots. */
  readonly lanes: ExportLanes;
  readonly #primary: Pool;
  readonly #streams: Pool;
  readonly #control: Pool;
  readonly #log: Log;
  /** The earliest time of the next retry, by `performance.now()`; null while the replica is used. */
  #restsUntil: number | null = null;
  #isClosed = false;

  /** Opens the pools, which connect on first use. */
  constructor(url: string, { primary, applicationName, max, lanesMax = 0, log }: ReplicaOptions) {
    const options = { applicationName, readOnly: true };
    this.#primary = primary;
    this.#streams = openPool(url, { ...options, max });
    this.#control = openPool(url, { ...options, max: CONTROL_MAX });
    this.#log = log;
    this.lanes = new ExportLanes({ pool: this.#streams, control: this.#control, max: lanesMax, log });
  }

  /**
   * Warns if the replica is on another machine and its connections are not encrypted. Checks nothing while the replica is
   * unavailable.
   */
  async warnIfClearText(): Promise<void> {
    const warn = (message: string) => this.#log.warn({ event: "database.clear_text" }, message);
    await warnIfClearText(this.#control, warn).catch(() => {});
  }

  /** Returns false after a failure of the replica, until a retry succeeds. */
  isUsed(): boolean {
    return this.#restsUntil === null;
  }

  /**
   * Checks whether the replica can be used, as an export would, and returns `isUsed()`. Metrics call this method, because an idle
   * process does not notice when the replica fails or recovers.
   */
  async check(): Promise<boolean> {
    // An error here comes from the primary, and other code logs it.
    await this.catchUp(CATCH_UP_MS).catch(() => {});
    return this.isUsed();
  }

  /**
   * Returns the primary's WAL position, for snapshots that must show everything committed before the call. Returns null while the
   * replica is not used, or if the position cannot be read. Throws if the primary cannot be reached.
   */
  async readPosition(): Promise<WalPosition | null> {
    if (this.#restsUntil === null) return this.#readPosition();
    if (performance.now() > this.#restsUntil) {
      this.#restsUntil = performance.now() + REST_MS;
      // Errors are not logged here. The replica's failure is already logged, and other code logs failures of the primary.
      void this.#tryAgain().catch(() => {});
    }
    return null;
  }

  /**
   * Opens a snapshot that shows everything before a WAL position; null if the replica fails or does not reach the position in time.
   * Throws if `signal` is aborted.
   */
  async openSnapshot(position: WalPosition, signal: AbortSignal): Promise<ExportSnapshot | null> {
    if (!this.isUsed()) return null;
    const opening = openExportSnapshot(this.#streams, {
      control: this.#control,
      signal,
      before: (tx) => waitForReplay(tx, position, { timeoutMs: CATCH_UP_MS, signal }),
    });
    try {
      const snapshot = await withTimeout(opening, TIMEOUT_MS);
      // If the snapshot is lost, stops using the replica, so that the next callers do not wait for it.
      snapshot.onLost((error) => this.isToBlameFor(error));
      return snapshot;
    } catch (error) {
      // The snapshot may still open. Close it then, but do not wait for that, because the server may not respond.
      void opening.then((late) => late.close()).catch(() => {});
      signal.throwIfAborted();
      return this.#rest(error);
    }
  }

  /**
   * Returns the replica's pool once the replica shows everything committed before the call. Returns null at once if the replica
   * cannot be used, after the timeout if it is still behind, and after twice the timeout if it does not respond.
   */
  async catchUp(timeoutMs: number): Promise<Pool | null> {
    const position = await this.readPosition();
    if (position === null) return null;
    try {
      await withTimeout(waitForReplay(this.#control, position, { timeoutMs }), 2 * timeoutMs);
      return this.#control;
    } catch (error) {
      return this.#rest(error);
    }
  }

  /** Returns true if a read failed because of the replica, not the query. After a connection error, stops using the replica. */
  isToBlameFor(error: unknown): boolean {
    if (hasSqlState(error, ...RECOVERY_CONFLICTS)) return true;
    if (!isConnectionError(error)) return false;
    if (!this.#isClosed) this.#rest(error);
    return true;
  }

  /** Returns the replica's lag in seconds; null if the lag is unknown. Throws if a server does not respond. */
  measureLag(): Promise<number | null> {
    return withTimeout(measureLag(this.#primary, this.#control), TIMEOUT_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#streams.end({ timeout: 1 }), this.#control.end({ timeout: 1 })]);
  }

  async #readPosition(): Promise<WalPosition | null> {
    try {
      return await readPrimaryPosition(this.#primary);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      return this.#rest(error, "replica.no_position");
    }
  }

  async #tryAgain(): Promise<void> {
    const position = await readPrimaryPosition(this.#primary);
    await waitForReplay(this.#control, position, { timeoutMs: CATCH_UP_MS });
    if (this.#restsUntil !== null)
      this.#log.info({ event: "replica.back" }, "reading from the replica again");
    this.#restsUntil = null;
  }

  /** Stops using the replica until a retry succeeds. Logs only the first failure. */
  #rest(error: unknown, event = error instanceof UnusableReplica ? "replica.behind" : "replica.away"): null {
    if (this.isUsed()) this.#log.warn({ event, err: error }, "the replica is not used for now");
    this.#restsUntil = performance.now() + REST_MS;
    return null;
  }
}

/**
 * Returns the replica's lag in seconds: 0 if it has replayed all WAL that the primary has flushed, otherwise the age of the last
 * replayed commit. Null if the replica is behind and has replayed no commit since it started.
 */
async function measureLag(primary: Pool, replica: Pool): Promise<number | null> {
  const [flushed] = await primary<[{ now: string; lsn: string }]>`
    select clock_timestamp() as now, pg_current_wal_flush_lsn()::text as lsn`;
  const [replayed] = await replica<[{ seconds: number | null }]>`
    select
      case
        when pg_last_wal_replay_lsn() >= ${flushed.lsn}::pg_lsn then 0
        else extract(epoch from ${flushed.now}::timestamptz - pg_last_xact_replay_timestamp())
      end::float8 as seconds`;
  return replayed.seconds;
}

const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;

export interface WalPosition {
  /** The LSN as PostgreSQL prints it, such as `16/B374D848`. */
  lsn: string;
  timeline: number;
  /** The id of the cluster, which its replicas share. */
  systemIdentifier: string;
  databaseOid: number;
}

/** The replica responds but must not be used. The message gives the reason. */
class UnusableReplica extends Error {}

/**
 * Returns a WAL position of the primary that is after everything committed before the call. Throws if the server is not a primary.
 * The position is the insert position, because a commit can be visible before it is flushed. The WAL is flushed up to this position
 * first, because replicas receive only flushed WAL (docs/replica.md).
 */
export async function readPrimaryPosition(sql: Sql): Promise<WalPosition> {
  const [position] = await sql<[WalPosition]>`
    select
      case
        when pg_current_wal_flush_lsn() = pg_current_wal_insert_lsn() then pg_current_wal_flush_lsn()
        else pg_logical_emit_message(true, 'ulr', ''::text)
      end::text as lsn,
      ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int as timeline,
      (select system_identifier::text from pg_control_system()) as system_identifier,
      (select oid from pg_database where datname = current_database()) as database_oid
    -- The commit flushes the message but does not wait for a synchronous standby, which may be down.
    from set_config('synchronous_commit', 'local', true)`;
  return position;
}

/**
 * Waits until the server behind `sql` has replayed a WAL position. Throws `UnusableReplica` if the replay takes too long, or if the
 * server is not a replica of the position's primary.
 */
export async function waitForReplay(
  sql: Sql,
  position: WalPosition,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<void> {
  const begun = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const { isReplayed, problem } = await compareReplica(sql, position);
    if (problem !== null) throw new UnusableReplica(problem);
    if (isReplayed) return;
    if (performance.now() - begun > timeoutMs) {
      throw new UnusableReplica(`the replica has not replayed ${position.lsn} within ${timeoutMs} ms`);
    }
    await Bun.sleep(pauseMs);
    signal?.throwIfAborted();
  }
}

/**
 * Compares the replay position of a replica with a position of the primary. Reads the replay position before the timeline, because
 * a replica only moves to later timelines. `problem` is the reason why the positions cannot be compared; null if they can.
 */
function compareReplica(sql: Sql, position: WalPosition) {
  return onlyRow(sql<[{ isReplayed: boolean; problem: string | null }]>`
    select
      coalesce(pg_last_wal_replay_lsn() >= ${position.lsn}::pg_lsn, false) as is_replayed,
      case
        when not pg_is_in_recovery()
          then 'DATABASE_REPLICA_URL leads to a server that is not a replica, or was promoted'
        when (select system_identifier::text from pg_control_system()) <> ${position.systemIdentifier}
          or (select oid from pg_database where datname = current_database()) <> ${position.databaseOid}::oid
          then 'DATABASE_REPLICA_URL leads to a replica of another database'
        when not exists (
          select from pg_stat_wal_receiver where status = 'streaming' and received_tli = ${position.timeline}::int
        )
          then 'the replica does not stream timeline ' || ${position.timeline}::int || ' from the primary now; '
            'if it does, grant pg_read_all_stats to the role in DATABASE_REPLICA_URL'
      end as problem`);
}
