/** Finds sessions that wait for a lock. `pg_locks` alone would include the databases of other tests. */
import type { Sql } from "../../../sql/connection/pool.ts";
import { waitFor } from "../wait_for.ts";
import type { TestDatabase } from "./database.ts";

/** Lists this database's sessions that wait for a lock; with `table`, only those that wait for a lock on that table. */
export async function listWaiting(sql: Sql, table?: string): Promise<readonly { pid: number }[]> {
  return sql<{ pid: number }[]>`
    select distinct l.pid
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    where a.datname = current_database()
      and not l.granted
      ${table === undefined ? sql`` : sql`and l.relation = ${table}::regclass`}`;
}

/**
 * Makes a change in a transaction, then starts a request. Commits the change once the request waits for a lock, or has
 * finished.
 */
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
    // Returns an object, because `begin` would await a promise before it commits.
    return { running };
  });
  return running;
}
