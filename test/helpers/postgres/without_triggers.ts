/** Inserts many tracker rows quickly, without the triggers that log changes for increments. */
import type { Sql } from "../../../sql/connection/pool.ts";
import type { TestDatabase } from "./database.ts";

/** Runs `insert` in a transaction without triggers or foreign key checks. */
export async function withoutTriggers(
  { admin }: TestDatabase,
  insert: (tx: Sql) => Promise<unknown>,
): Promise<void> {
  await admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await insert(tx);
  });
}
