/** Checks the beginning of an increment. */
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { isChangeLogKept } from "../../sql/exports/tracker_changes.ts";
import { OWN_TRACKER_SCHEMA } from "../../sql/tracker/tracker_tables.ts";
import { invalidInput } from "../http/validation_problems.ts";

/**
 * Throws VALIDATION_ERROR if an increment from `since` to `asOf` cannot be exact, so that the caller has to take a full
 * export: with `details.reason: "since_too_old"`, or without if changes are not logged at all.
 */
export async function requireSince(
  { sql, config }: { sql: Sql; config: Pick<Config, "trackerSchema"> },
  { since, asOf }: { since: string; asOf: string },
): Promise<void> {
  if (config.trackerSchema !== OWN_TRACKER_SCHEMA) {
    const message = "is not available: this service does not log changes of its tracker. Take a full export";
    throw invalidInput([{ path: "since", message }]);
  }
  if (since > asOf) throw sinceError(`must not be later than the cutoff, ${asOf}`);
  if (!(await isChangeLogKept(sql, since))) {
    throw sinceError(
      "must be within the last 90 days, because older changes are deleted. Take a full export",
    );
  }
}

function sinceError(message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", {
    message: `Invalid request: since ${message}`,
    details: { reason: "since_too_old", errors: [{ path: "since", message }] },
  });
}
