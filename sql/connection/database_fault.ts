/** Which errors of the database pass, what to run again after them, and how a process describes them. */
import { pause } from "../../shared/process/with_timeout.ts";
import { NodeUnavailable } from "./nodes.ts";
import {
  DEADLOCK_DETECTED,
  hasSqlState,
  isConnectionError,
  LOCK_NOT_AVAILABLE,
  type Pool,
  type Transaction,
} from "./pool.ts";

const PAUSE_MS = 1000;

const DISK_FULL = "53100";
const IO_ERROR = "58030";
/** After a failover, a connection may have reached the server that is now a standby. */
const READ_ONLY = "25006";

/** Nothing was changed, and the same statement can succeed later. */
const PASSING = [DEADLOCK_DETECTED, DISK_FULL, IO_ERROR, LOCK_NOT_AVAILABLE, READ_ONLY];

/** Returns true if the error says something about the database's state, and nothing about the statement. */
export function isDatabaseFault(error: unknown): boolean {
  if (error instanceof NodeUnavailable) return true;
  return isConnectionError(error) || hasSqlState(error, ...PASSING);
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
    await pause(PAUSE_MS, signal);
  }
}

/** Wrong password, role that may not connect, unknown database. */
const REFUSALS = ["28P01", "28000", "3D000"];

/** Returns the line for a database that is unavailable or rejects the connection; null for any other error. */
export function describeConnectionFailure(error: unknown): string | null {
  const text = (error instanceof Error ? error.message : "").split("\n")[0] || "no connection";
  if (hasSqlState(error, ...REFUSALS)) return `Cannot open the database: ${text}`;
  return isConnectionError(error) ? `Cannot reach the database: ${text}` : null;
}

const MAX_TRIES = 3;

/**
 * Runs a transaction, again after a deadlock, which has rolled it back. Throws the third deadlock in a row, and every other
 * error at once.
 */
export async function beginAndRetry<Result>(
  sql: Pool,
  transaction: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      // The driver's return type unwraps arrays of queries; these transactions return none.
      return (await sql.begin(transaction)) as Result;
    } catch (error) {
      if (!hasSqlState(error, DEADLOCK_DETECTED) || tries === MAX_TRIES) throw error;
    }
  }
}
