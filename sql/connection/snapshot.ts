/** Read-only transactions that stay open while a stream reads from them, and second connections that share their snapshots. */
import type postgres from "postgres";
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import { fragment, type Pool, type Sql } from "./pool.ts";

/** Maximum time for the server to end the statement and the transaction. After this time, the connection is destroyed. */
const CLOSE_TIMEOUT_MS = 10_000;
/** Maximum time to wait for the server to end the session of a destroyed connection. */
const TERMINATE_TIMEOUT_MS = 5_000;

export interface SnapshotOptions {
  /** A connection for canceling queries, other than the one that runs them. */
  control: Sql;
  signal: AbortSignal;
  /** An open snapshot whose rows the new snapshot must show. */
  shared?: SharedSnapshot;
  /** Runs on the connection before the snapshot is taken. If it throws, the snapshot is not taken. */
  before?: (tx: Sql) => Promise<void>;
  closeTimeoutMs?: number;
}

/** Identifies an exported snapshot. Other connections can import it while the exporting transaction is open. */
export interface SharedSnapshot {
  id: string;
  /** The start time of the server. On another server, the same id could identify another snapshot. */
  serverStart: string;
}

/** A statement that keeps the connection busy after `run` has returned, such as a COPY whose rows are still arriving. */
export interface RunningStatement {
  /** Settles when the connection can run the next statement or is lost. */
  over: Promise<unknown>;
  /** Discards the remaining rows, so that the statement can end. */
  discard?(): void;
}

/**
 * Opens a snapshot. All reads through it show the database as of its first query. Determine the watermark before you open the
 * snapshot.
 *
 * Uses `begin()` and not `reserve()`, because only `begin()` notices a lost connection. Send no statement after a loss: the driver
 * would send it on a new connection, outside the transaction.
 */
