/**
 * When work of a process that died is taken over. The queue (pg-boss) checks heartbeats and gives an entry whose heartbeat has
 * lapsed to another runner, within 30 s. `sql/exports/build_attempts.ts` lets only the newest attempt write.
 */

/** How long an entry stays with a runner whose heartbeats have stopped. */
export const HEARTBEAT_SECONDS = 20;
/** How often lapsed heartbeats and due schedules are checked. */
export const SUPERVISE_SECONDS = 5;
