/** Runs a change that queues mails. */
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { type Boss, openQueue } from "../../sql/job_queue.ts";

/** Runs `change` in a transaction. The job runner sends the mails that it queues. */
export async function changeWithMails<Result>(
  sql: Pool,
  change: (tx: Sql, boss: Boss) => Promise<Result>,
): Promise<Result> {
  // Errors need no handler here: the calls awaited below throw their own.
  const boss = await openQueue(sql, () => {});
  try {
    // Only arrays would be unwrapped.
    return (await sql.begin((tx) => change(tx, boss))) as Result;
  } finally {
    await boss.stop({ graceful: false });
  }
}
