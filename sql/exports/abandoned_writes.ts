/** Finds what is written on the nodes of a Citus cluster for sessions of the coordinator that have ended. */
import type { Node } from "../connection/nodes.ts";
import type { Sql } from "../connection/pool.ts";

export interface AbandonedWrite {
  /** Of the session on the node; null for prepared transactions, which have none. */
  pid: number | null;
  /** What it is, and on which node. */
  what: string;
  since: string;
}

/** What the sessions of the coordinator tell of. */
interface LiveWork {
  pids: number[];
  /** Transactions over nodes, `pid_number`: their prepared transactions end with them. */
  transactions: string[];
}

/**
 * Returns what no session of the coordinator tells of any more: prepared transactions that it has left behind when it
 * crashed, and statements that run to their end without it. When their transactions started is unknown; what follows from
 * that is the caller's. Throws NodeUnavailable if a node cannot be asked.
 */
export async function listAbandonedWrites(sql: Sql, nodes: readonly Node[]): Promise<AbandonedWrite[]> {
  if (nodes.length === 0) return [];
  const [live] = await sql<[LiveWork]>`
    select
      array(select pid from pg_stat_get_activity(null)) as pids,
      array(select process_id || '_' || transaction_number from get_all_active_transactions()) as transactions`;
  const found = await Promise.all(nodes.map((node) => listOnNode(node, live)));
  return found.flat();
}

async function listOnNode(node: Node, { pids, transactions }: LiveWork): Promise<AbandonedWrite[]> {
  const rows = await node.ask(
    (sql) => sql<AbandonedWrite[]>`
      select null::int as pid, 'prepared transaction ' || x.gid as what, x.prepared as since
      from pg_prepared_xacts as x
      where x.database = current_database()
        and coalesce(substring(x.gid from '^citus_0_(\\d+_\\d+)_') <> all (${transactions}::text[]), true)
      union all
      select a.pid, a.application_name, a.backend_start
      from pg_stat_get_activity(null) as a
      where a.datid = (select oid from pg_database where datname = current_database())
        and a.application_name like 'citus\\_internal gpid=%'
        -- Nobody sends another statement to a session that waits for one.
        and a.wait_event is distinct from 'ClientRead'
        and citus_pid_for_gpid(substring(a.application_name from '\\d+$')::bigint) <> all (${pids}::int[])`,
  );
  return rows.map((row) => ({ ...row, what: `${row.what} on ${node.name}` }));
}
