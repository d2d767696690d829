/** Connection pools and driver errors. Only this file sets the driver's options, type parsers and column-name conversion. */
import postgres from "postgres";
import { type DatabaseTarget, parseDatabaseUrl } from "../../shared/database/url.ts";

/** The first parameter of every query function: a pool, a reserved connection or an open transaction. */
export type Sql = postgres.ISql;

/** A part of an SQL statement. */
export type Fragment = postgres.Helper<readonly string[], unknown[]>;
export type Transaction = postgres.TransactionSql;
/** A pool of connections. Only a pool can open a transaction. */
export type Pool = postgres.Sql;

export interface PoolOptions {
  /** The name shown in pg_stat_activity. */
  applicationName: string;
  /** Maximum number of connections. */
  max: number;
  /** Makes transactions `read only` by default. */
  readOnly?: boolean;
  /** Session settings of this pool, in addition to those that all pools have. */
  settings?: Readonly<Record<string, string>>;
  /**
   * Whether the URL may point to a pooler in transaction mode, such as PgBouncer. Session state does not survive a transaction
   * there, so named prepared statements are disabled. Do not use LISTEN, session locks or `readOnly` in such a pool.
   */
  isPooled?: boolean;
  /** Limits how long statements wait for a lock, so that statements that wait for a locked table do not use up all connections. */
  limitsLockWaits?: boolean;
  /** Idle time after which a connection is closed; never if omitted. */
  idleSeconds?: number;
}

/**
 * Lock timeout of reads. It is longer than the lock timeout of migrations, because reads queue behind a waiting migration. Behind
 * PgBouncer, deploy/pgbouncer.ini sets it.
 */
const READ_LOCK_TIMEOUT_MS = 3_000;
/**
 * Lock timeout of writes, which wait for each other's rows. It is shorter than the time limit of a request, so that the client
 * learns that nothing changed.
 */
const WRITE_LOCK_TIMEOUT_MS = 20_000;

/** Idle seconds before the first TCP keepalive probe of a connection. */
const KEEP_ALIVE_SECONDS = 15;

