/** `tracker check`: compares the tracker tables, or views, with what exports need. */

import { listTrackerDifferences } from "../../sql/tracker/tracker_differences.ts";
import { listTrackerWriters } from "../../sql/tracker/tracker_sources.ts";
import { trackerIsTables } from "../../sql/tracker/tracker_tables.ts";
import { AdminError, defineCommand } from "./command.ts";

export const checkTrackerCommand = defineCommand({
  name: "tracker check",
  about:
    "Compares the tracker tables, or the views in TRACKER_SCHEMA, with the columns, types, keys, indexes and triggers that " +
    "exports need. Prints one line per difference, or the roles that may write.",
  flags: {},
  async run({ sql, config }) {
    const { trackerSchema } = config;
    const differences = await sql.begin("read only", (tx) => listTrackerDifferences(tx, trackerSchema));
    if (differences.length > 0) throw new AdminError(differences.join("\n"), "TRACKER_DIFFERS");
    const kind = (await trackerIsTables(sql, trackerSchema)) ? "tables" : "views";
    const writers = await listTrackerWriters(sql, trackerSchema);
    const text = [
      `The eight tracker ${kind} in schema "${trackerSchema}" have what exports need.`,
      `Roles that may write them, beside their owner: ${writers.join(", ") || "none"}`,
    ].join("\n");
    return { json: { schema: trackerSchema, kind, differences, writers }, text };
  },
});
