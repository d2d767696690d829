/** Finds transactions that must not stay open after an export, however the export ended. */
import { OWN_APPLICATION_NAMES } from "../../../sql/connection/application_names.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { waitFor } from "../wait_for.ts";
import type { TestDatabase } from "./database.ts";

/**
 * Lists the service's sessions that are idle in a transaction or running an export's COPY, with their last statement.
 * Excludes other active transactions, such as pg-boss's short ones.
 */
export async function listOpenTransactions(
  { sql }: TestDatabase,
  applications: readonly string[] = OWN_APPLICATION_NAMES,
): Promise<readonly string[]> {
  const rows = await sql<{ session: string }[]>`
    select concat_ws(' ', application_name, state, left(query, 60)) as session
    from pg_stat_activity
    where datname = current_database() and application_name in ${sql(applications)}
      and (state like 'idle in transaction%' or query like 'copy (%' and state <> 'idle')`;
  return rows.map(({ session }) => session);
}

/** Waits until no session of the service has an export's transaction open. */
export async function untilNoneIsOpen(db: TestDatabase, applications?: readonly string[]): Promise<void> {
  await waitFor(async () => (await listOpenTransactions(db, applications)).length === 0);
}

/** Takes all connections of a pool at the same time. Hangs if the pool has lost a connection. */
export async function takeEveryConnection(pool: Pool): Promise<void> {
  const all = Promise.withResolvers<void>();
  let taken = 0;
  const { max } = pool.options;
  await Promise.all(
    Array.from({ length: max }, () =>
      pool.begin(async (tx) => {
        await tx`select 1`;
        taken += 1;
        if (taken === max) all.resolve();
        await all.promise;
      }),
    ),
  );
}
