/** Counts the rows that a step reads, with PostgreSQL's own counters. */
import type { Sql } from "../../../sql/connection/pool.ts";

/**
 * Runs a step in the caller's transaction. Returns the step's result and the number of rows that the step read from
 * these tables. PostgreSQL's counters may include reads of the session's earlier transactions, so this function returns
 * the difference.
 */
export async function countReads<Result>(
  tx: Sql,
  tables: readonly string[],
  step: () => Promise<Result>,
): Promise<{ result: Result; rows: number }> {
  const countSoFar = async (): Promise<number> => {
    const [read] = await tx<[{ rows: number }]>`
      select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as rows
      from pg_stat_xact_user_tables
      where relname = any(${[...tables]})`;
    return read.rows;
  };
  const before = await countSoFar();
  const result = await step();
  return { result, rows: (await countSoFar()) - before };
}
