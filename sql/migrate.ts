/**
 * Applies pending migrations in the order of their names. Then installs the functions of the tracker tables, validates the check
 * constraints on time columns, upgrades the job queue, grants privileges, and recomputes hashes that SQL cannot compute.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { pause } from "../shared/process/with_timeout.ts";
import {
  DEADLOCK_DETECTED,
  hasSqlState,
  LOCK_NOT_AVAILABLE,
  onlyValue,
  openSession,
  type Pool,
  SERIALIZATION_FAILURE,
  type Sql,
} from "./connection/pool.ts";
import { rehashDefinitions } from "./definitions/rehash.ts";
import { installQueues } from "./job_queue.ts";
import { tryLockSession } from "./locks.ts";
import { MigrationError, toMigrationError } from "./migration_failure.ts";
import { type Migration, readMigrations } from "./migration_files.ts";
import {
  createHistory,
  describeUnknown,
  insertApplied,
  readSchemaState,
  requireKnownRequirement,
  type SchemaState,
} from "./schema_state.ts";
import { isTrackerDistributed } from "./tracker/distribute_tracker.ts";
import { installDistributedFunctions, restoreFunctions } from "./tracker/tracker_shards.ts";
import { validateTimeChecks } from "./tracker/wrong_times.ts";

const RUNTIME_ROLE_GRANTS = fileURLToPath(new URL("./runtime_role.sql", import.meta.url));
/**
 * Poll interval for the lock of another migrator. Waiting inside PostgreSQL would block that migrator's `create index
 * concurrently`.
 */
const TURN_POLL_MS = 500;

/** Limits for a migration that waits for table locks. While it waits, sessions that need its locked tables queue behind it. */
export interface LockPatience {
  /** Timeout for all table locks of the migration together. */
  timeoutMs: number;
  /** Pause between attempts, in which queued writes can run. */
  pauseMs: number;
  attempts: number;
}

/** SQLSTATEs of a migration that failed because of concurrent sessions. */
const BUSY = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED, SERIALIZATION_FAILURE];
const CONNECTION_LOST = "Cannot migrate: the connection to the database was lost; run it again to go on";

/**
 * All attempts together take a little over two minutes. Each attempt blocks other sessions for just over 2 s, so reads, whose lock
 * timeout is 3 s, do not fail.
 */
const PATIENCE: LockPatience = { timeoutMs: 2000, pauseMs: 5000, attempts: 20 };

export interface MigrateOptions {
  /** Called after each migration, with the number of applied migrations (`count`) and of all pending ones (`total`). */
  onApplied?: (name: string, count: number, total: number) => void;
  /** Called with messages for the operator, for example about sessions that block the migrator or rows that need correction. */
  onNotice?: (message: string) => void;
  /** Called every second while hashes of definitions are recomputed, and at the end if any were recomputed. */
  onRehashed?: (done: number, total: number) => void;
  /** The migrations to apply; the migrations of this checkout if omitted. */
  migrations?: readonly Migration[];
  patience?: LockPatience;
}

export interface MigrateResult {
  applied: string[];
  /** Migrations that a newer release has applied. If there are any, this call applied nothing. */
  unknown: string[];
}

interface Migrator {
  /**
   * The connection that holds the lock and runs the statements. If the migrator is killed, the lock remains until the running
   * statement ends, and the next migrator waits.
   */
  connection: Sql;
  /** The process id of the connection. It changes if the driver replaces a lost connection. The lock is then lost too. */
  pid: number;
  pool: Pool;
  patience: LockPatience;
  onNotice: (message: string) => void;
  /** Whether the tracker tables are distributed over the nodes of a Citus cluster. */
  isDistributed: boolean;
}

/**
 * Applies pending migrations. A second migrator waits for the first and then finds nothing to do. If a newer release has migrated
 * the database, nothing changes. Throws a MigrationError that names the failed step or migration. Earlier migrations stay applied,
 * and the next call continues with the failed one.
 */
