/** Checks whether migrations can be applied to a database. */

import type { Sql } from "./connection/pool.ts";

const LOWEST_VERSION = 150_000;

interface Facts {
  version: number;
  versionText: string;
  encoding: string;
  role: string;
  database: string;
  /** The schema for new tables; null if the search path names no existing schema. */
  schema: string | null;
  mayCreateTables: boolean;
  mayCreateInDatabase: boolean;
  hasQueue: boolean;
  /** The owner of the tables; null before the first migration. */
  owner: string | null;
  isOwner: boolean | null;
  /** The service's role: `ulr_app` if the role exists, otherwise the current role. */
  runtimeRole: string;
  runtimeSeesSessions: boolean;
}

/** Returns one line per problem, with its solution; an empty list if there are no problems. Changes nothing. */
export async function listMigrationProblems(sql: Sql): Promise<string[]> {
  const facts = await readFacts(sql);
  const { role, database, schema } = facts;
  const problems: [boolean, string][] = [
    [facts.version < LOWEST_VERSION, `PostgreSQL ${facts.versionText} is too old: 15 or later is needed`],
    [
      facts.encoding !== "UTF8",
      `The encoding of database "${database}" is ${facts.encoding}: create it with encoding 'UTF8'`,
    ],
    [schema === null, `Role "${role}" has no schema to create tables in: check its search_path`],
    [
      schema !== null && !facts.mayCreateTables,
      `Role "${role}" may not create tables: grant usage, create on schema ${schema} to "${role}"`,
    ],
    [
      !facts.hasQueue && !facts.mayCreateInDatabase,
      `Role "${role}" may not create the schema pgboss: grant create on database "${database}" to "${role}"`,
    ],
    [
      facts.isOwner === false,
      `Role "${role}" does not own the tables: run \`bun run migrate\` as "${facts.owner}"`,
    ],
    [
      !facts.runtimeSeesSessions,
      `Role "${facts.runtimeRole}" may not see other sessions, so exports would fail: grant pg_read_all_stats to "${facts.runtimeRole}"`,
    ],
  ];
  return problems.filter(([isProblem]) => isProblem).map(([, line]) => line);
}

async function readFacts(sql: Sql): Promise<Facts> {
  const [facts] = await sql<[Facts]>`
    select
      current_setting('server_version_num')::int as version,
      current_setting('server_version') as version_text,
      current_setting('server_encoding') as encoding,
      current_user as role,
      current_database() as database,
      current_schema() as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create_tables,
      has_database_privilege(current_database(), 'create') as may_create_in_database,
      to_regclass('pgboss.version') is not null as has_queue,
      (select pg_get_userbyid(relowner) from pg_class where oid = to_regclass('schema_migrations')) as owner,
      (select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('schema_migrations')) as is_owner,
      runtime.role as runtime_role,
      pg_has_role(runtime.role, 'pg_read_all_stats', 'usage') as runtime_sees_sessions
    from (select coalesce((select rolname from pg_roles where rolname = 'ulr_app'), current_user) as role) runtime`;
  return facts;
}
