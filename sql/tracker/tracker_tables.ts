/** Names the eight tracker tables, or the views that stand for them, in SQL text. */
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import type { Sql } from "../connection/pool.ts";

/** The tables that migrations create, and that `import` and `demo seed` write. */
export const OWN_TRACKER_SCHEMA = "public";

/** Unqualified, in the order of the datasets. */
export const TRACKER_TABLE_NAMES: readonly string[] = EXPORT_DATASET_NAMES.map(
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

/** Whether all eight are tables, partitioned or not. Views have neither our triggers nor our change columns. */
export async function trackerIsTables(sql: Sql, schema: string): Promise<boolean> {
  const [row] = await sql<[{ tables: number }]>`
    select count(*)::int as tables
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = any (${[...TRACKER_TABLE_NAMES]}) and c.relkind in ('r', 'p')`;
  return row.tables === TRACKER_TABLE_NAMES.length;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Call inside a transaction. On a Citus cluster, the nodes have to know it too. */
export async function allowBackfill(tx: Sql): Promise<void> {
  await tx`set local citus.propagate_set_commands = 'local'`;
  await tx`set local ulr.backfill = 'on'`;
}
