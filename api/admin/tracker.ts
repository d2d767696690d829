/** `tracker check` checks the schema of the tracker tables or views. `tracker distribute` distributes tables over Citus nodes. */
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import {
  type Distribution,
  distributeTracker,
  isTrackerDistributed,
} from "../../sql/tracker/distribute_tracker.ts";
import { listTrackerDifferences } from "../../sql/tracker/tracker_differences.ts";
import { listTrackerWriters } from "../../sql/tracker/tracker_sources.ts";
import { OWN_TRACKER_SCHEMA, trackerIsTables } from "../../sql/tracker/tracker_tables.ts";
import { AdminError, defineCommand, requireOwnTracker } from "./command/command.ts";
import { withThousands } from "./command/format_output.ts";

export const TRACKER_COMMANDS = [
  defineCommand({
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
      const distributed = trackerSchema === OWN_TRACKER_SCHEMA && (await isTrackerDistributed(sql));
      const writers = await listTrackerWriters(sql, trackerSchema);
      const text = [
        `The eight tracker ${kind} in schema "${trackerSchema}" have what exports need.${distributed ? " They are distributed." : ""}`,
        `Roles that may write them, beside their owner: ${writers.join(", ") || "none"}`,
      ].join("\n");
      return { json: { schema: trackerSchema, kind, differences, writers }, text };
    },
  }),
  defineCommand({
    name: "tracker distribute",
    about:
      "Distributes the tracker tables over the nodes of a Citus cluster by their project, with the rows they hold, in one " +
      "transaction. Run it as their owner. Tables that are distributed already stay as they are (docs/scaling.md).",
    flags: {},
    async run({ sql, config, progress }) {
      requireOwnTracker(config, "tracker distribute");
      const distribution = await distributeTracker(sql, progress, recordDistribution);
      const { distributed, droppedKeys, shards, nodes } = distribution;
      const lines = [
        ...distributed.map(({ table, rows }) => `Distributed ${table}: ${withThousands(rows)} rows`),
        ...droppedKeys.map(
          (key) => `Dropped the foreign key ${key}: the table that it names stays on the coordinator`,
        ),
        ...(distributed.length === 0
          ? ["The tracker tables are distributed already. Nothing was changed."]
          : ["Restart the API and the job runners. Until then, their exports fail."]),
        `Each table has ${shards} shards on ${nodes} ${nodes === 1 ? "node" : "nodes"}.`,
      ];
      return { json: { distributed, droppedKeys, shards, nodes }, text: lines.join("\n") };
    },
  }),
];

async function recordDistribution(tx: Sql, { distributed, droppedKeys }: Distribution): Promise<void> {
  if (distributed.length === 0) return;
  await insertAuditEntry(tx, {
    actorType: "operator",
    action: "tracker.distribute",
    subject: { type: "schema", id: OWN_TRACKER_SCHEMA },
    details: {
      tables: distributed.map(({ table }) => table).join(", "),
      rows: distributed.reduce((sum, { rows }) => sum + rows, 0),
      droppedKeys: droppedKeys.join(", "),
    },
  });
}
