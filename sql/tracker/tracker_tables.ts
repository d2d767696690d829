/** Builds the SQL names of the eight tracker tables or views, and finds the relations beneath views. */
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import type { Sql } from "../connection/pool.ts";

/** Schema of the tables that migrations create, and that `import` and `demo seed` write. */
export const OWN_TRACKER_SCHEMA = "public";

/** Unqualified table names, in the order of the datasets. */
export const TRACKER_TABLE_NAMES: readonly string[] = Object.values(EXPORT_DATASETS).map(
  ({ table }) => table,
);

/**
 * Returns the qualified, quoted name of a tracker table. The name must not depend on the search path: a tracker's own schema may
 * have a table `projects` or `users`, and a pooler in transaction mode keeps no session settings.
 */
export function trackerTable(schema: string, table: string): string {
  return `${quoteName(schema)}.${quoteName(table)}`;
}

/** Returns the qualified names of all eight tables. */
export function trackerTables(schema: string): string[] {
  return TRACKER_TABLE_NAMES.map((table) => trackerTable(schema, table));
}

/** Returns whether all eight relations are tables, partitioned or not. Views have neither our triggers nor our log of changes. */
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

/**
 * Allows rows with old times in this transaction. Call inside a transaction. The setting is propagated to the nodes of a Citus
 * cluster.
 */
export async function allowBackfill(tx: Sql): Promise<void> {
  await tx`set local citus.propagate_set_commands = 'local'`;
  await tx`set local ulr.backfill = 'on'`;
}

/**
 * Returns the common table expression `tracker (oid)`, for `with recursive`. It has the named relations, their partitions, and all
 * relations that their views read, directly or through other views.
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
 * Returns a query, `(view, function)`, for the functions that views of `tracker` call and that may read tables. The source of the
 * rows of such a view is unknown. The PostgreSQL catalog does not record calls of built-in functions. Immutable C functions are
 * excluded, because they only convert values.
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
