/** The error of exports while the tracker's tables or views are missing. */
import type { Config } from "../../shared/process/config.ts";
import { hasSqlState, type Sql } from "../../sql/connection/pool.ts";
import { isTrackerReadable } from "../../sql/tracker/tracker_differences.ts";
import { unavailable } from "../http/error_handler.ts";

/** SQLSTATEs insufficient_privilege, undefined_table and invalid_schema_name. */
const UNREADABLE = ["42501", "42P01", "3F000"];
const MESSAGE =
  "The tracker's tables cannot be read, so nothing can be exported. Ask the operator of this service to restore them.";

interface TrackerDeps {
  sql: Sql;
  config: Pick<Config, "trackerSchema">;
}

/** Throws SERVICE_UNAVAILABLE if the tracker's tables cannot be read: a job would be queued and fail. */
export async function requireTracker({ sql, config }: TrackerDeps): Promise<void> {
  if (!(await isTrackerReadable(sql, config.trackerSchema))) throw unavailable(null, MESSAGE);
}

/** Returns SERVICE_UNAVAILABLE for a query that failed because the tracker's tables were removed, or else `error` itself. */
export async function explainMissingTracker({ sql, config }: TrackerDeps, error: unknown): Promise<unknown> {
  if (!hasSqlState(error, ...UNREADABLE)) return error;
  return (await isTrackerReadable(sql, config.trackerSchema)) ? error : unavailable(error, MESSAGE);
}
