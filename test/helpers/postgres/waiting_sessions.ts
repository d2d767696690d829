/** Sessions that wait for a lock. `pg_locks` alone would include the databases of other tests. */
import type { Sql } from "../../../sql/connection/pool.ts";

/** Lists this database's sessions that wait for a lock, or for a lock on `table`. */
export async function listWaiting(sql: Sql, table?: string): Promise<readonly { pid: number }[]> {
  return sql<{ pid: number }[]>`
    select distinct l.pid
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    where a.datname = current_database()
      and not l.granted
      ${table === undefined ? sql`` : sql`and l.relation = ${table}::regclass`}`;
}
