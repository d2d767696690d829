/** Faults of the database that pass: it cannot be reached, or it has no room. */
import { setTimeout as delay } from "node:timers/promises";
import { NodeUnavailable } from "./nodes.ts";
import { hasSqlState, isConnectionError } from "./pool.ts";

const PAUSE_MS = 1000;

const DISK_FULL = "53100";
const IO_ERROR = "58030";
/** After a failover, a connection may have reached the server that is now a standby. */
const READ_ONLY = "25006";

/** Returns true if the error says something about the database's state, and nothing about the statement. */
export function isDatabaseFault(error: unknown): boolean {
  if (error instanceof NodeUnavailable) return true;
  return isConnectionError(error) || hasSqlState(error, DISK_FULL, IO_ERROR, READ_ONLY);
}

/**
 * Runs `step` again every second until a fault of the database does not stop it. Throws every other error at once, and
 * the fault once `signal` is aborted. The step must be safe to run twice: when a connection is lost, the outcome of its
 * last statement is unknown.
 */
export async function retryOnDatabaseFault<Result>(
  step: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  while (true) {
    try {
      return await step();
    } catch (error) {
      if (!isDatabaseFault(error) || signal.aborted) throw error;
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
