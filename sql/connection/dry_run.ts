/** Runs transactions that are always rolled back. */
import type { Pool, Sql } from "./pool.ts";

/** Carries the result out of the transaction, which an exception rolls back. */
class RolledBack<Result> extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super("The transaction was a dry run");
    this.result = result;
  }
}

/** Runs `attempt` in a transaction, rolls it back, and returns the result. Errors that it throws roll back too. */
export async function dryRun<Result>(sql: Pool, attempt: (tx: Sql) => Promise<Result>): Promise<Result> {
  try {
    await sql.begin(async (tx) => {
      throw new RolledBack(await attempt(tx));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    throw error;
  }
  throw new Error("Cannot end a dry run: the transaction was committed");
}
