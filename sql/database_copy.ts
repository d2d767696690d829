/** Table `installation`: tells a database from its restored copies. */
import { firstValue, onlyValue, type Sql } from "./connection/pool.ts";

/**
 * Returns the id of this database, and creates it if necessary. A database that was restored from a dump or created from a
 * template carries the id of its original, but is in another place: it gets a new id. A copy of the files, such as a standby
 * or a point-in-time recovery, cannot be distinguished from its original and keeps the id.
 */
export async function ensureInstallation(sql: Sql): Promise<string> {
  const place = await findPlace(sql);
  return (await findInstallation(sql, place)) ?? (await upsertInstallation(sql, place));
}

/** The place of a database. */
interface Place {
  /** Identifies the server's files; 0 if the role may not read it. */
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

/** Finds the id of this database; `null` if it has none of its own yet. */
async function findInstallation(sql: Sql, { systemIdentifier, databaseOid }: Place): Promise<string | null> {
  return firstValue(sql<{ id: string }[]>`
    select id
    from installation
    where system_identifier = ${systemIdentifier} and database_oid = ${databaseOid}`);
}

/** Concurrent processes create one id: the second finds the row of the first. */
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

/** Returns true for a copy of another database that has not replaced it. */
export async function isDatabaseCopy(sql: Sql): Promise<boolean> {
  // It notices a copy.
  await ensureInstallation(sql);
  return (await firstValue(sql<{ isCopy: boolean }[]>`select is_copy from installation`)) ?? false;
}

/** Notes that a copy replaces its original. */
export async function markOriginal(sql: Sql): Promise<void> {
  await sql`update installation set is_copy = false where is_copy`;
}

/** Returns the name of the database. */
export async function currentDatabase(sql: Sql): Promise<string> {
  return onlyValue(sql<[{ name: string }]>`select current_database() as name`);
}
