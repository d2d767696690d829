/** Finds sessions that cannot write a tracker row. Their open transactions do not hold back a watermark. */
import { onlyValue, type Sql } from "../connection/pool.ts";
import { trackerRelations, unknownFunctionCalls } from "../tracker/tracker_tables.ts";

/** `security definer` functions of the service that write no tracker row. */
const HARMLESS_FUNCTIONS = ["seal_audit_log", "delete_old_audit_entries", "tracker_transaction_start"];

/**
 * Returns the pids of the sessions that cannot insert, update or delete rows of the tables, or of the tables below a view. The
 * check covers the session's role, the roles that it can switch to, and views, rules, triggers and functions that run with their
 * owner's rights. In doubt, a session counts as able to write.
 */
export async function listHarmlessSessions(
  sql: Sql,
  options: { sessions: readonly { pid: number; roleId: number }[]; tables: readonly string[] },
): Promise<ReadonlySet<number>> {
  const { sessions, tables } = options;
  const readOnly = await listReadOnlyRoles(sql, [...new Set(sessions.map(({ roleId }) => roleId))], tables);
  const candidates = sessions.filter(({ roleId }) => readOnly.has(roleId)).map(({ pid }) => pid);
  if (candidates.length === 0) return new Set();
  // Read after the rights: a session that wrote before its role lost the right still holds the lock of that write.
  const writing = await sql<{ pid: number }[]>`
    with recursive ${trackerRelations(sql, tables)}
    select distinct l.pid
    from pg_locks as l
    where l.pid = any (${sql.array(candidates)}::int[])
      and l.database = (select oid from pg_database where datname = current_database())
      and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      and l.relation in (select oid from tracker)`;
  const writers = new Set(writing.map(({ pid }) => pid));
  return new Set(candidates.filter((pid) => !writers.has(pid)));
}

async function listReadOnlyRoles(
  sql: Sql,
  roleIds: readonly number[],
  tables: readonly string[],
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ roleId: number }[]>`
    with recursive ${trackerRelations(sql, tables)},
    -- paths to a tracker row: the tables, and relations that may pass a write on with their owner's rights
    ways as materialized (
      select c.oid, c.relowner
      from pg_class as c
      where c.oid in (select oid from tracker)
        or (
          c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
          and (
            c.relkind = 'v'
            or exists (select from pg_rewrite as r where r.ev_class = c.oid and r.ev_type <> '1')
            or exists (
              select from pg_trigger as t join pg_proc as p on p.oid = t.tgfoid
              where t.tgrelid = c.oid and p.prosecdef
            )
          )
        )
    ),
    functions as materialized (
      select p.oid
      from pg_proc as p
      where p.prosecdef
        and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
        and not (p.pronamespace = 'public'::regnamespace and p.proname = any (${HARMLESS_FUNCTIONS}))
    )
    select u.oid as role_id
    from pg_roles as u
    where u.oid = any (${sql.array([...roleIds])}::oid[])
      and not exists (${unknownFunctionCalls(sql)})
      and not exists (
        select from pg_roles as r
        where pg_has_role(u.oid, r.oid, 'member')
          and (
            r.rolsuper
            -- can grant itself other roles
            or r.rolcreaterole
            or exists (
              select from ways as w
              where w.relowner = r.oid
                or has_table_privilege(r.oid, w.oid, 'insert, update, delete')
                or has_any_column_privilege(r.oid, w.oid, 'insert, update')
            )
            or exists (select from functions as f where has_function_privilege(r.oid, f.oid, 'execute'))
          )
      )`;
  return new Set(rows.map(({ roleId }) => roleId));
}

/**
 * Returns whether the service's role may see other roles' activity. If not, their sessions that may write block every watermark.
 */
export async function maySeeSessions(sql: Sql): Promise<boolean> {
  return onlyValue(sql<[{ maySee: boolean }]>`select pg_has_role('pg_read_all_stats', 'usage') as may_see`);
}
