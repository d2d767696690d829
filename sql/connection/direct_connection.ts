/** Checks that connections bypass poolers, lead to the same database, and use TLS. */

import { POOLED_API_APPLICATION } from "./application_names.ts";
import { hasSqlState, onlyValue, openPool, type Sql } from "./pool.ts";

const PROTOCOL_VIOLATION = "08P01";

/**
 * Throws if a connection leads to a pooler. A pooler passes sessions on to other clients, together with their locks. A session's
 * application name therefore does not identify its client.
 *
 * A pooler sends an invented process id for cancel requests, because it does not know yet which process will serve the client. The
 * function compares this id with pg_backend_pid().
 */
export async function requireDirectConnection(sql: Sql): Promise<void> {
  const rows = await readProcessId(sql);
  if (rows && rows.state.pid === rows[0].pid) return;
  throw new Error(
    "the database is behind a connection pooler; set DATABASE_DIRECT_URL to an address of PostgreSQL itself",
  );
}

/**
 * Queries the id of the server process. Returns null if the connection's startup parameters are rejected: PostgreSQL accepts all of
 * them, but PgBouncer does not.
 */
async function readProcessId(sql: Sql) {
  try {
    return await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
  } catch (error) {
    if (hasSqlState(error, PROTOCOL_VIOLATION)) return null;
    throw error;
  }
}

/** Throws if two connections lead to different databases. Requests and exports would then show different rows. */
export async function requireSameDatabase(pooled: Sql, direct: Sql): Promise<void> {
  const [one, other] = await Promise.all([findIdentity(pooled), findIdentity(direct)]);
  if (one === other) return;
  throw new Error(
    "DATABASE_URL and DATABASE_DIRECT_URL lead to different databases; set both to the same one",
  );
}

/**
 * Throws if `url`, which may lead to a pooler, leads to another database than `direct`. The connection uses a name outside
 * OWN_APPLICATION_NAMES, because the pooler may pass the name on to clients that send none.
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

/** Fields of a connection that our driver patch exposes. */
interface ConnectionState {
  isEncrypted: boolean;
  /** The address of the server or pooler; undefined for a Unix socket. */
  address: string | undefined;
}

/** Calls `warn` if a connection reaches another machine without TLS. */
export async function warnIfClearText(sql: Sql, warn: (message: string) => void): Promise<void> {
  const { state } = await sql`select 1`;
  const { isEncrypted, address } = state as unknown as ConnectionState;
  if (isEncrypted || address === undefined || LOOPBACK.test(address)) return;
  warn(
    `The connection to PostgreSQL at ${address} is not encrypted. Add sslmode=verify-full to the database URL.`,
  );
}
