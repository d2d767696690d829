/** Connection pools and errors of the driver, which only this file knows: options, type parsers and column names. */
import postgres from "postgres";
import { type DatabaseTarget, parseDatabaseUrl } from "../../shared/database/url.ts";

/** The first parameter of every query function: the pool, a reserved connection or an open transaction. */
export type Sql = postgres.ISql;

/** A part of a statement. */
export type Fragment = postgres.Helper<readonly string[], unknown[]>;
export type Transaction = postgres.TransactionSql;
/** Only process entry points and tests hold a pool; only a pool can open a transaction. */
export type Pool = postgres.Sql;

export interface PoolOptions {
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Maximum number of connections. */
  max: number;
  /** Makes every transaction of the pool `read only` unless it says otherwise. */
  readOnly?: boolean;
  /** Settings of every session, added to those of all pools. */
  settings?: Readonly<Record<string, string>>;
  /**
   * The URL may lead to a pooler that assigns a session for one transaction, such as PgBouncer. Nothing may then stay in
   * the session: no statement is prepared under a name. Do not use LISTEN, session locks or `readOnly` in such a pool.
   */
  isPooled?: boolean;
  /** Statements give up waiting for a lock, so that those that want a locked table do not keep all connections. */
  limitsLockWaits?: boolean;
  /** Unused connections are closed after this time; never if omitted. */
  idleSeconds?: number;
}

/**
 * How long a read waits for a locked table: longer than a migration waits for its lock, with everyone
 * behind it. Behind PgBouncer, deploy/pgbouncer.ini sets it.
 */
const READ_LOCK_TIMEOUT_MS = 3_000;
/** For writes, which take turns at rows. Shorter than a request may take, so that its client learns that nothing changed. */
const WRITE_LOCK_TIMEOUT_MS = 20_000;

/** Seconds of silence before TCP probes an idle connection. */
const KEEP_ALIVE_SECONDS = 15;

