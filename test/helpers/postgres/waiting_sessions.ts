/** Sessions that wait for a lock. `pg_locks` alone shows those of all databases of the server, where other tests run. */
import type { Sql } from "../../../sql/connection/pool.ts";

/** Lists the sessions of this database that wait for a lock, or for one on `table`. */
export async function listWaiting(sql: Sql, table?: string): Promise<readonly { pid: number }[]> {
  return sql<{ pid: number }[]>`
    select distinct l.pid
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    where a.datname = current_database()
      and not l.granted
      ${table === undefined ? sql`` : sql`and l.relation = ${table}::regclass`}`;
}
