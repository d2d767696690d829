/**
 * An optional streaming replica to read from while it shows what the primary shows. While it is unavailable or behind,
 * callers get null and read from the primary.
 */
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import { warnIfClearText } from "./direct_connection.ts";
import { hasSqlState, isConnectionError, onlyRow, openPool, type Pool, type Sql } from "./pool.ts";
import { ExportLanes, type ExportSnapshot, openExportSnapshot } from "./snapshot.ts";

/** How long a snapshot waits for a replica that is behind; a healthy one needs a millisecond or two. */
const CATCH_UP_MS = 1000;
/** How long opening a snapshot may take in all. */
const TIMEOUT_MS = 2000;
/** How long the replica is not used after a failure. Then one call retries it in the background. */
const REST_MS = 5000;
/** Connections for cancellations, retries, and the catalog. */
const CONTROL_MAX = 4;
/** The replica canceled a query to continue replaying: serialization failure and deadlock. */
const RECOVERY_CONFLICTS = ["40001", "40P01"];

interface ReplicaOptions {
  primary: Pool;
  applicationName: string;
  /** Connections for snapshots. */
  max: number;
  /** How many of them may be second connections; none if omitted. */
  lanesMax?: number;
  log: Log;
}

export class Replica {
  /** Second connections for its snapshots. */
  readonly lanes: ExportLanes;
  readonly #primary: Pool;
  readonly #streams: Pool;
  readonly #control: Pool;
  readonly #log: Log;
  /** When to retry, by `performance.now()`; null while it is in use. */
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
   * Warns if the replica is on another machine and its connections are not encrypted. Checks nothing while it is
   * unavailable.
   */
  async warnIfClearText(): Promise<void> {
    const warn = (message: string) => this.#log.warn({ event: "database.clear_text" }, message);
    await warnIfClearText(this.#control, warn).catch(() => {});
  }

  /** False while it is not used, because it was unavailable or behind. */
  isUsed(): boolean {
    return this.#restsUntil === null;
  }

  /**
   * Checks as an export would whether the replica can be used, and returns `isUsed()`. Metrics call this, because an idle
   * process notices neither that the replica is gone nor that it is back.
   */
  async check(): Promise<boolean> {
    // An error is the primary's, and others log it.
    await this.catchUp(CATCH_UP_MS).catch(() => {});
    return this.isUsed();
  }

  /**
   * Reads the primary's position, for snapshots that are to show everything committed before the call. `null` while the
   * replica is not read from.
   */
  async readPosition(): Promise<WalPosition | null> {
    if (this.#restsUntil === null) return this.#readPosition();
    if (performance.now() > this.#restsUntil) {
      this.#restsUntil = performance.now() + REST_MS;
      // Not logged here: the replica's failure already is, and others log the primary's.
      void this.#tryAgain().catch(() => {});
    }
    return null;
  }

  /**
   * Opens a snapshot that shows everything before the position; `null` if the replica cannot give it soon. Throws if
   * `signal` is aborted.
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
      // Spares the next callers the wait.
      snapshot.onLost((error) => this.isToBlameFor(error));
      return snapshot;
    } catch (error) {
      // The snapshot may still open. Do not wait for it: a server that does not respond does not close it either.
      void opening.then((late) => late.close()).catch(() => {});
      signal.throwIfAborted();
      return this.#rest(error);
    }
  }

  /**
   * Returns the replica once it shows everything committed before the call; null after the timeout, or after twice the
   * timeout if it does not respond.
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

  /** True if a read failed because of the replica and not because of the query. */
  isToBlameFor(error: unknown): boolean {
    if (hasSqlState(error, ...RECOVERY_CONFLICTS)) return true;
    if (!isConnectionError(error)) return false;
    if (!this.#isClosed) this.#rest(error);
    return true;
  }

  /** Returns the lag in seconds; null if unknown. */
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

  /** Stops reading from the replica for a while. Logs it once, for the first failure. */
  #rest(error: unknown, event = error instanceof UnusableReplica ? "replica.behind" : "replica.away"): null {
    if (this.isUsed()) this.#log.warn({ event, err: error }, "the replica is not used for now");
    this.#restsUntil = performance.now() + REST_MS;
    return null;
  }
}

/** Returns 0 if the replica has replayed all that the primary has flushed, else the age of the last commit it replayed. */
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
  /** As PostgreSQL prints it: `16/B374D848`. */
  lsn: string;
  timeline: number;
  /** The cluster, which its replicas share, and the database in it. */
  systemIdentifier: string;
  databaseOid: number;
}

/** The replica responds but must not be used; the message says why. */
class UnusableReplica extends Error {}

/**
 * Reads the primary's position, behind everything committed before the call. Throws if the server is not a primary. It is the
 * end of what is inserted into the WAL, because a commit is visible before it is flushed; and it is flushed first, because
 * replicas receive nothing else (docs/replica.md).
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
    -- The message is flushed with its commit, but no synchronous standby is waited for, which may be away.
    from set_config('synchronous_commit', 'local', true)`;
  return position;
}

/**
 * Waits until the server that `sql` leads to has replayed the position. Throws `UnusableReplica` if it does not in
 * time, or if it is no replica of the primary that the position is of.
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
 * Reads the position first and the timeline second: a replica only moves to later timelines. `problem` is why the replica's
 * positions do not compare; null if they do.
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
