/** The roles of the embedded database: one owns and migrates the schema, the service runs as the other. */

/** The cluster's superuser. It has no password while the server runs, so it cannot connect. */
export const SUPERUSER = "postgres";
/** Owns the database and everything in it; only migrations use it. */
export const OWNER_ROLE = "ulr_owner";
/** Reads and writes rows; `sql/runtime_role.sql` grants it what it needs after every migration. */
export const RUNTIME_ROLE = "ulr_app";

export type ClusterRole = typeof SUPERUSER | typeof OWNER_ROLE | typeof RUNTIME_ROLE;

/** The objects whose owner changes in a database that the superuser created; extensions keep theirs. */
const CHANGE_OWNER = `
do $$
declare
  object text;
begin
  for object in
    select format('%s %s', case c.relkind when 'S' then 'sequence' else 'table' end, c.oid::regclass)
    from pg_class c
    where c.relnamespace::regnamespace::text in ('public', 'pgboss')
      and c.relkind in ('r', 'p', 'S')
      and not exists (
        select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid
          and (d.deptype = 'e' or c.relkind = 'S' and d.deptype in ('a', 'i'))
      )
    union all
    select format('routine %s', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace::regnamespace::text in ('public', 'pgboss')
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    union all
    select format('type %s', t.oid::regtype)
    from pg_type t
    where t.typnamespace::regnamespace::text in ('public', 'pgboss') and t.typtype in ('e', 'd')
      and not exists (select from pg_depend d where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')
    union all
    select format('schema %I', n.nspname) from pg_namespace n where n.nspname = 'pgboss'
  loop
    execute format('alter %s owner to ${OWNER_ROLE}', object);
  end loop;
end $$`;

function createRole(role: string): string {
  return `do $$ begin if to_regrole('${role}') is null then create role ${role} login; end if; end $$`;
}

/**
 * Returns statements for a superuser that create the roles or change their passwords, and set the database's owner. A
 * role without a password cannot connect. Idempotent.
 */
export function roleStatements(
  database: string,
  passwords: Readonly<Partial<Record<ClusterRole, string>>>,
): string[] {
  return [
    createRole(OWNER_ROLE),
    createRole(RUNTIME_ROLE),
    ...[SUPERUSER, OWNER_ROLE, RUNTIME_ROLE].map((role) => {
      const password = passwords[role as ClusterRole];
      return `alter role ${role} password ${password === undefined ? "null" : `'${password}'`}`;
    }),
    // Watermarks depend on other sessions, and a waiting migration names the session that blocks it.
    `grant pg_read_all_stats to ${RUNTIME_ROLE}, ${OWNER_ROLE}`,
    `alter database ${database} owner to ${OWNER_ROLE}`,
    CHANGE_OWNER,
  ];
}
