/** Recognizes temporary database errors, retries after them, and describes connection failures. */
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
/** SQLSTATE of a write on a read-only server. After a failover, a connection may lead to the new standby. */
const READ_ONLY = "25006";

/** SQLSTATEs of temporary errors. The statement changed nothing and can succeed later. */
const PASSING = [DEADLOCK_DETECTED, DISK_FULL, IO_ERROR, LOCK_NOT_AVAILABLE, READ_ONLY];

/** Returns true if an error is caused by the state of the database and not by the statement. */
export function isDatabaseFault(error: unknown): boolean {
  if (error instanceof NodeUnavailable) return true;
  return isConnectionError(error) || hasSqlState(error, ...PASSING);
}

/**
 * Runs `step`, and runs it again every second while it fails with a database fault. Throws any other error at once, and the fault
 * once `signal` is aborted. The step must be safe to repeat, because the outcome of its last statement is unknown when a connection
 * is lost.
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

/** SQLSTATEs of a wrong password, a role that may not connect, and an unknown database. */
const REFUSALS = ["28P01", "28000", "3D000"];

/** Returns an error message if the database is unavailable or rejects the connection; null for any other error. */
export function describeConnectionFailure(error: unknown): string | null {
  const text = (error instanceof Error ? error.message : "").split("\n")[0] || "no connection";
  if (hasSqlState(error, ...REFUSALS)) return `Cannot open the database: ${text}`;
  return isConnectionError(error) ? `Cannot reach the database: ${text}` : null;
}

const MAX_TRIES = 3;

/** Runs a transaction, and runs it again if a deadlock rolled it back. Throws the third deadlock, and any other error at once. */
export async function beginAndRetry<Result>(
  sql: Pool,
  transaction: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      // The driver's return type unwraps arrays of queries, but these transactions return no queries.
      return (await sql.begin(transaction)) as Result;
    } catch (error) {
      if (!hasSqlState(error, DEADLOCK_DETECTED) || tries === MAX_TRIES) throw error;
    }
  }
}
