/** A read-only transaction that stays open for as long as a stream reads from it. */
import type postgres from "postgres";
import type { Pool } from "./pool.ts";

export interface ExportSnapshot {
  tx: postgres.TransactionSql;
  /** The server process that runs it: whom to tell when it has to stop. */
  pid: number;
  /** Rejects when the connection is lost; never resolves. */
  lost: Promise<never>;
  /** Ends the transaction and gives its connection back. Never throws; a second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens a snapshot: everything read through it shows the database as of the first query. Take the watermark before.
 *
 * The transaction is held by `begin()` and not by `reserve()`: only `begin()` notices a connection that dies, and
 * after that it must not be allowed to return, or the driver would write `commit` to a socket that is gone.
 */
export async function openExportSnapshot(pool: Pool): Promise<ExportSnapshot> {
  const opened = Promise.withResolvers<postgres.TransactionSql>();
  const finished = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  let isLost = false;
  const ended = pool
    .begin("isolation level repeatable read read only", (tx) => {
      opened.resolve(tx);
      return finished.promise;
    })
    .catch((error: unknown) => {
      isLost = true;
      opened.reject(error);
      lost.reject(error);
    });
  const tx = await opened.promise;
  const close = async (): Promise<void> => {
    // Lets the driver report a lost connection first, see above.
    await new Promise((resolve) => setImmediate(resolve));
    if (!isLost) finished.resolve();
    await ended;
  };
  try {
    const [backend] = await tx<[{ pid: number }]>`
      select
        pg_backend_pid() as pid,
        -- Compiling the expressions of two dozen columns takes longer than it saves.
        set_config('jit', 'off', true),
        -- Rows come in the order of an index; the planner would sort whole files to save a little reading.
        set_config('enable_sort', 'off', true),
        -- For the hash of hidden parents alone, 40 bytes each: what does not fit is looked up row by row.
        set_config('work_mem', '256MB', true)`;
    return { tx, pid: backend.pid, lost: lost.promise, close };
  } catch (error) {
    await close();
    throw error;
  }
}
