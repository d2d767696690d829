/** Transactions that must be over after an export, however it ended. */
import { OWN_APPLICATION_NAMES } from "../../../sql/connection/application_names.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { waitFor } from "../wait_for.ts";
import type { TestDatabase } from "./database.ts";

/** The service's sessions in a transaction, except pg-boss's short ones, with their last statement. */
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

/** Waits until no session of the service is in an export. */
export async function untilNoneIsOpen(db: TestDatabase, applications?: readonly string[]): Promise<void> {
  await waitFor(async () => (await listOpenTransactions(db, applications)).length === 0);
}

/** Hangs if the pool has lost a connection. */
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
