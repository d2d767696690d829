/** Creates a tracker with its own schema, table names and types, and the views from which exports read it. */
import { EXPORT_DATASETS } from "../../../shared/exports/datasets.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

export const FOREIGN_SCHEMA = "acme_exports";

/**
 * Moves the rows of the tracker tables into `acme.t_<table>`, where columns have other names, ids are text and the time
 * column of each dataset has no time zone. Views in FOREIGN_SCHEMA convert the rows back. Expression indexes provide
 * the sort order of exports. Triggers check the time column as they do on the original tables.
 */
export async function moveToForeignTracker(owner: Pool): Promise<void> {
  await owner.unsafe(`create schema acme; create schema ${FOREIGN_SCHEMA}`);
  for (const { table, timeColumn } of Object.values(EXPORT_DATASETS)) {
    const rows = await owner<{ name: string; type: string }[]>`
      select attname as name, format_type(atttypid, atttypmod) as type
      from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      order by attnum`;
    const stored = rows.map(({ name, type }) => {
      if (type === "uuid") return `"${name}"::text as "x_${name}"`;
      if (name === timeColumn) return `"${name}" at time zone 'UTC' as "x_${name}"`;
      return `"${name}" as "x_${name}"`;
    });
    const shown = rows.map(({ name, type }) => {
      if (type === "uuid") return `"x_${name}"::uuid as "${name}"`;
      if (name === timeColumn) return `"x_${name}" at time zone 'UTC' as "${name}"`;
      return `"x_${name}" as "${name}"`;
    });
    await owner.unsafe(`
      create table acme.t_${table} as select ${stored.join(", ")} from public.${table};
      create index on acme.t_${table}
        ((x_project_id::uuid), (x_${timeColumn} at time zone 'UTC'), (x_id::uuid));
      create view ${FOREIGN_SCHEMA}.${table} as select ${shown.join(", ")} from acme.t_${table};
      create trigger t_${table}_time_insert_trigger after insert on acme.t_${table} for each row
      when (new.x_${timeColumn} <> (now() at time zone 'UTC')::timestamp(3)
        and current_setting('ulr.backfill', true) is distinct from 'on')
      execute function refuse_wrong_time('x_${timeColumn}');
      create trigger t_${table}_time_update_trigger after update on acme.t_${table} for each row
      when (new.x_${timeColumn} <> old.x_${timeColumn} and current_setting('ulr.backfill', true) is distinct from 'on')
      execute function refuse_wrong_time('x_${timeColumn}')`);
  }
  for (const table of [
    "occurrences",
    "issue_notes",
    "status_history",
    "agent_snapshots",
    "analysis_summaries",
  ]) {
    await owner.unsafe(`delete from public.${table}`);
  }
  await owner.unsafe(`
    delete from public.analysis_records; delete from public.issues; delete from public.runs;
    grant usage on schema ${FOREIGN_SCHEMA} to ulr_app;
    grant select on all tables in schema ${FOREIGN_SCHEMA} to ulr_app`);
}
