/** A read-only transaction that stays open for as long as a stream reads from it, and second connections to share it. */
import type postgres from "postgres";
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import { fragment, type Pool, type Sql } from "./pool.ts";

/** How long the server may take to end the statement and the transaction before the connection is destroyed. */
const CLOSE_TIMEOUT_MS = 10_000;
/** How long to wait until the session of a destroyed connection is gone from the server. */
const TERMINATE_TIMEOUT_MS = 5_000;

export interface SnapshotOptions {
  /** Cancels queries; not the connection that runs them. */
  control: Sql;
  signal: AbortSignal;
  /** An open snapshot whose rows this one shows too. */
  shared?: SharedSnapshot;
  /** Runs on the connection before the snapshot is taken; throws if it must not be taken. */
  before?: (tx: Sql) => Promise<void>;
  closeTimeoutMs?: number;
}

/** Identifies a snapshot for another connection, while its transaction is open. */
export interface SharedSnapshot {
  id: string;
  /** When the server started: on another server, the same id could be another snapshot. */
  serverStart: string;
}

/** A statement that keeps the connection busy after `run` has returned: a COPY whose rows still arrive. */
export interface RunningStatement {
  /** Settles when the connection can take the next statement, or is lost. */
  over: Promise<unknown>;
  /** Discards rows that still arrive, so that the statement can end. */
  discard?(): void;
}

/**
 * Opens a snapshot: everything read through it shows the database as of the first query. Take the watermark before.
 *
 * The transaction is held by `begin()` and not by `reserve()`: only `begin()` notices a lost connection. Nothing may be
 * sent through it afterwards: the driver would send it on a later connection, outside the transaction.
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
      // Its queries took a snapshot. The next transaction takes a new one, in the same session.
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

/** Undoes what the transaction did. A new one of the same kind has begun in its place, in the same session. */
export async function undoTransaction(tx: Sql): Promise<void> {
  await tx`rollback and chain`;
}

/** Limits the time of later statements of the transaction (SQLSTATE 57014 when exceeded); 0 means no limit. */
export async function limitStatements(sql: Sql, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
}

/** Limits the time of each statement of `step`, then restores the limit before. A `step` that throws must end the transaction. */
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

/** Lets the transaction last and be idle without a limit, when selected. PostgreSQL 15 and 16 have one of the settings. */
export const UNLIMITED_TRANSACTION = fragment`
  set_config('idle_in_transaction_session_timeout', '0', true),
  case when current_setting('transaction_timeout', true) is not null then set_config('transaction_timeout', '0', true) end`;

/**
 * Lets later copies of the transaction use two parallel workers. Formatting the lines takes most of the time and can run in
 * parallel, but PostgreSQL's default cost of a row that a worker hands over prevents it. The cost of starting workers stays:
 * copies of a few hundred rows take longer with them. Count rows before this call: counting gains nothing from workers. Call
 * inside a transaction.
 */
export async function preferParallelCopies(sql: Sql): Promise<void> {
  await sql`
    select
      set_config('max_parallel_workers_per_gather', '2', true),
      set_config('parallel_tuple_cost', '0', true)`;
}

/** Turns parallel workers off again, where several connections copy side by side. */
export async function forbidParallelCopies(sql: Sql): Promise<void> {
  await sql`select set_config('max_parallel_workers_per_gather', '0', true)`;
}

/** Shares a snapshot. Call it between two copies, not during one. */
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

/** The server's side of a snapshot. */
interface Backend {
  pid: number;
  /** When its transaction began: by now, the process may run another one. */
  startedAt: string;
  isDistributed: boolean;
}

