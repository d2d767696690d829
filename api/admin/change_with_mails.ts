/** Runs a change that queues mails. */
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { type Boss, openQueue } from "../../sql/job_queue.ts";

/** Runs `change` in a transaction. The job runner sends the mails that `change` queues. */
export async function changeWithMails<Result>(
  sql: Pool,
  change: (tx: Sql, boss: Boss) => Promise<Result>,
): Promise<Result> {
  // No error handler is needed, because the awaited calls below throw their own errors.
  const boss = await openQueue(sql, () => {});
  try {
    // The cast is safe, because `begin` unwraps only arrays.
    return (await sql.begin((tx) => change(tx, boss))) as Result;
  } finally {
    await boss.stop({ graceful: false });
  }
}
