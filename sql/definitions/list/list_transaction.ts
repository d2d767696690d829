/** The transaction for lists of definitions, with planner settings and a timeout. */
import type { Pool, Sql } from "../../connection/pool.ts";

/** Timeout of one statement of a list. */
export const LIST_TIMEOUT_MS = 5_000;

/**
 * Runs `read` in a read-only transaction. Rejects with SQLSTATE 57014 if a statement takes longer than `LIST_TIMEOUT_MS`.
 *
 * Statements are planned for their values, because the number of matches decides which index is best. Rows are mostly in
 * memory, where reading a page is cheap and comparing the words of a row is the main cost.
 */
export async function withListSettings<Result>(
  sql: Pool,
  read: (tx: Sql) => Promise<Result>,
): Promise<Result> {
  const result = await sql.begin("read only", async (tx) => {
    // Sent together with the first statement of `read`, which saves a round trip.
    const settings = tx`
      select
        set_config('statement_timeout', ${String(LIST_TIMEOUT_MS)}, true),
        set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('random_page_cost', '0.1', true),
        set_config('seq_page_cost', '0.1', true),
        set_config('max_parallel_workers_per_gather', '0', true),
        set_config('jit', 'off', true)`.execute();
    const [value] = await Promise.all([read(tx), settings]);
    return { value };
  });
  return result.value;
}
