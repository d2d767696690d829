/** Finds the tables that tracker rows are stored in: partitions, and what views read. */
import type { Sql } from "../connection/pool.ts";

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
