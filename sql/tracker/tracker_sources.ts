/** Checks the sources of the tracker relations of a database: the tables beneath views, their triggers, rows and writers. */
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import type { Sql, Transaction } from "../connection/pool.ts";
import { trackerRelations, trackerTable, trackerTables, unknownFunctionCalls } from "./tracker_tables.ts";

/** Maximum number of rows of a view that are searched for nulls. */
const NULL_SAMPLE = 10_000;

/** Returns a line for each foreign table, materialized view, table with row security and unknown function call beneath views. */
export async function listUnsafeSources(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ name: string; kind: string }[]>`
    with recursive ${trackerRelations(sql, trackerTables(schema))}
    select c.oid::regclass::text as name, c.relkind::text as kind
    from tracker as t
    join pg_class as c on c.oid = t.oid
    where c.relkind in ('m', 'f') or c.relrowsecurity
    order by 1`;
  const calls = await sql<{ view: string; functionName: string }[]>`
    with recursive ${trackerRelations(sql, trackerTables(schema))}
    select distinct call.view::regclass::text as view, call.function::regprocedure::text as function_name
    from (${unknownFunctionCalls(sql)}) as call
    order by 1, 2`;
  return [
    ...rows.map(({ name, kind }) => {
      if (kind === "f") return `${name}: a foreign table; its writers are invisible, so no cutoff is settled`;
      if (kind === "m") return `${name}: a materialized view; rows appear at a refresh, after the cutoff`;
      return `${name}: row security; a policy may show rows after the cutoff`;
    }),
    ...calls.map(
      ({ view, functionName }) =>
        `${view}: calls ${functionName}, which may read any table; every open transaction holds the cutoff back`,
    ),
  ];
}

/**
 * Returns a line for each missing trigger against wrong times on a table beneath a view. If a view reads times from only some of
 * its tables, the other tables are lookups and are not checked.
 */
export async function listUnguardedSources(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ name: string; timing: string }[]>`
    with recursive beneath (view, oid) as (
      select c.oid, c.oid
      from pg_class as c
      where c.oid = any (${trackerTables(schema)}::text[]::regclass[]) and c.relkind = 'v'
      union
      select b.view, d.refobjid
      from beneath as b
      join pg_rewrite as r on r.ev_class = b.oid and r.ev_type = '1'
      join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
    ),
    sources as (
      select b.view, b.oid, exists (
        select
        from beneath as reader
        join pg_rewrite as r on r.ev_class = reader.oid and r.ev_type = '1'
        join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refobjid = b.oid
        join pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where reader.view = b.view and a.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype)
      ) as has_time
      from beneath as b
      join pg_class as c on c.oid = b.oid and c.relkind in ('r', 'p')
    ),
    rows as (
      select oid, has_time or not bool_or(has_time) over (partition by view) as is_guarded from sources
    )
    select distinct s.oid::regclass::text as name, timing.name as timing
    from rows as s
    cross join (values ('insert', 4), ('update', 16)) as timing (name, bit)
    where s.is_guarded
      and not exists (
        select
        from pg_trigger as t
        join pg_proc as p on p.oid = t.tgfoid
        where t.tgrelid = s.oid and p.proname = 'refuse_wrong_time' and t.tgenabled in ('O', 'A')
          and t.tgtype & timing.bit > 0
      )
    order by 1, 2`;
  return rows.map(
    ({ name, timing }) =>
      `${name}: no enabled ${timing} trigger that executes refuse_wrong_time; a wrong time is accepted, and the same as_of may name other rows`,
  );
}

/** Returns a line for each required column of a view that has nulls in the sampled rows, and for each view that cannot be read. */
export async function listNulls(
  tx: Transaction,
  schema: string,
  views: readonly string[],
): Promise<string[]> {
  const lines: string[] = [];
  const datasets = Object.values(EXPORT_DATASETS);
  for (const { table, columns } of datasets.filter((dataset) => views.includes(dataset.table))) {
    const required = columns.filter(({ nullable }) => !nullable).map(({ column }) => column);
    const names = [...new Set(["project_id", ...required])];
    const nulls = names.map((name) => `bool_or("${name}" is null) as "${name}"`);
    const query = `select ${nulls.join(", ")}
      from (select * from ${trackerTable(schema, table)} limit ${NULL_SAMPLE}) as sample`;
    try {
      const [row = {}] = await tx.savepoint((sample) => sample.unsafe<Record<string, boolean>[]>(query));
      const hasNull = Object.values(row);
      const found = names.filter((_, index) => hasNull[index]);
      lines.push(
        ...found.map(
          (name) =>
            `${table}.${name}: has nulls; exports promise a value, and a null reference hides the row`,
        ),
      );
    } catch (error) {
      lines.push(`${table}: cannot be read (${(error as Error).message}); exports of this dataset fail`);
    }
  }
  return lines;
}

/** Returns the roles that may write tracker rows, except superusers, owners of the tables and PostgreSQL's predefined roles. */
export async function listTrackerWriters(sql: Sql, schema: string): Promise<string[]> {
  const rows = await sql<{ role: string }[]>`
    with recursive ${trackerRelations(sql, trackerTables(schema))}
    select distinct r.rolname as role
    from tracker as t
    join pg_class as c on c.oid = t.oid
    cross join pg_roles as r
    where not r.rolsuper and r.rolname not like 'pg\\_%' and not pg_has_role(r.oid, c.relowner, 'member')
      and (
        has_table_privilege(r.oid, c.oid, 'insert, update, delete')
        or has_any_column_privilege(r.oid, c.oid, 'insert, update')
      )
    order by 1`;
  return rows.map(({ role }) => role);
}