/** Converts a time such as `2026-01-01 00:00:00.12+00`, as PostgreSQL prints it in UTC sessions, to ISO 8601 with milliseconds. */
function toIso(value: string): string {
  const [seconds = "", fraction = ""] = value.replace(" ", "T").slice(0, -3).split(".");
  return `${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

function toSafeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`Cannot represent bigint ${value} as a number`);
  return number;
}

/** Parses both formats of `bytea_output`. In a pooler's session, the role or the database may have set either format. */
function toBytes(value: string): Uint8Array {
  if (value.startsWith("\\x")) return Buffer.from(value.slice(2), "hex");
  const text = value.replace(/\\(\\|[0-7]{3})/g, (_, byte: string) =>
    byte === "\\" ? byte : String.fromCharCode(Number.parseInt(byte, 8)),
  );
  return Buffer.from(text, "latin1");
}

/**
 * Options for a pooler in transaction mode. They turn off named prepared statements and pipelining. PgBouncer takes the session
 * back after the response to a transaction's last statement, so a statement pipelined behind it would get no response.
 * `max_pipeline: 0` needs our driver patch. Without the patch, the driver would not begin a transaction.
 */
const POOLED = { prepare: false, max_pipeline: 0 } as const;

/**
 * The array types that statements read and write. Each entry maps the OID of an element type to that of its array type
 * (pg_type.dat). Without our patch, the driver would query all types of the database on every new connection. That query takes as
 * long as connecting.
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
 * Maximum number of prepared statements per connection. The connection drops the least recently used statement first. Each
 * combination of a list's filters is a separate statement of 0.4 MB in the server process (measured). Without our patch, the driver
 * would keep all statements.
 */
export const MAX_STATEMENTS = 100;

/**
 * Opens a pool, which connects on first use. Its sessions use UTC and standard strings. A query waits for a free connection and
 * never queues behind another query on a busy one (our driver patch). Throws for a URL that `readConfig` would reject.
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
    // Seconds before the next connection attempt. The maximum is low, so that the pool reconnects soon after an outage.
    backoff: (retries: number) => Math.min(0.1 * 2 ** retries, 1),
    connection: {
      // The values are spelled as PostgreSQL reports them. Otherwise, PgBouncer would set them again for every transaction.
      TimeZone: "UTC",
      DateStyle: "ISO, MDY",
      application_name: options.applicationName,
      // The literals in sql/exports/select_rows.ts are safe only with this setting.
      standard_conforming_strings: "on",
      // PgBouncer rejects these two settings. JIT compilation takes longer than most statements here: with it, a webhook delivery
      // took 0.4 s. deploy/postgresql.conf turns `jit` off for sessions behind PgBouncer. Only exports need `extra_float_digits`,
      // for all digits of floating-point numbers, and they bypass PgBouncer.
      ...(options.isPooled ? {} : { jit: "off", extra_float_digits: "1" }),
      ...(options.limitsLockWaits && !options.isPooled ? { lock_timeout: READ_LOCK_TIMEOUT_MS } : {}),
      ...(options.readOnly ? { default_transaction_read_only: true } : {}),
      ...target.settings,
      ...options.settings,
    },
    onnotice: () => {},
    // Convert column names only. `postgres.camel` would also rewrite the keys inside jsonb values.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: {
      // The driver's own parsers convert to Date.
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

/** Raises the lock timeout of transactions, unless they begin as `read only`. */
function letWritesWait(pool: Pool): void {
  const begin = pool.begin as (...given: unknown[]) => Promise<unknown>;
  const beginPatiently = (...given: unknown[]): Promise<unknown> => {
    const [run] = given;
    if (typeof run !== "function") return begin(...given);
    return begin((tx: Transaction) => {
      // The error is ignored here, because every later statement of the transaction fails too.
      tx`select set_config('lock_timeout', ${String(WRITE_LOCK_TIMEOUT_MS)}, true)`.catch(() => {});
      return run(tx);
    });
  };
  Object.assign(pool, { begin: beginPatiently });
}

/** Converts a target to driver options. The driver reads values that the URL omits from PGUSER, PGPASSWORD and PGDATABASE. */
function toAddress(target: DatabaseTarget) {
  const { socketPath, user, password, database, targetSessionAttrs } = target;
  return {
    // The driver accepts lists, but its types do not declare this.
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
 * Opens a pool of one connection to the database of another pool, for session state such as locks. Unlike a reserved connection, it
 * does not use up a connection of the other pool. The caller must end it.
 */
export function openSession(pool: Pool): Pool {
  const options = { ...pool.options, max: 1, max_lifetime: null };
  // The driver accepts options that it has already parsed, but its types do not declare this.
  return postgres(options as unknown as postgres.Options<Record<string, never>>) as unknown as Pool;
}

/** The driver's class, exported by our patch. The driver's types do not declare it. */
const { Fragment: DriverFragment } = postgres as unknown as {
  Fragment: new (strings: readonly string[], values: unknown[]) => Fragment;
};

/**
 * Creates a part of a statement from SQL text, values and other parts. The driver also accepts queries of `sql` as parts, but each
 * of them creates a promise. A search has a hundred parts, so it avoids that cost with fragments.
 */
export function fragment(
  strings: TemplateStringsArray,
  ...values: postgres.SerializableParameter[]
): Fragment {
  return new DriverFragment(strings, values);
}

/** Creates a part of a statement from SQL text. The text must never contain values from callers. */
export function rawFragment(text: string): Fragment {
  return new DriverFragment([text], []);
}

/** Returns rows as a set with the columns of a table, for a FROM clause. Columns that a row lacks are null. */
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
 * Sends the commit right after the statements sent so far, without waiting for their results. Later statements are rejected.
 * Likewise, `begin("read only")` does not wait for the response to its BEGIN. Both functions save a round trip and need our driver
 * patch.
 */
export function sendCommit(tx: Transaction): void {
  (tx as unknown as { commit(): void }).commit();
}

/** Returns the names in a comma-separated list of columns. */
export function columnList(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}

/** Returns the row of a query that returns at most one; null without rows. */
export async function firstRow<Row>(rows: PromiseLike<readonly Row[]>): Promise<Row | null> {
  return (await rows)[0] ?? null;
}

/** Returns the row of a query that always returns one. */
export async function onlyRow<Row>(rows: PromiseLike<readonly [Row]>): Promise<Row> {
  return (await rows)[0];
}

/** Returns the value in the only column of the first row; null without rows. */
export async function firstValue<Value>(
  rows: PromiseLike<readonly Readonly<Record<string, Value>>[]>,
): Promise<Value | null> {
  const [row = {}] = await rows;
  return Object.values(row)[0] ?? null;
}

/** Returns the value in the only column of a query that always returns one row. */
export async function onlyValue<Value>(
  rows: PromiseLike<readonly [Readonly<Record<string, Value>>]>,
): Promise<Value> {
  const [row] = await rows;
  return Object.values(row)[0] as Value;
}

/** Returns true if a query returns any rows. */
export async function anyRow(rows: PromiseLike<readonly unknown[]>): Promise<boolean> {
  return (await rows).length > 0;
}

export interface PoolUsage {
  /** Connections that run a query or transaction, or are being opened for one. */
  inUse: number;
  /** Queries and transactions that are waiting for a connection. */
  waiting: number;
}

/** Returns the number of connections in use and of waiting queries. Needs our driver patch. */
export function readPoolUsage(pool: Pool): PoolUsage {
  return (pool as unknown as { usage(): PoolUsage }).usage();
}

export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === constraint;
}

/** SQLSTATE of a statement that was canceled by a timeout or by the client. */
export const QUERY_CANCELED = "57014";
/** SQLSTATE of a statement that exceeded `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = "55P03";
export const DEADLOCK_DETECTED = "40P01";
/** In `read committed`, the SQLSTATE of a statement that waited for a row that was moved to another partition. */
export const SERIALIZATION_FAILURE = "40001";

/** Returns true if `error` comes from PostgreSQL and has one of the given SQLSTATEs. */
export function hasSqlState(error: unknown, ...states: readonly string[]): boolean {
  return error instanceof postgres.PostgresError && states.includes(error.code);
}

/**
 * The error of a statement that PostgreSQL rejected. `detail` may contain row values, so show it to operators but not to clients.
 */
export interface StatementError {
  sqlState: string;
  message: string;
  detail: string;
  /** The column of a violated not-null constraint; empty for most other errors. */
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

/** Error codes of the driver and the runtime for connections that cannot be opened or are lost. */
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
 * Returns true if the database cannot be reached. It may be down, starting up, shutting down or out of connections. It may also
 * refuse or end the connection with a fatal error, for example because a role or database does not accept connections now.
 */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  const code = String(error.code);
  if (!(error instanceof postgres.PostgresError)) return CONNECTION_ERRORS.has(code);
  // 08…: connection exceptions. 57P…: shutdown and recovery. 53300: too many connections.
  const isAway = code.startsWith("08") || code.startsWith("57P") || code === "53300";
  return isAway || error.severity === "FATAL";
}