export async function migrate(pool: Pool, options: MigrateOptions = {}): Promise<MigrateResult> {
  const { onApplied, onNotice = () => {}, onRehashed = () => {}, patience = PATIENCE } = options;
  const connection = openSession(pool);
  try {
    const migrator: Migrator = {
      ...{ connection, pid: await findPid(connection), pool, patience, onNotice },
      isDistributed: await isTrackerDistributed(connection),
    };
    await takeTurn(migrator);
    await step(connection, "create the table schema_migrations", () => createHistory(connection));
    const known = options.migrations ?? (await readMigrations());
    const { pending, unknown } = await plan(connection, known);
    if (unknown.length > 0) return { applied: [], unknown };
    const missing = known.filter(({ name }) => pending.includes(name));
    for (const [index, migration] of missing.entries()) {
      await applyPatiently(migrator, migration);
      onApplied?.(migration.name, index + 1, missing.length);
    }
    await step(connection, "install the functions of the tracker tables", () =>
      migrator.isDistributed
        ? connection.begin(installDistributedFunctions)
        : restoreFunctions(connection, known),
    );
    await step(connection, "validate the checks of times", async () => {
      for (const line of await validateTimeChecks(connection)) onNotice(line);
    });
    await step(connection, "install the job queue", () => installQueues(connection));
    const grants = await readFile(RUNTIME_ROLE_GRANTS, "utf8");
    await step(connection, "grant the role ulr_app its rights", () => connection.unsafe(grants));
    await step(connection, "recompute the hashes of definitions", async () => {
      const left = await rehashDefinitions(connection, { onProgress: onRehashed });
      if (left > 0)
        onNotice(
          `${left} definitions still have the hash of an older release: other sessions lock them. Run it again`,
        );
    });
    return { applied: pending, unknown: [] };
  } finally {
    await connection.end({ timeout: 1 });
  }
}

async function findPid(connection: Sql): Promise<number> {
  return onlyValue(connection<[{ pid: number }]>`select pg_backend_pid() as pid`);
}

async function takeTurn({ connection, onNotice }: Migrator): Promise<void> {
  for (let isTold = false; !(await tryLockSession(connection, "migrate")); isTold = true) {
    if (!isTold) onNotice("Waiting for another migrator of this database");
    await pause(TURN_POLL_MS);
  }
}

async function step(sql: Sql, name: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw await toMigrationError(sql, name, error);
  }
}

/** Returns the schema state with the pending migrations. Throws if this release cannot migrate the database. */
async function plan(connection: Sql, known: readonly Migration[]): Promise<SchemaState> {
  try {
    const state = await readSchemaState(connection, known);
    requireKnownRequirement(state);
    const [first] = state.pending;
    if (first === undefined || state.unknown.length === 0) return state;
    throw new Error(
      `the database lacks "${first}", and ${describeUnknown(state)}; migrate with a release that has both`,
    );
  } catch (error) {
    throw await toMigrationError(connection, "migrate", error);
  }
}

/** Applies one migration, and retries if other sessions block it. */
async function applyPatiently(migrator: Migrator, migration: Migration): Promise<void> {
  const { connection, pool, pid, patience, onNotice } = migrator;
  if ((await findPid(connection)) !== pid) throw new MigrationError(CONNECTION_LOST);
  // No session queues behind `create index concurrently`, so its waits have no limit.
  const limitMs = migration.hasTransaction ? patience.timeoutMs : Number.POSITIVE_INFINITY;
  for (let attempt = 1; ; attempt += 1) {
    await using watch = watchLockWaits(pool, pid, limitMs);
    try {
      await (migration.hasTransaction ? applyWhole : applyAlone)(migrator, migration);
      return;
    } catch (error) {
      if (!watch.hasCanceled && !hasSqlState(error, ...BUSY)) {
        throw await toMigrationError(connection, `apply "${migration.name}"`, error);
      }
      if (attempt === patience.attempts) throw lockError(migration, patience, watch);
      onNotice(
        `"${migration.name}" cannot lock its tables because of ${watch.holders || "another session"}; trying again`,
      );
    }
    await pause(patience.pauseMs);
  }
}

function lockError({ name }: Migration, patience: LockPatience, { holders }: LockWatch): MigrationError {
  const tries = `${patience.attempts} tries of ${patience.timeoutMs / 1000} s`;
  return new MigrationError(
    `Cannot apply "${name}": its tables were locked in all of ${tries} by ${holders || "another session"}. Run it again when that session has ended, or end it: select pg_terminate_backend(…)`,
  );
}

/**
 * Applies a migration in one message. After a lost connection, the driver would send a second message outside the transaction.
 * Citus forwards whole messages to its nodes, so on Citus a `do` block executes the migration as a separate query string.
 */
