/** Names the eight tracker tables, or the views that stand for them, in SQL text. */
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";

/** The tables that migrations create, and that `import` and `demo seed` write. */
export const OWN_TRACKER_SCHEMA = "public";

/** Unqualified, in the order of the datasets. */
const TRACKER_TABLE_NAMES: readonly string[] = EXPORT_DATASET_NAMES.map(
  (name) => EXPORT_DATASETS[name].table,
);

/**
 * Returns the qualified, quoted name of a tracker table. The search path must not decide: a tracker's own schema may well
 * hold a table `projects` or `users`, and poolers keep no session settings.
 */
export function trackerTable(schema: string, table: string): string {
  return `${quoteName(schema)}.${quoteName(table)}`;
}

/** Returns the qualified names of all eight. */
export function trackerTables(schema: string): string[] {
  return TRACKER_TABLE_NAMES.map((table) => trackerTable(schema, table));
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
