/** Sessions that wait for a lock. `pg_locks` alone would include the databases of other tests. */
import type { Sql } from "../../../sql/connection/pool.ts";
import { waitFor } from "../wait_for.ts";
import type { TestDatabase } from "./database.ts";

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

/** Begins a change, then a request, and commits the change once the request waits for it, or has ended. */
export async function commitDuring<Result>(
  db: Pick<TestDatabase, "sql" | "admin">,
  change: (tx: Sql) => Promise<unknown>,
  request: () => Promise<Result>,
): Promise<Result> {
  const { running } = await db.sql.begin(async (tx) => {
    await change(tx);
    let isOver = false;
    const running = request().finally(() => {
      isOver = true;
    });
    await waitFor(async () => isOver || (await listWaiting(db.admin)).length > 0);
    // In an object: otherwise the commit would wait for the request.
    return { running };
  });
  return running;
}
