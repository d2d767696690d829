/**
 * Optimistic writes: the slow preparation holds no lock, and is checked under the lock before it is applied. A writer that was
 * overtaken starts again. Only a writer that states which state it has read is refused.
 */

import { Type } from "@sinclair/typebox";
import { RETRY_AFTER } from "../../shared/error_details.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { requireStillWriter, runWrite } from "./find_writable.ts";
import type { Writer } from "./new_draft.ts";

/** A try fails only if another writer succeeds, so a write fails only if this many writers overtake it. */
const MAX_TRIES = 5;

interface OptimisticWrite<Loaded, Prepared, Result> {
  /** Reads and locks what the write changes. Outside a transaction, the lock only waits for current writers. */
  load(sql: Sql): Promise<Loaded>;
  /** Does the slow part, such as reading a document. Holds neither a connection, a lock nor a turn of writes. */
  prepare(loaded: Loaded): Promise<Prepared>;
  /** True if the preparation for `seen` is wrong for `locked`. */
  isStale(seen: Loaded, locked: Loaded): boolean;
  apply(tx: Sql, locked: Loaded, prepared: Prepared): Promise<Result>;
}

/**
 * Prepares a write, then locks and applies it if the writer still may; starts again if another writer changed the row in
 * between, and applies it again after a deadlock. Throws SERVICE_UNAVAILABLE after five tries, and whatever the steps throw;
 * nothing is written then.
 */
export async function writeOptimistically<Loaded, Prepared, Result>(
  sql: Pool,
  writer: Writer,
  { load, prepare, isStale, apply }: OptimisticWrite<Loaded, Prepared, Result>,
): Promise<Result> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const seen = await writer.inTurn(() => load(sql));
    const prepared = await prepare(seen);
    const applied = await runWrite(sql, writer, async (tx) => {
      const locked = await load(tx);
      await requireStillWriter(tx, writer);
      return isStale(seen, locked) ? null : { result: await apply(tx, locked, prepared) };
    });
    if (applied) return applied.result;
  }
  const message = TEXTS.SERVICE_UNAVAILABLE.overtaken(MAX_TRIES);
  throw new ApiError("SERVICE_UNAVAILABLE", { message, retryAfter: RETRY_AFTER.conflict });
}

/** A body field: `updatedAt` as the caller read it. */
export const ExpectedUpdatedAt = Type.Optional(
  Type.String({
    maxLength: 40,
    description:
      "`updatedAt` as you read it. If the version has changed since, nothing is written: 409 `EDIT_CONFLICT`",
  }),
);

/** Throws EDIT_CONFLICT if a version is not in the state that the caller expects; undefined expects any. */
export function requireUnchanged(row: DefinitionRow, expectedUpdatedAt: string | undefined): void {
  if (expectedUpdatedAt === undefined || expectedUpdatedAt === row.updatedAt) return;
  const { updatedAt, status } = row;
  const message = TEXTS.EDIT_CONFLICT(row, updatedAt);
  throw new ApiError("EDIT_CONFLICT", { message, details: { updatedAt, status } });
}
