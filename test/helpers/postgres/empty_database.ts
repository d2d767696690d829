/** Empties a test's database, so that the next test can reuse it with sessions that have cached its tables. */
import type { Pool } from "../../../sql/connection/pool.ts";

/** The growth above which dropping the database costs less than emptying it. Emptied indexes keep their size. */
const MAX_GROWTH_BYTES = 6 * 1024 * 1024;

/** Restores the rows that migrations inserted into tables that tests write. */
const FIRST_ROWS = `
  insert into audit_chain default values;
  insert into event_log default values;
  insert into catalog_version (number) values (1);`;

/**
 * Tables with rows that migrations inserted and that tests rarely change. If a test changes them, its database is
 * dropped.
 */
const CONSTANT = ["schema_migrations", "schema_compatibility", "pgboss.version", "pgboss.queue"];

interface State {
  /** The number of active sessions, advisory locks and prepared transactions. If it is not 0, something is still running. */
  busy: number;
  /** The total size of the tables that have or had rows, including their indexes. */
  bytes: number;
  /** Names of tables that have or had rows. */
  tables: string[];
  /** Names of sequences that have been used. */
  sequences: string[];
  constants: string;
}

async function readState(sql: Pool): Promise<State> {
  const constants = CONSTANT.map((table) => `(select json_agg(t order by t::text) from ${table} t)`);
  const [state] = await sql.unsafe<[State]>(`
    select
      (select count(*) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and backend_type = 'client backend' and state <> 'idle')
      + (select count(*) from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and locktype = 'advisory')
      + (select count(*) from pg_prepared_xacts where database = current_database()) as busy,
      coalesce(sum(pg_total_relation_size(oid))
        filter (where relkind = 'r' and pg_relation_size(oid) > 0), 0)::int8 as bytes,
      coalesce(array_agg(oid::regclass::text) filter (where relkind = 'r' and pg_relation_size(oid) > 0), '{}') as tables,
      coalesce(array_agg(oid::regclass::text)
        filter (where relkind = 'S' and pg_sequence_last_value(oid) is not null), '{}') as sequences,
      concat(${constants.join(", ")}) as constants
    from pg_class
    where relkind in ('r', 'S') and relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)`);
  return state;
}

/** The state of a new database. It is the same for all databases of a process. */
let original: State | undefined;

/** Records the state of a new database. */
export async function noteOriginal(sql: Pool): Promise<void> {
  original ??= await readState(sql);
}

/**
 * Deletes the rows that a test wrote, as a superuser, and vacuums their tables. The next test's rows are then stored in
 * the order in which they are written. Returns false if the database cannot be reused.
 */
export async function emptyDatabase(sql: Pool): Promise<boolean> {
  const state = await readState(sql);
  if (state.busy > 0 || state.constants !== original?.constants) return false;
  if (state.bytes > original.bytes + MAX_GROWTH_BYTES) return false;
  const tables = state.tables.filter((table) => !CONSTANT.includes(table));
  await sql.begin(async (tx) => {
    const deletes = tables.map((table) => `delete from ${table};`).join("\n");
    const restarts = state.sequences.map((name) => `select setval('${name}', 1, false);`).join("\n");
    await tx.unsafe(`set local session_replication_role = replica; ${deletes} ${FIRST_ROWS} ${restarts}`);
  });
  if (tables.length > 0) await sql.unsafe(`vacuum ${tables.join(", ")}`);
  return true;
}
