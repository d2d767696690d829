/** Names the eight tracker tables, or the views that stand for them, in SQL text, and finds the tables below them. */
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import type { Sql } from "../connection/pool.ts";

/** The tables that migrations create, and that `import` and `demo seed` write. */
export const OWN_TRACKER_SCHEMA = "public";

/** Unqualified, in the order of the datasets. */
export const TRACKER_TABLE_NAMES: readonly string[] = Object.values(EXPORT_DATASETS).map(
  ({ table }) => table,
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

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Call inside a transaction. On a Citus cluster, the nodes have to know it too. */
export async function allowBackfill(tx: Sql): Promise<void> {
  await tx`set local citus.propagate_set_commands = 'local'`;
  await tx`set local ulr.backfill = 'on'`;
}

/**
 * Returns the common table expression `tracker (oid)`, for `with recursive`: the named relations, their partitions, and
 * whatever their views read, through any number of views.
 */
export function trackerRelations(sql: Sql, tables: readonly string[]) {
  return sql`tracker (oid) as (
    select name::regclass::oid from unnest(${[...tables]}::text[]) as name
    union
    select below.oid
    from tracker as t
    cross join lateral (
      select i.inhrelid from pg_inherits as i where i.inhparent = t.oid
      union all
      select d.refobjid
      from pg_rewrite as r
      join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
      where r.ev_class = t.oid and r.ev_type = '1' and d.refclassid = 'pg_class'::regclass
    ) as below (oid)
  )`;
}

/**
 * Returns a query, `(view, function)`: the functions that views of `tracker` call and that may read tables, so that it is
 * unknown where their rows are. The catalog lists what a view calls except for PostgreSQL's own functions; immutable ones in
 * C convert values.
 */
export function unknownFunctionCalls(sql: Sql) {
  return sql`
    select r.ev_class as view, p.oid as function
    from tracker as t
    join pg_rewrite as r on r.ev_class = t.oid and r.ev_type = '1'
    join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    left join pg_operator as o on d.refclassid = 'pg_operator'::regclass and o.oid = d.refobjid
    join pg_proc as p on p.oid = case when d.refclassid = 'pg_proc'::regclass then d.refobjid else o.oprcode end
    join pg_language as l on l.oid = p.prolang
    where not (l.lanname in ('c', 'internal') and p.provolatile = 'i' and p.prokind = 'f')`;
}