async function applyWhole(
  { connection, patience, isDistributed }: Migrator,
  { name, checksum, text }: Migration,
): Promise<void> {
  try {
    await connection.unsafe(`
      begin;
      set local lock_timeout = ${patience.timeoutMs};
      ${isDistributed ? `do $ulr_do$ begin execute $ulr_text$${text}$ulr_text$; end $ulr_do$` : text}
      ;
      insert into schema_migrations (name, checksum) values ('${name.replaceAll("'", "''")}', '${checksum}');
      commit`);
  } catch (error) {
    await connection.unsafe("rollback").catch(() => {});
    throw error;
  }
}

/**
 * Applies a migration outside a transaction. Its statement must be repeatable, because an earlier attempt may have succeeded
 * without being recorded.
 */
async function applyAlone({ connection }: Migrator, migration: Migration): Promise<void> {
  await dropInvalidIndex(connection, migration);
  await connection.unsafe(migration.text);
  await insertApplied(connection, migration);
}

/** Drops the invalid index that an interrupted attempt left, because `if not exists` would accept it. */
async function dropInvalidIndex(connection: Sql, { text }: Migration): Promise<void> {
  const [, name] =
    /create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i.exec(text) ?? [];
  if (!name) return;
  const [broken] = await connection`
    select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`;
  if (broken) await connection.unsafe(`drop index concurrently ${name}`);
}

const CHECK_INTERVAL_MS = 250;

interface LockWatch extends AsyncDisposable {
  /** Describes the sessions that were last seen blocking; empty if no session was blocking. */
  readonly holders: string;
  /** Whether the watch has canceled the statement because its lock waits took too long in total. */
  readonly hasCanceled: boolean;
}

interface HolderRow {
  pid: number;
  role: string | null;
  applicationName: string | null;
  state: string | null;
  seconds: number | null;
}

/**
 * Watches which sessions block the process `pid`. Polls on another connection, because the server no longer knows the sessions
 * after the wait. `lock_timeout` limits each wait, and the watch cancels the statement when its waits exceed `limitMs` in total.
 * Dispose of the watch to stop it.
 */
function watchLockWaits(sql: Sql, pid: number, limitMs: number): LockWatch {
  const stopped = new AbortController();
  let holders = "";
  let hasCanceled = false;
  const watching = (async () => {
    let waitedMs = 0;
    let seenAt = performance.now();
    for (;;) {
      await pause(CHECK_INTERVAL_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      const rows = await listHolders(sql, pid).catch(() => []);
      const now = performance.now();
      if (rows.length > 0) {
        holders = rows.map(describeHolder).join(" and ");
        waitedMs += now - seenAt;
      }
      seenAt = now;
      if (waitedMs > limitMs) hasCanceled ||= await cancelWait(sql, pid).catch(() => false);
    }
  })();
  return {
    get holders() {
      return holders;
    },
    get hasCanceled() {
      return hasCanceled;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await watching;
    },
  };
}

/** Cancels the statement of the process `pid` if it is still waiting for a lock. Returns true if the statement was canceled. */
async function cancelWait(sql: Sql, pid: number): Promise<boolean> {
  const [row] = await sql<[{ isCanceled: boolean }]>`
    select case when pg_blocking_pids(${pid}) <> '{}' then pg_cancel_backend(${pid}) else false end as is_canceled`;
  return row.isCanceled;
}

async function listHolders(sql: Sql, pid: number): Promise<HolderRow[]> {
  return sql<HolderRow[]>`
    select distinct
      b.pid, a.usename as role, a.application_name, a.state,
      extract(epoch from clock_timestamp() - a.xact_start)::int as seconds
    from unnest(pg_blocking_pids(${pid})) as b (pid)
    left join pg_stat_activity as a on a.pid = b.pid
    order by b.pid`;
}

function describeHolder({ pid, role, applicationName, state, seconds }: HolderRow): string {
  // A transaction prepared for two-phase commit has no process.
  if (pid === 0) return "a prepared transaction (see pg_prepared_xacts)";
  const facts = [
    applicationName && `"${applicationName}"`,
    role && `role "${role}"`,
    state && (seconds === null ? state : `${state}, ${seconds} s into its transaction`),
  ].filter(Boolean);
  return `process ${pid}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
}
