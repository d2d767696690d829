/** Tests the privileges of the service's role on every table. The test fails if the role gains or loses a privilege. */
import { expect, test } from "bun:test";
import type { Sql } from "../../sql/connection/pool.ts";
import { migrate } from "../../sql/migrate.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";

/** Tables and sequences on which the service has fewer privileges than on the others. */
const RESTRICTED: Readonly<Record<string, string>> = {
  audit_chain: "SELECT",
  // On some columns, the service also has INSERT, but not on the id.
  audit_log: "SELECT",
  audit_log_id_seq: "no sequence",
  schema_compatibility: "SELECT",
  schema_migrations: "SELECT",
  // Triggers insert into this table with the owner's privileges.
  tracker_changes: "DELETE SELECT",
};

/** Returns the tables and sequences on which the role's privileges differ from the usual ones, with the role's privileges. */
async function listUnusual(sql: Sql): Promise<Record<string, string>> {
  const rows = await sql<{ name: string; privileges: string }[]>`
    select c.oid::regclass::text as name, concat_ws(' ',
      case when has_table_privilege('ulr_app', c.oid, 'delete') then 'DELETE' end,
      case when has_table_privilege('ulr_app', c.oid, 'insert') then 'INSERT' end,
      case when has_table_privilege('ulr_app', c.oid, 'references') then 'REFERENCES' end,
      case when has_table_privilege('ulr_app', c.oid, 'select') then 'SELECT' end,
      case when has_table_privilege('ulr_app', c.oid, 'trigger') then 'TRIGGER' end,
      case when has_table_privilege('ulr_app', c.oid, 'truncate') then 'TRUNCATE' end,
      case when has_table_privilege('ulr_app', c.oid, 'update') then 'UPDATE' end
    ) as privileges
    from pg_class as c
    where c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace) and c.relkind in ('r', 'p', 'v', 'm')
    union all
    select c.oid::regclass::text, 'no sequence'
    from pg_class as c
    where c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)
      and case when c.relkind = 'S' then not has_sequence_privilege('ulr_app', c.oid, 'usage') end
    order by 1`;
  const unusual = rows.filter(({ privileges }) => privileges !== "DELETE INSERT SELECT UPDATE");
  return Object.fromEntries(unusual.map(({ name, privileges }) => [name, privileges]));
}

test("the runtime role can read and write every table, except for append-only tables", async () => {
  await using db = await openTestDatabase();
  expect(await listUnusual(db.sql)).toEqual(RESTRICTED);
  const schemas = await db.sql`
    select nspname as name, has_schema_privilege(oid, 'create') as may_create
    from pg_namespace
    where nspname in ('public', 'pgboss')
    order by nspname`;
  expect([...schemas]).toEqual([
    { name: "pgboss", mayCreate: false },
    { name: "public", mayCreate: false },
  ]);
  const [role] = await db.sql`
    select
      current_setting('is_superuser') as is_superuser,
      pg_has_role('pg_read_all_stats', 'usage') as sees_sessions,
      has_database_privilege(current_database(), 'create') as may_create`;
  expect(role).toEqual({ isSuperuser: "off", seesSessions: true, mayCreate: false });
});

test("the runtime role cannot change the audit log", async () => {
  await using db = await openTestDatabase();
  for (const statement of [
    "update audit_log set action = 'other'",
    "delete from audit_log",
    "truncate audit_log",
    `insert into audit_log (id, actor_type, action, subject_type, subject_id) overriding system value
     values (7, 'user', 'forged', 'user', 'x')`,
    "insert into audit_log (actor_type, action, subject_type, subject_id, position) values ('user', 'a', 'b', 'c', 1)",
    "select setval(pg_get_serial_sequence('audit_log', 'id'), 1)",
    "alter table audit_log disable trigger all",
    "drop table audit_log",
  ]) {
    await expect(db.sql.unsafe(statement)).rejects.toThrow(/permission denied|must be owner/);
  }
});

test("the runtime role can use new tables, and migrate() restores the role's intended privileges", async () => {
  await using db = await openTestDatabase();
  await db.owner`create table later (id bigint generated always as identity)`;
  await db.owner`create table pgboss.later (id bigserial)`;
  expect(await listUnusual(db.sql)).toEqual(RESTRICTED);
  await db.owner`grant update, delete on audit_log to ulr_app`;
  await db.owner`revoke insert on users from ulr_app`;
  await migrate(db.owner);
  expect(await listUnusual(db.sql)).toEqual(RESTRICTED);
});

test("the runtime role loses update privileges on columns of append-only tables at the next migration", async () => {
  await using db = await openTestDatabase();
  const listUpdatable = async () => {
    const rows = await db.owner<{ name: string }[]>`
      select t as name
      from unnest(array['audit_log', 'audit_chain', 'tracker_changes', 'schema_migrations']) as t
      where has_any_column_privilege('ulr_app', t::regclass, 'update')`;
    return rows.map(({ name }) => name);
  };
  expect(await listUpdatable()).toEqual([]);
  await db.owner`grant update (details) on audit_log to ulr_app`;
  expect(await listUpdatable()).toEqual(["audit_log"]);
  await migrate(db.owner);
  expect(await listUpdatable()).toEqual([]);
  expect(await listUnusual(db.sql)).toEqual(RESTRICTED);
});

test("migrate() called by the runtime role has no migrations to apply", async () => {
  await using db = await openTestDatabase();
  expect(await migrate(db.sql)).toEqual({ applied: [], unknown: [] });
});

test("migrate() recreates a dropped schema as its owner, and grants the existing runtime role its privileges", async () => {
  await using db = await openTestDatabase();
  await db.owner`drop schema public cascade`;
  await db.owner`drop schema pgboss cascade`;
  await db.owner`create schema public`;
  await migrate(db.owner);
  const [owner] = await db.owner`select has_table_privilege('audit_log', 'delete') as may_delete`;
  expect(owner).toEqual({ mayDelete: true });
  // `migrate` also grants the privileges to a runtime role that already exists.
  expect(await listUnusual(db.sql)).toEqual(RESTRICTED);
});