/** Converts `2026-01-01 00:00:00.12+00`, which PostgreSQL prints in UTC sessions, to ISO 8601 with milliseconds. */
function toIso(value: string): string {
  const [seconds = "", fraction = ""] = value.replace(" ", "T").slice(0, -3).split(".");
  return `${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

function toSafeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`Cannot represent bigint ${value} as a number`);
  return number;
}

/** Reads bytes in both forms of `bytea_output`. A pooler gives sessions whose role or database may have set either one. */
function toBytes(value: string): Uint8Array {
  if (value.startsWith("\\x")) return Buffer.from(value.slice(2), "hex");
  const text = value.replace(/\\(\\|[0-7]{3})/g, (_, byte: string) =>
    byte === "\\" ? byte : String.fromCharCode(Number.parseInt(byte, 8)),
  );
  return Buffer.from(text, "latin1");
}

/**
 * Options for a session that is assigned for one transaction. It keeps no statement. No statement is sent before the
 * response to the last one: PgBouncer takes the session back with that response, and the statement would get none.
 * `max_pipeline: 0` needs our patch: without it, the driver would not begin a transaction.
 */
const POOLED = { prepare: false, max_pipeline: 0 } as const;

/**
 * Arrays as statements read and write them: object ids of PostgreSQL's own types (pg_type.dat), element: array. Without our
 * patch, the driver would ask for all types that the database has on every connection, which takes as long as opening it.
 */
const ARRAY_TYPES = {
  16: 1000, // boolean
  17: 1001, // bytea
  19: 1003, // name
  20: 1016, // bigint
  21: 1005, // smallint
  23: 1007, // integer
  25: 1009, // text
  26: 1028, // oid
  114: 199, // json
  701: 1022, // double precision
  1043: 1015, // varchar
  1082: 1182, // date
  1184: 1185, // timestamptz
  1700: 1231, // numeric
  2205: 2210, // regclass
  2950: 2951, // uuid
  3802: 3807, // jsonb
} as const;

/**
 * Prepared statements that a connection keeps: those that were used last. Each combination of a list's filters is another
 * statement, which takes 0.4 MB of PostgreSQL's memory (measured). Without our patch, the driver would keep them all.
 */
export const MAX_STATEMENTS = 100;

/**
 * Opens a pool, which connects on first use. Its sessions use UTC and standard strings. A query waits for a free connection,
 * and never behind another query on a busy one (our patch of the driver). Throws for a URL that `readConfig` would reject.
 */
export function openPool(url: string, options: PoolOptions): Pool {
  const target = parseDatabaseUrl(url);
  const pool = postgres({
    ...toAddress(target),
    max: options.max,
    connect_timeout: 10,
    keep_alive: KEEP_ALIVE_SECONDS,
    ...(options.idleSeconds === undefined ? {} : { idle_timeout: options.idleSeconds }),
    ...(options.isPooled ? POOLED : {}),
    ...{ fetch_types: false, array_types: ARRAY_TYPES, max_statements: MAX_STATEMENTS },
    // Seconds before the next attempt, short enough that a database is used again as soon as it is back.
    backoff: (retries: number) => Math.min(0.1 * 2 ** retries, 1),
    connection: {
      // In the form that PostgreSQL reports. Otherwise, PgBouncer would set them again for every transaction.
      TimeZone: "UTC",
      DateStyle: "ISO, MDY",
      application_name: options.applicationName,
      // The literals in sql/exports/select_rows.ts are safe only with this setting.
      standard_conforming_strings: "on",
      // PgBouncer rejects these two. Compiling takes longer than most statements here: with it, a delivery of a webhook cost
      // 0.4 s; deploy/postgresql.conf has `jit` for the sessions behind one. Numbers have all their digits in exports, which
      // do not pass it.
      ...(options.isPooled ? {} : { jit: "off", extra_float_digits: "1" }),
      ...(options.limitsLockWaits && !options.isPooled ? { lock_timeout: READ_LOCK_TIMEOUT_MS } : {}),
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
      bytea: {
        to: 17,
        from: [17],
        serialize: (v: Uint8Array) => `\\x${Buffer.from(v).toString("hex")}`,
        parse: toBytes,
      },
      date: { to: 1082, from: [1082], serialize: (v: string) => v, parse: (v: string) => v },
      int8: { to: 20, from: [20], serialize: String, parse: toSafeInteger },
      numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
    },
    // The driver's type parameter describes the parsers above, which no caller needs to see.
  }) as unknown as Pool;
  if (options.limitsLockWaits) letWritesWait(pool);
  return pool;
}

/** Lets transactions wait longer for locks, unless they begin as `read only`. */
function letWritesWait(pool: Pool): void {
  const begin = pool.begin as (...given: unknown[]) => Promise<unknown>;
  const beginPatiently = (...given: unknown[]): Promise<unknown> => {
    const [run] = given;
    if (typeof run !== "function") return begin(...given);
    return begin((tx: Transaction) => {
      // If it fails, so does every later statement.
      tx`select set_config('lock_timeout', ${String(WRITE_LOCK_TIMEOUT_MS)}, true)`.catch(() => {});
      return run(tx);
    });
  };
  Object.assign(pool, { begin: beginPatiently });
}

/** The driver reads what the URL leaves out from PGUSER, PGPASSWORD and PGDATABASE. */
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
 * Opens a pool of one connection to the database of another pool, for session state such as locks. Unlike a reserved
 * connection, it is not taken from that pool. The caller ends it.
 */
export function openSession(pool: Pool): Pool {
  const options = { ...pool.options, max: 1, max_lifetime: null };
  // The driver accepts options that it has parsed already; its types do not say so.
  return postgres(options as unknown as postgres.Options<Record<string, never>>) as unknown as Pool;
}

/** The driver's class, by our patch; its types do not declare it. */
const { Fragment: DriverFragment } = postgres as unknown as {
  Fragment: new (strings: readonly string[], values: unknown[]) => Fragment;
};

/**
 * Makes a part of a statement, with values and other parts in it. The driver also takes a query of `sql` as a part, but a query
 * is a promise, and a search has a hundred parts.
 */
export function fragment(
  strings: TemplateStringsArray,
  ...values: postgres.SerializableParameter[]
): Fragment {
  return new DriverFragment(strings, values);
}

/** Makes a part of SQL text that is ours. Values of callers must never be in it. */
export function rawFragment(text: string): Fragment {
  return new DriverFragment([text], []);
}

/** Returns rows as a set with the columns of a table, for a FROM clause; columns that a row does not have are null. */
export function tableRows(sql: Sql, table: string, rows: readonly object[]): Fragment {
  const named = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [postgres.fromCamel(name), value])),
  );
  return fragment`jsonb_populate_recordset(null::${rawFragment(table)}, ${sql.json(named as never)})`;
}

export function isTransaction(sql: Sql): sql is Transaction {
  return "savepoint" in sql;
}

/**
 * Sends the commit behind the statements that were executed, without waiting for their results. Later statements are
 * rejected. `begin("read only")` does not wait for its response either. Both save a round trip and need our patch of the
 * driver.
 */
export function sendCommit(tx: Transaction): void {
  (tx as unknown as { commit(): void }).commit();
}

/** Returns the columns that SQL text lists. */
export function columnList(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}

/** Returns the first row of a query that finds one or none. */
export async function firstRow<Row>(rows: PromiseLike<readonly Row[]>): Promise<Row | null> {
  return (await rows)[0] ?? null;
}

/** Returns the row of a query that always finds one. */
export async function onlyRow<Row>(rows: PromiseLike<readonly [Row]>): Promise<Row> {
  return (await rows)[0];
}

/** Returns the only column of the first row; null without rows. */
export async function firstValue<Value>(
  rows: PromiseLike<readonly Readonly<Record<string, Value>>[]>,
): Promise<Value | null> {
  const [row = {}] = await rows;
  return Object.values(row)[0] ?? null;
}

/** Returns the only column of the row of a query that always finds one. */
export async function onlyValue<Value>(
  rows: PromiseLike<readonly [Readonly<Record<string, Value>>]>,
): Promise<Value> {
  const [row] = await rows;
  return Object.values(row)[0] as Value;
}

/** Returns true if a query finds a row. */
export async function anyRow(rows: PromiseLike<readonly unknown[]>): Promise<boolean> {
  return (await rows).length > 0;
}

export interface PoolUsage {
  /** Connections that run a query or transaction, or that are being opened for one. */
  inUse: number;
  /** Queries and transactions that wait for a connection. */
  waiting: number;
}

/** Returns how busy a pool is, which the driver knows by our patch. */
export function readPoolUsage(pool: Pool): PoolUsage {
  return (pool as unknown as { usage(): PoolUsage }).usage();
}

export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === constraint;
}

/** SQLSTATE of a statement that a timeout or the client has canceled. */
export const QUERY_CANCELED = "57014";
/** SQLSTATE after `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = "55P03";
export const DEADLOCK_DETECTED = "40P01";
/** SQLSTATE of a statement that waited for a row, which was then moved to another partition. */
export const SERIALIZATION_FAILURE = "40001";

/** Returns true if `error` comes from PostgreSQL and has one of these SQLSTATEs. */
export function hasSqlState(error: unknown, ...states: readonly string[]): boolean {
  return error instanceof postgres.PostgresError && states.includes(error.code);
}

/** The error of a statement that PostgreSQL rejected. `detail` may hold row values: show it to operators, not to clients. */
export interface StatementError {
  sqlState: string;
  message: string;
  detail: string;
  /** What was violated; empty for other errors. */
  column: string;
  constraint: string;
}

/** Returns the details of an error from PostgreSQL, or null for any other error. */
export function statementErrorOf(error: unknown): StatementError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  return {
    sqlState: error.code,
    message: error.message,
    detail: error.detail ?? "",
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

/**
 * Returns true if the database cannot be reached: no connection, shutting down, starting up, out of connections, or an error
 * with which it ends or refuses the connection, such as a role or database that does not accept connections now.
 */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  const code = String(error.code);
  if (!(error instanceof postgres.PostgresError)) return CONNECTION_ERRORS.has(code);
  // Class 08 connection exception, class 57P shutdown and recovery, 53300 too many connections.
  const isAway = code.startsWith("08") || code.startsWith("57P") || code === "53300";
  return isAway || error.severity === "FATAL";
}
