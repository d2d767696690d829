/** The temporary table for imported lines, one JSON document each. */
import type { Sql } from "../connection/pool.ts";
import { allowBackfill } from "../tracker/tracker_tables.ts";

/** Creates the table for the current transaction. Call inside a transaction. */
export async function createImportStage(tx: Sql): Promise<void> {
  // Imported rows keep their times.
  await allowBackfill(tx);
  await tx`
    create temporary table import_stage (
      doc json not null,
      constraint import_stage_doc_check check (json_typeof(doc) = 'object')
    ) on commit drop`;
}

/** Empties the table for the next dataset. */
export async function clearImportStage(tx: Sql): Promise<void> {
  await tx`truncate import_stage`;
}

/**
 * Streams NDJSON into the table. Throws what `lines` throws, or the error of PostgreSQL for a line that is not JSON. The
 * transaction must then be rolled back; its connection stays usable.
 */
export async function copyImportLines(tx: Sql, lines: AsyncGenerator<Uint8Array, void, void>): Promise<void> {
  let failure: { error: unknown } | null = null;
  let wake = (): void => {};
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  // JSON escapes control characters, so neither quote nor delimiter can occur, and lines are copied as they are.
  const query = tx`copy import_stage (doc) from stdin with (format csv, quote E'\\x01', delimiter E'\\x02')`;
  onStatementError(query, fail);
  const target = await query.writable();
  let isDone = false;
  target.on("error", fail);
  target.on("drain", () => wake());
  target.on("finish", () => {
    isDone = true;
    wake();
  });
  const throwFailure = (): void => {
    if (failure) throw failure.error;
  };
  try {
    for await (const chunk of lines) {
      const drained = woken();
      if (!target.write(chunk) && !failure) await drained;
      throwFailure();
    }
  } catch (error) {
    // PostgreSQL discards the rows it has received.
    const ended = woken();
    if (!failure) {
      target.destroy(error instanceof Error ? error : new Error(String(error)));
      await ended;
    }
    throw error;
  }
  const ended = woken();
  target.end();
  if (!isDone && !failure) await ended;
  throwFailure();
}

/**
 * Calls `listener` if PostgreSQL refuses the query. For an error after the last write, the driver (3.4.9) only rejects the
 * query's promise, which was already fulfilled with the stream, so the error would be lost.
 */
function onStatementError(query: object, listener: (error: unknown) => void): void {
  // Every query of the driver has this method; its types omit it.
  const internals = query as { reject: (error: unknown) => void };
  const reject = internals.reject;
  internals.reject = (error) => {
    listener(error);
    reject(error);
  };
}
