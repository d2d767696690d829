/** Table `installation`: distinguishes a database from its restored copies. */
import { firstValue, onlyValue, type Sql } from "./connection/pool.ts";

/**
 * Returns the id of this database, and creates the id if necessary. A database that was restored from a dump or created from a
 * template contains the id of its original, but has another system identifier or OID. Such a database gets a new id. A copy of the
 * files, such as a standby or a point-in-time recovery, cannot be distinguished from its original and keeps the id.
 */
export async function ensureInstallation(sql: Sql): Promise<string> {
  const place = await findPlace(sql);
  return (await findInstallation(sql, place)) ?? (await upsertInstallation(sql, place));
}

/** Identifies a database by its server and OID. */
interface Place {
  /** The system identifier of the server's files; 0 if the role may not read it. */
  systemIdentifier: string;
  databaseOid: number;
}

async function findPlace(sql: Sql): Promise<Place> {
  const [{ databaseOid, isAllowed }] = await sql<[{ databaseOid: number; isAllowed: boolean }]>`
    select oid::bigint as database_oid, has_function_privilege('pg_control_system()', 'execute') as is_allowed
    from pg_database
    where datname = current_database()`;
  if (!isAllowed) return { systemIdentifier: "0", databaseOid };
  const [{ systemIdentifier }] = await sql<[{ systemIdentifier: string }]>`
    select system_identifier::text from pg_control_system()`;
  return { systemIdentifier, databaseOid };
}

/** Finds the id of this database; null if the database has no id yet, or only that of its original. */
async function findInstallation(sql: Sql, { systemIdentifier, databaseOid }: Place): Promise<string | null> {
  return firstValue(sql<{ id: string }[]>`
    select id
    from installation
    where system_identifier = ${systemIdentifier} and database_oid = ${databaseOid}`);
}

/**
 * Inserts or replaces the id of this database and returns it. Concurrent processes get the same id: the second one finds the row of
 * the first.
 */
async function upsertInstallation(sql: Sql, { systemIdentifier, databaseOid }: Place): Promise<string> {
  return onlyValue(sql<[{ id: string }]>`
    insert into installation as i (system_identifier, database_oid)
    values (${systemIdentifier}, ${databaseOid})
    on conflict on constraint installation_is_only_pkey do update
    set system_identifier = excluded.system_identifier, database_oid = excluded.database_oid,
      id = case
        when (i.system_identifier, i.database_oid) = (excluded.system_identifier, excluded.database_oid) then i.id
        else gen_random_uuid()
      end,
      is_copy = i.is_copy
        or (i.system_identifier, i.database_oid) <> (excluded.system_identifier, excluded.database_oid)
    returning i.id`);
}

/** Returns true if this database is a copy that has not replaced its original. */
export async function isDatabaseCopy(sql: Sql): Promise<boolean> {
  // This call detects a copy and sets `is_copy`.
  await ensureInstallation(sql);
  return (await firstValue(sql<{ isCopy: boolean }[]>`select is_copy from installation`)) ?? false;
}

/** Records that a copy has replaced its original. */
export async function markOriginal(sql: Sql): Promise<void> {
  await sql`update installation set is_copy = false where is_copy`;
}

/** Returns the name of the database. */
export async function currentDatabase(sql: Sql): Promise<string> {
  return onlyValue(sql<[{ name: string }]>`select current_database() as name`);
}
