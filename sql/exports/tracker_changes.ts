/** Table `tracker_changes`: the log of changes to tracker rows after their insertion (docs/increments.md). */
import { onlyValue, type Sql } from "../connection/pool.ts";
import { isTrackerDistributed } from "../tracker/distribute_tracker.ts";

/** Maximum age of the start of an increment, in days. */
export const SINCE_DAYS = 90;
/** Retention of entries in days. It exceeds `SINCE_DAYS` for increments that were accepted and are still being built. */
const KEPT_DAYS = SINCE_DAYS + 1;

/** Thrown if the log no longer has all changes of an increment. The message says what to do and has no final period. */
export class ChangeLogDeletedError extends Error {
  override readonly name = "ChangeLogDeletedError";

  constructor(since: string) {
    super(
      `Changes are deleted after ${KEPT_DAYS} days, and the increment starts at ${since}. Take a full export`,
    );
  }
}

/** Returns whether an increment from `since` can be accepted. All later changes are then in the log and stay for another day. */
export function isChangeLogKept(sql: Sql, since: string): Promise<boolean> {
  return isWithin(sql, since, SINCE_DAYS);
}

/**
 * Throws ChangeLogDeletedError if the snapshot of the transaction may lack changes after `since`. Entries that are deleted
 * later remain visible in the snapshot.
 */
export async function requireChangeLog(tx: Sql, since: string): Promise<void> {
  if (!(await isWithin(tx, since, KEPT_DAYS))) throw new ChangeLogDeletedError(since);
}

async function isWithin(sql: Sql, since: string, days: number): Promise<boolean> {
  // Not `now()`, because the transaction may have begun long ago.
  return onlyValue(sql<[{ isWithin: boolean }]>`
    select ${since}::text::timestamptz >= clock_timestamp() - make_interval(days => ${days}) as is_within`);
}

/**
 * Deletes up to `limit` entries that increments can no longer read, per shard if the log is distributed. Returns the number
 * of deleted entries.
 */
export async function deleteOldTrackerChanges(sql: Sql, limit: number): Promise<number> {
  if (await isTrackerDistributed(sql)) return deleteOnNodes(sql, limit);
  const { count } = await sql.unsafe(oldEntries("tracker_changes", limit));
  return count;
}

/** Deletes entries on each shard, because a physical row address (`ctid`) is valid in one shard only. */
async function deleteOnNodes(sql: Sql, limit: number): Promise<number> {
  const shards = await sql<{ success: boolean; result: string }[]>`
    select success, result from run_command_on_shards('public.tracker_changes', ${oldEntries("%1$s", limit)})`;
  const failed = shards.find(({ success }) => !success);
  if (failed) throw new Error(`Cannot delete old entries of tracker_changes on a node: ${failed.result}`);
  return shards.reduce((sum, { result }) => sum + Number(/\d+$/.exec(result)?.[0] ?? 0), 0);
}

function oldEntries(table: string, limit: number): string {
  return `delete from ${table}
    where ctid = any (array(
      select ctid
      from ${table}
      where at < now() - make_interval(days => ${KEPT_DAYS})
      order by at
      limit ${limit}
    ))`;
}
