/** Finds writes on the nodes of a Citus cluster whose session on the coordinator has ended. */
import type { Node } from "../connection/nodes.ts";
import type { Sql } from "../connection/pool.ts";

export interface AbandonedCitusWrite {
  /** Process id of the session on the node; null for prepared transactions, which have no session. */
  pid: number | null;
  /** What the write is and which node it is on, for the log. */
  what: string;
}

/** The writes that belong to open sessions of the coordinator. */
interface LiveWork {
  pids: number[];
  /** Open distributed transactions as `pid_number`. Their prepared transactions end when they do. */
  transactions: string[];
}

/**
 * Returns the writes that no open session of the coordinator accounts for: prepared transactions with tracker rows, left by
 * a crash of the coordinator, and statements that still run after their session ended. The start of their transactions is
 * unknown; the caller decides what follows from that. Throws NodeUnavailable if a node cannot be reached.
 */
export async function listAbandonedCitusWrites(
  sql: Sql,
  nodes: readonly Node[],
): Promise<AbandonedCitusWrite[]> {
  if (nodes.length === 0) return [];
  const [live] = await sql<[LiveWork]>`
    select
      array(select pid from pg_stat_get_activity(null)) as pids,
      array(select process_id || '_' || transaction_number from get_all_active_transactions()) as transactions`;
  const found = await Promise.all(nodes.map((node) => listOnNode(node, live)));
  return found.flat();
}

async function listOnNode(node: Node, { pids, transactions }: LiveWork): Promise<AbandonedCitusWrite[]> {
  const rows = await node.ask(
    (sql) => sql<AbandonedCitusWrite[]>`
      select null::int as pid, 'prepared transaction ' || x.gid as what
      from pg_prepared_xacts as x
      where x.database = current_database()
        and coalesce(substring(x.gid from '^citus_0_(\\d+_\\d+)_') <> all (${transactions}::text[]), true)
        and (
          -- Without the coordinator's metadata, the node cannot tell which of its tables are shards of the tracker.
          not exists (select from pg_dist_partition where logicalrelid = to_regclass('public.runs'))
          or exists (
            -- A transaction keeps its virtual id, with its locks, when it is prepared.
            select from pg_locks as own
            join pg_locks as written on written.virtualtransaction = own.virtualtransaction
            where own.locktype = 'transactionid' and own.transactionid = x.transaction
              and written.mode = 'RowExclusiveLock'
              and written.database = (select oid from pg_database where datname = current_database())
              and written.relation in (
                select to_regclass(shard_name(s.logicalrelid, s.shardid))
                from pg_dist_shard as s
                join pg_dist_partition as p on p.logicalrelid = s.logicalrelid
                join pg_dist_partition as runs on runs.colocationid = p.colocationid
                where runs.logicalrelid = to_regclass('public.runs')
              )
          )
        )
      union all
      select a.pid, a.application_name
      from pg_stat_get_activity(null) as a
      where a.datid = (select oid from pg_database where datname = current_database())
        and a.application_name like 'citus\\_internal gpid=%'
        -- Nobody sends another statement to a session that waits for one.
        and a.wait_event is distinct from 'ClientRead'
        and citus_pid_for_gpid(substring(a.application_name from '\\d+$')::bigint) <> all (${pids}::int[])`,
  );
  return rows.map((row) => ({ ...row, what: `${row.what} on ${node.name}` }));
}
