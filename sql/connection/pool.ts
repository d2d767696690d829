/** The one place that knows the driver: connection options, type parsers and the name mapping. */
import postgres from "postgres";
import { type DatabaseTarget, parseDatabaseUrl } from "../../shared/database/url.ts";

/** What every query function takes first: the pool, a reserved connection or an open transaction. */
export type Sql = postgres.ISql;
/** Only process entry points and tests hold a pool; only a pool can open a transaction. */
export type Pool = postgres.Sql;

export interface PoolOptions {
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Most connections the pool opens. */
  max: number;
  /** Every transaction of the pool is `read only` unless it says otherwise. */
  readOnly?: boolean;
  /** What is set in every session besides what all pools set. */
  settings?: Readonly<Record<string, string>>;
  /**
   * The URL may be a pooler's that lends a session for one transaction, such as PgBouncer: then no session outlives
   * one, and nothing may be left in it for the next. No statement is prepared under a name; LISTEN, session locks and
   * `readOnly` are not for such a pool.
   */
  isPooled?: boolean;
}

/** Seconds of silence after which the other end of an idle connection is asked whether it is still there. */
const KEEP_ALIVE_SECONDS = 15;

/** PostgreSQL prints `2026-01-01 00:00:00.12+00` in UTC sessions; the API speaks ISO 8601 with milliseconds. */
function toIso(value: string): string {
  const [seconds = "", fraction = ""] = value.replace(" ", "T").slice(0, -3).split(".");
  return `${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

function toSafeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`Cannot represent bigint ${value} as a number`);
  return number;
}

/**
 * What a session that is lent for one transaction cannot do: keep a statement; and have the next statement sent before
 * the answer to the last. PgBouncer takes the session back with that answer, and of the statement that was begun
 * nothing is heard any more. (0 works by our patch of the driver, which would not begin a transaction then.)
 */
const POOLED = { prepare: false, max_pipeline: 0 } as const;

/** Opens a pool; connections are made when first needed. Sessions speak UTC and standard strings. */
export function openPool(url: string, options: PoolOptions): Pool {
  const target = parseDatabaseUrl(url);
  return postgres({
    ...toAddress(target),
    max: options.max,
    connect_timeout: 10,
    keep_alive: KEEP_ALIVE_SECONDS,
    ...(options.isPooled ? POOLED : {}),
    // Seconds before the next try to connect: a database that is back is used again at once.
    backoff: (retries: number) => Math.min(0.1 * 2 ** retries, 1),
    connection: {
      // Spelled as PostgreSQL reports them: where the two differ, PgBouncer sets them anew for every transaction.
      TimeZone: "UTC",
      DateStyle: "ISO, MDY",
      application_name: options.applicationName,
      // sql/exports/query.ts writes literals, which are safe under this setting only.
      standard_conforming_strings: "on",
      ...(options.readOnly ? { default_transaction_read_only: true } : {}),
      ...target.settings,
      ...options.settings,
    },
    onnotice: () => {},
    // Column names only. `postgres.camel` would also rewrite the keys inside jsonb values.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: {
      // The driver's own parsers go through Date.
      timestamptz: { to: 1184, from: [1184], serialize: (v: string) => v, parse: toIso },
      date: { to: 1082, from: [1082], serialize: (v: string) => v, parse: (v: string) => v },
      int8: { to: 20, from: [20], serialize: String, parse: toSafeInteger },
      numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
    },
    // The driver's type parameter describes the parsers above, which no caller needs to see.
  }) as unknown as Pool;
}

/** What the URL leaves out, the driver reads from PGUSER, PGPASSWORD and PGDATABASE. */
function toAddress(target: DatabaseTarget) {
  const { socketPath, user, password, database, targetSessionAttrs } = target;
  return {
    // The driver takes lists; its types do not say so.
    host: target.hosts as unknown as string,
    port: target.ports as unknown as number,
    ssl: target.tls,
    ...(socketPath === null ? {} : { path: socketPath }),
    ...(user === null ? {} : { user }),
    ...(password === null ? {} : { password }),
    ...(database === null ? {} : { database }),
    ...(targetSessionAttrs === null ? {} : { target_session_attrs: targetSessionAttrs }),
  };
}

/**
 * Opens a pool of one connection to the database of another pool, for what belongs to a session, such as its locks. It is
 * not taken from the pool, as a reserved connection would be. The caller ends it.
 */
export function openSession(pool: Pool): Pool {
  const options = { ...pool.options, max: 1, max_lifetime: null };
  // The driver takes options that it has parsed before; its types do not say so.
  return postgres(options as unknown as postgres.Options<Record<string, never>>) as unknown as Pool;
}

export interface PoolUsage {
  /** Connections that run a query or a transaction, or are being opened for one. */
  inUse: number;
  /** Queries and transactions that wait for a connection. */
  waiting: number;
}

/** Returns how busy a pool is. The driver tells it by our patch. */
export function readPoolUsage(pool: Pool): PoolUsage {
  return (pool as unknown as { usage(): PoolUsage }).usage();
}

/** True when `error` is the named constraint saying no. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === constraint;
}

/** True when `error` comes from PostgreSQL with one of these SQLSTATEs. */
export function hasSqlState(error: unknown, ...states: readonly string[]): boolean {
  return error instanceof postgres.PostgresError && states.includes(error.code);
}

/** What PostgreSQL says of a statement that it refused. Row values are in `detail`: for operators, not for clients. */
export interface Refusal {
  sqlState: string;
  message: string;
  detail: string;
  /** Where it happened, such as the line of a COPY. */
  where: string;
  /** Names of what was broken, empty where it is nothing of the kind. */
  table: string;
  column: string;
  constraint: string;
}

/** The refusal that `error` is; `null` when PostgreSQL did not refuse anything. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  return {
    sqlState: error.code,
    message: error.message,
    detail: error.detail ?? "",
    where: error.where ?? "",
    table: error.table_name ?? "",
    column: error.column_name ?? "",
    constraint: error.constraint_name ?? "",
  };
}

/** Codes of the driver and the runtime for connections that cannot be opened or that break. */
const CONNECTION_ERRORS = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "CONNECT_TIMEOUT",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ETIMEDOUT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "TLS_NOT_SUPPORTED",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** True when the database cannot be reached: no connection, shutting down, starting up, or out of connections. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  const code = String(error.code);
  if (!(error instanceof postgres.PostgresError)) return CONNECTION_ERRORS.has(code);
  // Class 08 connection exception, class 57P shutdown and recovery, 53300 too many connections.
  return code.startsWith("08") || code.startsWith("57P") || code === "53300";
}
