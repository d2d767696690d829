/** Table `tracker_changes`: what happened to tracker rows after they were inserted (docs/increments.md). */
import type { Sql } from "../connection/pool.ts";

/** How old the beginning of an increment may be. */
const SINCE_DAYS = 90;
/** Longer, for increments that have been accepted and are still being made. */
const KEPT_DAYS = SINCE_DAYS + 1;

/** Returns whether all changes after `since` are still in the log. */
export async function isChangeLogKept(sql: Sql, since: string): Promise<boolean> {
  const [row] = await sql<[{ isKept: boolean }]>`
    select ${since}::text::timestamptz >= now() - make_interval(days => ${SINCE_DAYS}) as is_kept`;
  return row.isKept;
}

/** Deletes up to `limit` entries that no increment reads any more, and returns their number. */
export async function deleteOldTrackerChanges(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from tracker_changes
    where ctid = any (array(
      select ctid
      from tracker_changes
      where at < now() - make_interval(days => ${KEPT_DAYS})
      limit ${limit}
    ))`;
  return count;
}