export async function openExportSnapshot(pool: Pool, options: SnapshotOptions): Promise<ExportSnapshot> {
  options.signal.throwIfAborted();
  const opened = Promise.withResolvers<postgres.TransactionSql>();
  const finished = Promise.withResolvers<void>();
  const ended = pool.begin("isolation level repeatable read read only", (tx) => {
    opened.resolve(tx);
    return finished.promise;
  });
  ended.catch(opened.reject);
  const tx = await opened.promise;
  const snapshot = new ExportSnapshot({ tx, ended, commit: finished.resolve }, options);
  try {
    if (options.shared) await snapshot.run(importSnapshot(options.shared));
    if (options.before) {
      await snapshot.run(options.before);
      // The queries of `before` took a snapshot. The next transaction takes a new snapshot, in the same session.
      await snapshot.run(undoTransaction);
    }
    await snapshot.prepare();
    options.signal.throwIfAborted();
    return snapshot;
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

/** Rolls back the transaction and begins a new one with the same options, in the same session. */
export async function undoTransaction(tx: Sql): Promise<void> {
  await tx`rollback and chain`;
}

/**
 * Limits the duration of later statements in the transaction; 0 means no limit. A statement that exceeds the limit fails with
 * SQLSTATE 57014.
 */
export async function limitStatements(sql: Sql, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
}

/**
 * Limits the duration of each statement in `step`, then restores the previous limit. If `step` throws, the caller must end the
 * transaction.
 */
export async function withStatementLimit<Result>(
  tx: Sql,
  timeoutMs: number,
  step: () => Promise<Result>,
): Promise<Result> {
  const [{ before }] = await tx<[{ before: string }]>`select current_setting('statement_timeout') as before`;
  await limitStatements(tx, timeoutMs);
  const result = await step();
  await tx`select set_config('statement_timeout', ${before}, true)`;
  return result;
}

/**
 * SQL expressions that, when selected, remove the limits on the transaction's duration and idle time. PostgreSQL 15 and 16 have
 * only the first setting.
 */
export const UNLIMITED_TRANSACTION = fragment`
  set_config('idle_in_transaction_session_timeout', '0', true),
  case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', true) end`;

/**
 * Lets later COPY statements in the transaction use up to two parallel workers. Formatting the lines takes most of the time and can
 * run in parallel, but PostgreSQL's default `parallel_tuple_cost` prevents it. `parallel_setup_cost` keeps its default, because
 * workers slow down copies of a few hundred rows. Count rows before this call, because workers do not speed up counts. Call inside
 * a transaction.
 */
export async function preferParallelCopies(sql: Sql): Promise<void> {
  await sql`
    select
      set_config('max_parallel_workers_per_gather', '2', true),
      set_config('parallel_tuple_cost', '0', true)`;
}

/** Turns parallel workers off again. Call it where several connections copy concurrently. */
export async function forbidParallelCopies(sql: Sql): Promise<void> {
  await sql`select set_config('max_parallel_workers_per_gather', '0', true)`;
}

/** Exports a snapshot for use on other connections. Call it between two copies, not during one. */
export async function shareSnapshot(snapshot: ExportSnapshot): Promise<SharedSnapshot> {
  const [shared] = await snapshot.run(
    (tx) => tx<[SharedSnapshot]>`
      select pg_export_snapshot() as id, pg_postmaster_start_time()::text as server_start`,
  );
  return shared;
}

interface Transaction {
  tx: postgres.TransactionSql;
  /** Settles when the transaction or its connection has ended. */
  ended: Promise<unknown>;
  commit: () => void;
}

/** The server process of a snapshot. */
interface Backend {
  pid: number;
  /** The start time of the snapshot's transaction. The process may be running another transaction by now. */
  startedAt: string;
  isDistributed: boolean;
}

export class ExportSnapshot {
  /** Aborted when the reader disconnects. The abort cancels the running statement. */
  readonly signal: AbortSignal;
  /** Settles when the transaction or its connection has ended. */
  readonly ended: Promise<void>;
  readonly #transaction: Transaction;
  readonly #control: Sql;
  readonly #closeTimeoutMs: number;
  readonly #listeners = new Set<(error: unknown) => void>();
  readonly #running = new Set<RunningStatement>();
  readonly #cancels: Promise<unknown>[] = [];
  #backend: Backend | null = null;
  #loss: { error: unknown } | null = null;
  #isCommitting = false;
  #closed: Promise<void> | null = null;

  constructor(transaction: Transaction, { signal, control, closeTimeoutMs }: SnapshotOptions) {
    this.#transaction = transaction;
    this.#control = control;
    this.#closeTimeoutMs = closeTimeoutMs ?? CLOSE_TIMEOUT_MS;
    this.signal = signal;
    this.ended = transaction.ended.then(
      () => {},
      (error: unknown) => {
        this.#loss = { error };
        for (const listener of this.#listeners) listener(error);
      },
    );
    signal.addEventListener("abort", this.#onAbort);
  }

  /**
   * Runs a query in the snapshot and returns its result. Rejects if the connection is lost, and with SQLSTATE 57014 if the reader
   * disconnects or the snapshot is being closed. Run one query at a time.
   */
  async run<Result>(query: (tx: postgres.TransactionSql) => PromiseLike<Result>): Promise<Result> {
    if (this.#loss) throw this.#loss.error;
    // After `close()`, the pool may already have given the connection to another caller.
    if (this.#closed) throw new Error("Cannot read from a snapshot that is closed");
    const result = Promise.withResolvers<Result>();
    const unsubscribe = this.onLost(result.reject);
    query(this.#transaction.tx).then(result.resolve, result.reject);
    const over = result.promise.then(unsubscribe, unsubscribe);
    this.follow({ over });
    return result.promise;
  }

  /** Registers a running statement, so that `close()` ends it. */
  follow(statement: RunningStatement): void {
    this.#running.add(statement);
    void statement.over.then(() => this.#running.delete(statement));
  }

  /** Whether the tracker tables are distributed over the nodes of a Citus cluster (docs/scaling.md). */
  get isDistributed(): boolean {
    return this.#backend?.isDistributed ?? false;
  }

  /** Calls `listener` when the connection is lost, or at once if it is already lost. Returns a function that unsubscribes. */
  onLost(listener: (error: unknown) => void): () => void {
    if (this.#loss) listener(this.#loss.error);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends a running statement. Destroys the connection if the statement does not end in time. Never throws. */
  async end(statement: RunningStatement): Promise<void> {
    // PostgreSQL ignores a cancel request while it waits for us to read, so reading continues.
    statement.discard?.();
    const ended = Promise.all([this.cancel(), statement.over]);
    await withTimeout(ended, this.#closeTimeoutMs).catch(() => this.destroy());
  }

  /** Cancels the running statement. Destroys the connection if the server does not respond. Never throws. */
  async cancel(): Promise<void> {
    if (!this.#backend || this.#loss || this.#isCommitting) return;
    const sent = this.#control`select pg_cancel_backend(${this.#backend.pid})`.catch(() => {});
    this.#cancels.push(sent);
    await withTimeout(Promise.race([sent, this.ended]), this.#closeTimeoutMs).catch(() => this.destroy());
  }

  /**
   * Ends the running statement and the transaction, and releases the connection. If that fails or takes too long, destroys the
   * connection and its session. Never throws. A second call waits for the first.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Applies the settings for long reads, for this transaction only. Called by `openExportSnapshot()`. */
  async prepare(): Promise<void> {
    const [backend] = await this.run(
      (tx) => tx<[Backend]>`
        select
          pg_backend_pid() as pid,
          now()::text as started_at,
          to_regproc('public.tracker_changes_relation') is not null as is_distributed,
          -- Rows are read in index order. By default, the planner would sort all rows to save a few reads.
          set_config('enable_sort', 'off', true),
          -- For the hashed subplan of hidden parents (sql/exports/select_rows.ts): millions of entries of about 40 bytes.
          set_config('work_mem', '256MB', true),
          -- Readers may be slow, and a bundle pauses between datasets. The server's default timeouts must not end the transaction.
          set_config('statement_timeout', '0', true),
          ${UNLIMITED_TRANSACTION}`,
    );
    this.#backend = backend;
  }

  readonly #onAbort = (): void => void this.cancel();

  async #close(): Promise<void> {
    this.signal.removeEventListener("abort", this.#onAbort);
    await Promise.all([...this.#running].map((statement) => this.end(statement)));
    await withTimeout(this.#commit(), this.#closeTimeoutMs).catch(() => {});
    await this.destroy();
  }

  async #commit(): Promise<void> {
    // A late cancel request must not reach the connection's next user.
    await Promise.all(this.#cancels);
    // Lets the driver report a lost connection first, because no statement may be sent after a loss.
    await new Promise((resolve) => setImmediate(resolve));
    this.#isCommitting = true;
    if (!this.#loss) this.#transaction.commit();
    await this.ended;
  }

  /** Destroys a connection that was not released, and waits up to 5 s for the server to end the session. */
  async destroy(): Promise<void> {
    if (!destroyConnection(this.#transaction.tx)) return;
    await this.ended;
    if (!this.#backend) return;
    const { pid, startedAt } = this.#backend;
    const terminated = this.#control`
      select pg_terminate_backend(${pid}, ${TERMINATE_TIMEOUT_MS})
      from pg_stat_get_activity(${pid})
      where xact_start = ${startedAt}::text::timestamptz`;
    await withTimeout(terminated, TERMINATE_TIMEOUT_MS).catch(() => {});
  }
}

/**
 * Closes the client's end of a transaction's connection. Returns false if the transaction has already released the connection. Our
 * driver patch adds this method, but the driver's types do not declare it.
 */
function destroyConnection(tx: postgres.TransactionSql): boolean {
  return (tx as unknown as { destroy: () => boolean }).destroy();
}

/**
 * Returns a step that makes a transaction show the same rows as the shared snapshot. The step must run before any query. It throws
 * if the snapshot cannot be imported.
 */
function importSnapshot({ id, serverStart }: SharedSnapshot) {
  return async (tx: postgres.TransactionSql): Promise<void> => {
    // The statement accepts no parameters. PostgreSQL generated the id, which contains only hex digits and hyphens.
    await tx.unsafe(`set transaction snapshot '${id}'`);
    const [server] = await tx<[{ isSame: boolean }]>`
      select pg_postmaster_start_time()::text = ${serverStart} as is_same`;
    if (!server.isSame) throw new Error("Cannot share a snapshot: the connection reached another server");
  };
}

/**
 * Maximum number of second connections per process, in addition to EXPORT_STREAMS_MAX. Two keep the processors of a small server
 * busy.
 */
export const EXPORT_LANES_MAX = 2;

/** A second snapshot that shows the same rows as the first. */
export interface Twin {
  /** Resolves to null if the second snapshot cannot be opened. The first snapshot can be read in the meantime. */
  opened: Promise<ExportSnapshot | null>;
  /**
   * Closes the second snapshot. If that is still opening, returns at once and closes it later. Never throws. Must be called before
   * the first snapshot is closed.
   */
  close(): Promise<void>;
}

export interface ExportLanesOptions {
  /** The pool for second snapshots. First snapshots use it too, so it has `max` more connections than first snapshots need. */
  pool: Pool;
  control: Sql;
  max: number;
  log: Log;
  /** Called with each second snapshot once it is open. */
  onOpened?: (twin: ExportSnapshot) => void;
}

export class ExportLanes {
  readonly #options: ExportLanesOptions;
  #used = 0;

  constructor(options: ExportLanesOptions) {
    this.#options = options;
  }

  /** Starts opening a second snapshot. Returns null if no connection is free. Throws if the first snapshot is lost. */
  async openTwin(first: ExportSnapshot): Promise<Twin | null> {
    if (this.#used >= this.#options.max) return null;
    this.#used += 1;
    const release = (): void => {
      this.#used -= 1;
    };
    const shared = await shareSnapshot(first).catch((error: unknown) => {
      release();
      throw error;
    });
    const { pool, control, log, onOpened } = this.#options;
    const { signal } = first;
    let isOpening = true;
    let isWanted = true;
    const opened = openExportSnapshot(pool, { control, signal, shared })
      .then((twin) => {
        onOpened?.(twin);
        return twin;
      })
      .catch((error: unknown) => {
        if (isWanted && !signal.aborted)
          log.warn({ event: "export.one_lane", err: error }, "cannot open a second connection for an export");
        return null;
      })
      .finally(() => {
        isOpening = false;
      });
    const close = async (): Promise<void> => {
      isWanted = false;
      const closed = opened.then((twin) => twin?.close()).then(release);
      // Do not wait for a second snapshot that is still opening, because a server that does not respond must not delay the export.
      if (!isOpening) await closed;
    };
    return { opened, close };
  }
}

/**
 * Maximum number of concurrent estimates and HEAD requests of exports. They take no stream slot, so they need their own
 * connections.
 */
export const EXPORT_COUNTS_MAX = 4;

export function countExportConnections(exportStreamsMax: number): number {
  return exportStreamsMax + EXPORT_COUNTS_MAX + EXPORT_LANES_MAX;
}
