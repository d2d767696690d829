/**
 * Positions in the write-ahead log (WAL): how we know that a replica shows everything committed on the primary so far.
 * Why each part is needed: docs/replica.md.
 *
 * The position is the end of what is inserted into the WAL, because a commit is visible before it is flushed. It is
 * flushed
 * first, because replicas receive what is flushed, and nothing flushes the records of an open transaction or a plain
 * read.
 * A position is valid in one history only, so the replica has to stream the same timeline of the same system.
 */
import type { Sql } from "./pool.ts";

const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;

export interface WalPosition {
  /** As PostgreSQL prints it: `16/B374D848`. */
  lsn: string;
  timeline: number;
  /** The cluster, which its replicas share, and the database in it. */
  systemIdentifier: string;
  databaseOid: number;
}

export interface ReplayOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** The replica responds but must not be used; the message says why. */
export class UnusableReplica extends Error {}

/** Reads the primary's position, behind everything committed before the call. Throws if the server is not a primary. */
export async function readPrimaryPosition(sql: Sql): Promise<WalPosition> {
  const [position] = await sql<[WalPosition]>`
    select
      case
        when pg_current_wal_flush_lsn() = pg_current_wal_insert_lsn() then pg_current_wal_flush_lsn()
        else pg_logical_emit_message(true, 'ulr', ''::text)
      end::text as lsn,
      ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int as timeline,
      (select system_identifier::text from pg_control_system()) as system_identifier,
      (select oid from pg_database where datname = current_database()) as database_oid
    -- The message is flushed with its commit, but no synchronous standby is waited for, which may be away.
    from set_config('synchronous_commit', 'local', true)`;
  return position;
}

/**
 * Waits until the server that `sql` leads to has replayed the position. Throws `UnusableReplica` if it does not in
 * time, or if it is no replica of the primary that the position is of.
 */
export async function waitForReplay(
  sql: Sql,
  position: WalPosition,
  { timeoutMs, signal }: ReplayOptions,
): Promise<void> {
  const begun = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const { isReplayed, problem } = await compareReplica(sql, position);
    if (problem !== null) throw new UnusableReplica(problem);
    if (isReplayed) return;
    if (performance.now() - begun > timeoutMs) {
      throw new UnusableReplica(`the replica has not replayed ${position.lsn} within ${timeoutMs} ms`);
    }
    await Bun.sleep(pauseMs);
    signal?.throwIfAborted();
  }
}

interface Comparison {
  isReplayed: boolean;
  /** Why the replica's positions do not compare; `null` if they do. */
  problem: string | null;
}

/** Reads the position first and the timeline second: a replica only moves to later timelines. */
async function compareReplica(sql: Sql, position: WalPosition): Promise<Comparison> {
  const [row] = await sql<[Comparison]>`
    select
      coalesce(pg_last_wal_replay_lsn() >= ${position.lsn}::pg_lsn, false) as is_replayed,
      case
        when not pg_is_in_recovery()
          then 'DATABASE_REPLICA_URL leads to a server that is not a replica, or was promoted'
        when (select system_identifier::text from pg_control_system()) <> ${position.systemIdentifier}
          or (select oid from pg_database where datname = current_database()) <> ${position.databaseOid}::oid
          then 'DATABASE_REPLICA_URL leads to a replica of another database'
        when not exists (
          select from pg_stat_wal_receiver where status = 'streaming' and received_tli = ${position.timeline}::int
        )
          then 'the replica does not stream timeline ' || ${position.timeline}::int || ' from the primary now; '
            'if it does, grant pg_read_all_stats to the role in DATABASE_REPLICA_URL'
      end as problem`;
  return row;
}
