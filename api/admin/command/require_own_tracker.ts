/** Rejects commands that write tracker rows while TRACKER_SCHEMA names the tables of somebody else. */
import type { Config } from "../../../shared/process/config.ts";
import { OWN_TRACKER_SCHEMA } from "../../../sql/tracker/tracker_tables.ts";
import { AdminError } from "./command.ts";

/** Throws before anything is written: exports would not show what the command writes. */
export function requireOwnTracker({ trackerSchema }: Pick<Config, "trackerSchema">, command: string): void {
  if (trackerSchema === OWN_TRACKER_SCHEMA) return;
  throw new AdminError(
    `Cannot run "${command}": it writes the tables in schema "${OWN_TRACKER_SCHEMA}", but TRACKER_SCHEMA is "${trackerSchema}", so ` +
      `exports would not have the rows. Unset TRACKER_SCHEMA, or let the tracker write them.`,
  );
}
