/** Describes in one line why the database rejects a process. */
import { hasSqlState, isConnectionError } from "./pool.ts";

/** Wrong password, role that may not connect, unknown database. */
const REFUSALS = ["28P01", "28000", "3D000"];

/** Returns the line for a database that is unavailable or rejects the connection; null for any other error. */
export function describeConnectionFailure(error: unknown): string | null {
  const text = (error instanceof Error ? error.message : "").split("\n")[0] || "no connection";
  if (hasSqlState(error, ...REFUSALS)) return `Cannot open the database: ${text}`;
  return isConnectionError(error) ? `Cannot reach the database: ${text}` : null;
}
