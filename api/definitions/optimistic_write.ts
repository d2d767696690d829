/**
 * Optimistic writes: the slow preparation holds no lock. The write checks under the lock that its preparation is still valid,
 * and starts again if another writer was faster. Only callers that send `expectedUpdatedAt` get EDIT_CONFLICT.
 */

import { Type } from "@sinclair/typebox";
import { RETRY_AFTER } from "../../shared/error_details.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { requireStillWriter, runWrite } from "./find_writable.ts";
import type { Writer } from "./new_draft.ts";

/** A try fails only if another writer succeeds. A write therefore fails only if this many other writes succeed before it. */
const MAX_TRIES = 5;

interface OptimisticWrite<Loaded, Prepared, Result> {
  /** Reads and locks the rows that the write changes. Outside a transaction, the lock only waits for current writers. */
  load(sql: Sql): Promise<Loaded>;
  /** Does the slow part, such as parsing a document, without holding a connection, a lock or a turn. */
  prepare(loaded: Loaded): Promise<Prepared>;
  /** Returns true if the preparation for `seen` is not valid for `locked`. */
  isStale(seen: Loaded, locked: Loaded): boolean;
  apply(tx: Sql, locked: Loaded, prepared: Prepared): Promise<Result>;
}

/**
 * Prepares a write, then applies it under the lock if the writer's role still allows it. Starts again if another writer changed
 * the row in the meantime, and retries the transaction after a deadlock. Throws SERVICE_UNAVAILABLE after five tries, and the
 * errors of the steps. Stores nothing on an error.
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

/** The body field for the `updatedAt` value that the caller has read. */
export const ExpectedUpdatedAt = Type.Optional(
  Type.String({
    maxLength: 40,
    description:
      "`updatedAt` as you read it. If the version has changed since, nothing is written: 409 `EDIT_CONFLICT`",
  }),
);

/** Throws EDIT_CONFLICT if a version has changed since `expectedUpdatedAt`; undefined accepts any state. */
export function requireUnchanged(row: DefinitionRow, expectedUpdatedAt: string | undefined): void {
  if (expectedUpdatedAt === undefined || expectedUpdatedAt === row.updatedAt) return;
  const { updatedAt, status } = row;
  const message = TEXTS.EDIT_CONFLICT(row, updatedAt);
  throw new ApiError("EDIT_CONFLICT", { message, details: { updatedAt, status } });
}
