/** A read-only transaction that stays open for as long as a stream reads from it. */
import type postgres from "postgres";
import type { Pool, Sql } from "./pool.ts";

export interface ExportSnapshot {
  /**
   * Runs a query in it and waits for the answer. Rejects when the connection is lost, and with SQLSTATE 57014 when
   * the reader has left. One query at a time.
   */
  run<Result>(query: (tx: postgres.TransactionSql) => PromiseLike<Result>): Promise<Result>;
  /** Rejects when the connection is lost; never resolves. Keeps all that ever waited for it: for few. */
  lost: Promise<never>;
  /** Calls when the connection is lost, or has been, until the function that it returns is called. */
  onLost(listener: (error: unknown) => void): () => void;
  /** Aborted when the reader has left: what runs is cancelled then. */
  signal: AbortSignal;
  /** Cancels what runs now. Never throws. */
  cancel(): Promise<void>;
  /** Ends the transaction and gives its connection back. Never throws; a second call does nothing. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  /** Where queries are cancelled from: not the connection that runs them. */
  control: Sql;
  signal: AbortSignal;
  /** Another snapshot that is open, to show the very same rows. */
  shared?: SharedSnapshot;
}

/** By what another connection finds a snapshot, while its transaction is open. */
export interface SharedSnapshot {
  id: string;
  /** When the server started: another one might know another snapshot by the same id. */
  serverStart: string;
}

/** Shares a snapshot. Between two copies, not beside one. */
export async function shareSnapshot(snapshot: ExportSnapshot): Promise<SharedSnapshot> {
  const [shared] = await snapshot.run(
    (tx) => tx<[SharedSnapshot]>`
      select pg_export_snapshot() as id, pg_postmaster_start_time()::text as server_start`,
  );
  return shared;
}

/**
 * Opens a snapshot: everything read through it shows the database as of the first query. Take the watermark before.
 *
 * The transaction is held by `begin()` and not by `reserve()`: only `begin()` notices a connection that dies. After
 * that nothing may be sent through it any more: the driver would send it on a later connection, outside of the
 * transaction.
 */
export async function openExportSnapshot(pool: Pool, options: SnapshotOptions): Promise<ExportSnapshot> {
  const { control, signal } = options;
  signal.throwIfAborted();
  const opened = Promise.withResolvers<postgres.TransactionSql>();
  const finished = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<never>();
  const listeners = new Set<(error: unknown) => void>();
  let loss: { error: unknown } | null = null;
  lost.promise.catch((error: unknown) => {
    for (const listener of listeners) listener(error);
  });
  const ended = pool
    .begin("isolation level repeatable read read only", (tx) => {
      opened.resolve(tx);
      return finished.promise;
    })
    .catch((error: unknown) => {
      loss = { error };
      opened.reject(error);
      lost.reject(error);
    });
  const tx = await opened.promise;
  const onLost: ExportSnapshot["onLost"] = (listener) => {
    if (loss) listener(loss.error);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const run = async <Result>(
    query: (tx: postgres.TransactionSql) => PromiseLike<Result>,
  ): Promise<Result> => {
    if (loss) throw loss.error;
    let forget = (): void => {};
    const answer = new Promise<Result>((resolve, reject) => {
      forget = onLost(reject);
      query(tx).then(resolve, reject);
    });
    return answer.finally(forget);
  };
  let pid: number | null = null;
  const cancel = async (): Promise<void> => {
    if (pid !== null && !loss) await control`select pg_cancel_backend(${pid})`.catch(() => {});
  };
  const cancels: Promise<void>[] = [];
  const onAbort = (): void => {
    cancels.push(cancel());
  };
  signal.addEventListener("abort", onAbort);
  const close = async (): Promise<void> => {
    signal.removeEventListener("abort", onAbort);
    // A cancel that is still on its way must not reach the connection's next user.
    await Promise.all(cancels);
    // Lets the driver report a lost connection first, see above.
    await new Promise((resolve) => setImmediate(resolve));
    if (!loss) finished.resolve();
    await ended;
  };
  try {
    if (options.shared) await run(importSnapshot(options.shared));
    pid = await run(prepare);
    signal.throwIfAborted();
    return { run, lost: lost.promise, onLost, signal, cancel, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes the transaction show what another one does, before it has shown anything. Throws when it cannot. */
function importSnapshot({ id, serverStart }: SharedSnapshot) {
  return async (tx: postgres.TransactionSql): Promise<void> => {
    // The statement takes no parameter; the id is digits of PostgreSQL's own.
    await tx.unsafe(`set transaction snapshot '${id}'`);
    const [server] = await tx<[{ isSame: boolean }]>`
      select pg_postmaster_start_time()::text = ${serverStart} as is_same`;
    if (!server.isSame) throw new Error("Cannot share a snapshot: the connection reached another server");
  };
}

/** Sets what reading large files wants, for this transaction only; returns the server process that runs it. */
async function prepare(tx: postgres.TransactionSql): Promise<number> {
  const [backend] = await tx<[{ pid: number }]>`
    select
      pg_backend_pid() as pid,
      -- Compiling the expressions of two dozen columns takes longer than it saves.
      set_config('jit', 'off', true),
      -- Rows come in the order of an index; the planner would sort whole files to save a little reading.
      set_config('enable_sort', 'off', true),
      -- For the hash of hidden parents alone, some 40 bytes each: millions of them.
      set_config('work_mem', '256MB', true),
      -- A reader may be slow, and a bundle pauses between its datasets: a server's defaults must not end them.
      set_config('statement_timeout', '0', true),
      set_config('idle_in_transaction_session_timeout', '0', true)`;
  return backend.pid;
}