export class ExportSnapshot {
  /** Aborted when the reader has left, which cancels the running statement. */
  readonly signal: AbortSignal;
  /** Settles when the transaction has ended, or its connection. */
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
   * Runs a query in the snapshot and returns its result. Rejects if the connection is lost, and with SQLSTATE 57014 if the
   * reader has left or the snapshot is being closed. One query at a time.
   */
  async run<Result>(query: (tx: postgres.TransactionSql) => PromiseLike<Result>): Promise<Result> {
    if (this.#loss) throw this.#loss.error;
    // Another caller may use the connection already.
    if (this.#closed) throw new Error("Cannot read from a snapshot that is closed");
    const result = Promise.withResolvers<Result>();
    const unsubscribe = this.onLost(result.reject);
    query(this.#transaction.tx).then(result.resolve, result.reject);
    const over = result.promise.then(unsubscribe, unsubscribe);
    this.follow({ over });
    return result.promise;
  }

  /** Registers a statement, which `close()` ends if it still runs then. */
  follow(statement: RunningStatement): void {
    this.#running.add(statement);
    void statement.over.then(() => this.#running.delete(statement));
  }

  /** Whether the tracker tables are distributed over the nodes of a Citus cluster (docs/scaling.md). */
  get isDistributed(): boolean {
    return this.#backend?.isDistributed ?? false;
  }

  /** Calls `listener` when the connection is lost, at once if it is already. Returns a function that unsubscribes. */
  onLost(listener: (error: unknown) => void): () => void {
    if (this.#loss) listener(this.#loss.error);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends a running statement, and the connection if the statement does not end in time. Never throws. */
  async end(statement: RunningStatement): Promise<void> {
    // PostgreSQL ignores a cancel while it waits for us to read, so reading continues.
    statement.discard?.();
    const ended = Promise.all([this.cancel(), statement.over]);
    await withTimeout(ended, this.#closeTimeoutMs).catch(() => this.destroy());
  }

  /** Cancels the running statement. Destroys the connection if the server does not answer. Never throws. */
  async cancel(): Promise<void> {
    if (!this.#backend || this.#loss || this.#isCommitting) return;
    const sent = this.#control`select pg_cancel_backend(${this.#backend.pid})`.catch(() => {});
    this.#cancels.push(sent);
    await withTimeout(Promise.race([sent, this.ended]), this.#closeTimeoutMs).catch(() => this.destroy());
  }

  /**
   * Ends the running statement and the transaction, and releases the connection. If that fails or takes too long, the
   * connection is destroyed, and its session with it. Never throws; a second call waits for the first.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Sets what long reads need, for this transaction only. For `openExportSnapshot()`. */
  async prepare(): Promise<void> {
    const [backend] = await this.run(
      (tx) => tx<[Backend]>`
        select
          pg_backend_pid() as pid,
          now()::text as started_at,
          to_regproc('public.tracker_changes_relation') is not null as is_distributed,
          -- Rows are read in the order of an index; the planner would sort all of them to save a little reading.
          set_config('enable_sort', 'off', true),
          -- For the hash of hidden parents: millions, of about 40 bytes each.
          set_config('work_mem', '256MB', true),
          -- Readers may be slow, and a bundle pauses between datasets: the server's defaults must not end them.
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
    // A late cancel must not reach the connection's next user.
    await Promise.all(this.#cancels);
    // Lets the driver report a lost connection first, see above.
    await new Promise((resolve) => setImmediate(resolve));
    this.#isCommitting = true;
    if (!this.#loss) this.#transaction.commit();
    await this.ended;
  }

  /** Destroys a connection that was not released, and waits until the server has ended its transaction. */
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
 * Closes the connection of a transaction on our side. Returns false if the transaction has released it. Our patch of the
 * driver does this; its types do not declare it.
 */
function destroyConnection(tx: postgres.TransactionSql): boolean {
  return (tx as unknown as { destroy: () => boolean }).destroy();
}

/** Makes a transaction without queries show the same rows as the shared snapshot. Throws if it cannot. */
function importSnapshot({ id, serverStart }: SharedSnapshot) {
  return async (tx: postgres.TransactionSql): Promise<void> => {
    // The statement takes no parameter; the id consists of digits from PostgreSQL.
    await tx.unsafe(`set transaction snapshot '${id}'`);
    const [server] = await tx<[{ isSame: boolean }]>`
      select pg_postmaster_start_time()::text = ${serverStart} as is_same`;
    if (!server.isSame) throw new Error("Cannot share a snapshot: the connection reached another server");
  };
}

/** Per process, in addition to EXPORT_STREAMS_MAX: enough to keep the processors of a small server busy. */
export const EXPORT_LANES_MAX = 2;

/** A second snapshot that shows the same rows as the first. */
export interface Twin {
  /** Resolves to null if it cannot be opened. The first snapshot may be read meanwhile. */
  opened: Promise<ExportSnapshot | null>;
  /** Releases the connection as soon as it is open. Never throws. Close it before the first snapshot. */
  close(): Promise<void>;
}

export interface ExportLanesOptions {
  /** First snapshots are opened here too; the pool has `max` connections more than they need. */
  pool: Pool;
  control: Sql;
  max: number;
  log: Log;
  /** Called with each second connection that is open. */
  onOpened?: (twin: ExportSnapshot) => void;
}

export class ExportLanes {
  readonly #options: ExportLanesOptions;
  #used = 0;

  constructor(options: ExportLanesOptions) {
    this.#options = options;
  }

  /** Begins to open a twin; null if no connection is free. Throws if the first snapshot is lost. */
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
      // A twin that is still opening is not needed: a server that does not respond must delay no export.
      if (!isOpening) await closed;
    };
    return { opened, close };
  }
}

/** Concurrent estimates and HEAD requests of exports. They take no stream slot, so they need connections of their own. */
export const EXPORT_COUNTS_MAX = 4;

export function countExportConnections(exportStreamsMax: number): number {
  return exportStreamsMax + EXPORT_COUNTS_MAX + EXPORT_LANES_MAX;
}
