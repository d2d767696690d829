/** Repeats a transaction that PostgreSQL has ended because of a deadlock. */
import { hasSqlState } from "./pool.ts";

const DEADLOCK_DETECTED = "40P01";
const MAX_TRIES = 3;

/**
 * Runs `transaction`, again after a deadlock, which has rolled it back. Throws the third deadlock in a row, and every other
 * error at once.
 */
export async function retryOnDeadlock<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (!hasSqlState(error, DEADLOCK_DETECTED) || tries === MAX_TRIES) throw error;
    }
  }
}
