/** Checks where connections lead: to PostgreSQL itself and not a pooler, to one database, and over TLS. */

import { POOLED_API_APPLICATION } from "./application_names.ts";
import { hasSqlState, onlyValue, openPool, type Sql } from "./pool.ts";

const PROTOCOL_VIOLATION = "08P01";

/**
 * Throws if the connection leads to a pooler. A pooler gives sessions to other clients, with the locks that they hold, and
 * a session's name does not say who uses it.
 *
 * A pooler is recognized by the process id that clients get for cancel requests. It is made up, because the pooler does not
 * know yet which process will serve the client.
 */
export async function requireDirectConnection(sql: Sql): Promise<void> {
  const rows = await readProcessId(sql);
  if (rows && rows.state.pid === rows[0].pid) return;
  throw new Error(
    "the database is behind a connection pooler; set DATABASE_DIRECT_URL to an address of PostgreSQL itself",
  );
}

/** Returns null if the settings of the session are rejected: PostgreSQL knows all of them, and PgBouncer does not. */
async function readProcessId(sql: Sql) {
  try {
    return await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
  } catch (error) {
    if (hasSqlState(error, PROTOCOL_VIOLATION)) return null;
    throw error;
  }
}

/** Throws if the two lead to different databases: requests and exports would show different rows. */
export async function requireSameDatabase(pooled: Sql, direct: Sql): Promise<void> {
  const [one, other] = await Promise.all([findIdentity(pooled), findIdentity(direct)]);
  if (one === other) return;
  throw new Error(
    "DATABASE_URL and DATABASE_DIRECT_URL lead to different databases; set both to the same one",
  );
}

/**
 * Throws if `url`, which may be a pooler, leads to another database than `direct`. A session of the pooler may keep the name of
 * the connection for clients without one, so the connection has a name that a tracker's transaction may have.
 */
export async function requireSameBehindPooler(url: string, direct: Sql): Promise<void> {
  const pooled = openPool(url, { applicationName: POOLED_API_APPLICATION, max: 1, isPooled: true });
  try {
    await requireSameDatabase(pooled, direct);
  } finally {
    await pooled.end({ timeout: 1 });
  }
}

async function findIdentity(sql: Sql): Promise<string> {
  return onlyValue(sql<[{ identity: string }]>`
    select extract(epoch from pg_postmaster_start_time()) || ' ' || oid as identity
    from pg_database
    where datname = current_database()`);
}

const LOOPBACK = /^127\.|^::1$|^::ffff:127\./;

/** Fields of a connection that our patch of the driver exposes. */
interface ConnectionState {
  isEncrypted: boolean;
  /** The address of the server or pooler; undefined for a Unix socket. */
  address: string | undefined;
}

/** Calls `warn` if `sql` reaches another machine without TLS. */
export async function warnIfClearText(sql: Sql, warn: (message: string) => void): Promise<void> {
  const { state } = await sql`select 1`;
  const { isEncrypted, address } = state as unknown as ConnectionState;
  if (isEncrypted || address === undefined || LOOPBACK.test(address)) return;
  warn(
    `The connection to PostgreSQL at ${address} is not encrypted. Add sslmode=verify-full to the database URL.`,
  );
}
