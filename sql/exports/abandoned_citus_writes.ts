/** Finds writes on Citus nodes that are still open although their session on the coordinator has ended. */
import type { Node } from "../connection/nodes.ts";
import type { Sql } from "../connection/pool.ts";

export interface AbandonedCitusWrite {
  /** Process id of the session on the node; null for prepared transactions, which have no session. */
  pid: number | null;
  /** Description of the write and its node, for the log. */
  what: string;
}

/** Sessions and distributed transactions that are open on the coordinator. */
interface LiveWork {
  pids: number[];
  /** Open distributed transactions, as `pid_number`. Their prepared transactions end with them. */
  transactions: string[];
}

/**
 * Returns the writes on the nodes that belong to no open session of the coordinator. A write is either a prepared transaction
 * with tracker rows, left by a crash of the coordinator, or a statement that still runs after its session has ended. The
 * start time of its transaction is unknown. Throws NodeUnavailable if a node cannot be reached.
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
        -- An idle session receives no further statement.
        and a.wait_event is distinct from 'ClientRead'
        and citus_pid_for_gpid(substring(a.application_name from '\\d+$')::bigint) <> all (${pids}::int[])`,
  );
  return rows.map((row) => ({ ...row, what: `${row.what} on ${node.name}` }));
}
