/**
 * Tests the guarantees of `migrate`. Each migration runs once, in one process at a time, completely or not at all. `migrate`
 * retries locks that it cannot get and explains failures.
 */
import { expect, test } from "bun:test";
import { pause } from "../../shared/process/with_timeout.ts";
import { openPool, type Sql } from "../../sql/connection/pool.ts";
import { migrate } from "../../sql/migrate.ts";
import { type Migration, readMigrations, toMigration } from "../../sql/migration_files.ts";
import { readSchemaState } from "../../sql/schema_state.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { listWaiting } from "../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../helpers/wait_for.ts";

const LATER = "99990101000000_later";
/** Retry settings with the shortest lock timeout that a test can still observe. */
const IMPATIENT = { timeoutMs: 300, pauseMs: 10, attempts: 2 };

/** Opens a database with an empty `public` schema. */
async function openEmptyDatabase(): Promise<TestDatabase> {
  const db = await openTestDatabase();
  await db.owner.unsafe("drop schema public cascade; create schema public");
  return db;
}

async function tableExists(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<[{ exists: boolean }]>`
    select to_regclass(${`public.${name}`}) is not null as exists`;
  return row.exists;
}

async function listPending(db: TestDatabase, migrations?: readonly Migration[]): Promise<string[]> {
  return (await readSchemaState(db.owner, migrations)).pending;
}

/** Returns the migrations of this checkout, and a later migration with this text. */
async function withOneMore(text: string): Promise<Migration[]> {
  return [...(await readMigrations()), toMigration(LATER, text)];
}

/** Reads a table in a transaction that stays open until `release` is called. */
async function holdTable(db: TestDatabase, table: string): Promise<{ release(): Promise<void> }> {
  const reader = await db.sql.reserve();
  await reader`begin`;
  await reader`select count(*) from ${reader(table)}`;
  return {
    async release() {
      await reader`commit`;
      reader.release();
    },
  };
}

/** Returns the error message of `migrate`, or "none". The message must be a single line. */
async function failureOf(
  db: TestDatabase,
  migrations?: readonly Migration[],
  patience = IMPATIENT,
): Promise<string> {
  const failure = await migrate(db.owner, {
    patience,
    ...(migrations ? { migrations } : {}),
  }).then(
    () => "none",
    (error: Error) => error.message,
  );
  expect(failure).not.toContain("\n");
  return failure;
}

function spawnMigrator(db: TestDatabase) {
  return Bun.spawn([process.execPath, "api/admin/main.ts", "migrate"], {
    cwd: new URL("../..", import.meta.url).pathname,
    env: { ...process.env, DATABASE_URL: db.ownerUrl },
    stdio: ["ignore", "ignore", "ignore"],
  });
}

test("migrate() applies every file once, oldest first", async () => {
  await using db = await openEmptyDatabase();
  const names = (await readMigrations()).map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(await listPending(db)).toEqual(names);
  const reported: string[] = [];
  const { applied } = await migrate(db.owner, { onApplied: (name) => reported.push(name) });
  expect([applied, reported]).toEqual([names, names]);
  expect(await listPending(db)).toEqual([]);
  expect(await migrate(db.owner)).toEqual({ applied: [], unknown: [] });
});

test("migrate() runs for only one of two concurrent callers, and reports that the other caller is waiting", async () => {
  await using db = await openEmptyDatabase();
  const other = openPool(db.ownerUrl, { applicationName: "other migrator", max: 2 });
  const waits: string[] = [];
  const onNotice = (message: string) => void waits.push(message);
  const results = await Promise.all([migrate(db.owner, { onNotice }), migrate(other, { onNotice })]);
  await other.end();
  const names = (await readMigrations()).map(({ name }) => name);
  expect(results.map(({ applied }) => applied).toSorted((a, b) => a.length - b.length)).toEqual([[], names]);
  expect(waits).toEqual(["Waiting for another migrator of this database"]);
});

test("migrate() names the file that failed, rolls it back, and resumes with that file", async () => {
  await using db = await openEmptyDatabase();
  const names = (await readMigrations()).map(({ name }) => name);
  // The name of this table conflicts with an index that the migration creates after its own table.
  await db.owner.unsafe("create table audit_log_org_id_idx ()");
  const audit = names.find((name) => name.endsWith("audit_log__create")) ?? "";
  expect(await failureOf(db)).toStartWith(
    `Cannot apply "${audit}": relation "audit_log_org_id_idx" already exists. Database`,
  );
  expect(await tableExists(db.owner, "audit_log")).toBe(false);
  const rest = names.slice(names.indexOf(audit));
  expect(await listPending(db)).toEqual(rest);
  await db.owner.unsafe("drop table audit_log_org_id_idx");
  expect((await migrate(db.owner)).applied).toEqual(rest);
});

const RECORDS = "20261121101400_analysis_records__create";

/** Calls `act` while a migrator process is in the middle of a migration that creates a table with indexes. */
async function whileHalfDone(
  db: TestDatabase,
  act: (migrator: ReturnType<typeof spawnMigrator>) => Promise<void>,
): Promise<void> {
  await db.owner.unsafe("drop table analysis_records");
  await db.owner`delete from schema_migrations where name = ${RECORDS}`;
  await db.sql.begin(async (tx) => {
    // The foreign key of the new table must wait for this lock.
    await tx`lock table runs in share row exclusive mode`;
    const migrator = spawnMigrator(db);
    await waitFor(async () => (await listWaiting(db.sql, "runs")).length > 0);
    await act(migrator);
    await migrator.exited;
  });
}

test("migrate() waits until the current file of a killed migrator is applied completely", async () => {
  await using db = await openTestDatabase();
  await whileHalfDone(db, async (migrator) => migrator.kill("SIGKILL"));
  expect(await migrate(db.owner)).toEqual({ applied: [], unknown: [] });
  expect(await listPending(db)).toEqual([]);
  expect(await db.owner`select from pg_indexes where tablename = 'analysis_records'`).toHaveLength(3);
});

test("migrate() applies a file again after a terminated connection rolled the file back midway", async () => {
  await using db = await openTestDatabase();
  await whileHalfDone(db, async (migrator) => {
    for (const { pid } of await listWaiting(db.owner)) {
      await db.admin`select pg_terminate_backend(${pid}, 5000)`;
    }
    expect(await migrator.exited).toBe(1);
  });
  expect(await tableExists(db.owner, "analysis_records")).toBe(false);
  expect((await migrate(db.owner)).applied).toEqual([RECORDS]);
  expect(await listPending(db)).toEqual([]);
});

test("migrate() stops waiting for an unavailable lock, lets queued writers proceed, and retries", async () => {
  await using db = await openTestDatabase();
  const migrations = await withOneMore("alter table runs add column later int");
  const reader = await db.sql.reserve();
  await reader`begin`;
  await reader`select from runs`;
  const waits: string[] = [];
  const patience = { timeoutMs: 300, pauseMs: 2000, attempts: 50 };
  const migrating = migrate(db.owner, { migrations, patience, onNotice: (message) => waits.push(message) });
  await waitFor(async () => (await listWaiting(db.sql, "runs")).length > 0);
  // This update is queued behind the migration, and completes although the reader's transaction is still open.
  await db.sql`update runs set run_number = run_number`;
  // On a busy machine, the first attempt may end before `migrate` looks up the lock's holder. A later message then names the
  // holder.
  const named = new RegExp(
    `^"${LATER}" cannot lock its tables because of process \\d+ \\("test", role "ulr_test_app"`,
  );
  await waitFor(() => waits.some((message) => named.test(message)));
  await reader`commit`;
  reader.release();
  expect((await migrating).applied).toEqual([LATER]);
});

test("migrate() limits the total wait for a file's locks, so that reads queued behind the file do not time out", async () => {
  await using db = await openTestDatabase();
  const migrations = await withOneMore(
    "alter table api_keys add later int; alter table runs add later int; alter table issues add later int",
  );
  const [first, second] = [await holdTable(db, "runs"), await holdTable(db, "issues")];
  const patience = { timeoutMs: 4000, pauseMs: 2000, attempts: 20 };
  const migrating = migrate(db.owner, { migrations, patience });
  await waitFor(async () => (await listWaiting(db.sql, "runs")).length > 0);
  // Twice the API's lock timeout for reads, because a busy machine may be slow to end the migration's wait. If `timeoutMs` limited
  // the wait for each lock instead of the total wait, the migration would wait for 7 s.
  const reading = db.sql.begin(async (tx) => {
    await tx`set local lock_timeout = '6s'`;
    return tx`select count(*) from api_keys`;
  });
  await pause(3000);
  await first.release();
  expect(await reading).toHaveLength(1);
  await second.release();
  expect((await migrating).applied).toEqual([LATER]);
});

test("migrate() reports the holder of a lock that it never acquired", async () => {
  await using db = await openTestDatabase();
  const migrations = await withOneMore("alter table runs add column later int");
  await db.sql.begin(async (tx) => {
    const [{ pid }] = await tx<
      [{ pid: number }]
    >`select pg_backend_pid() as pid, (select count(*) from runs)`;
    // Long enough for `migrate` to look up the lock's holder at least once, even on a busy machine.
    const patience = { timeoutMs: 2000, pauseMs: 10, attempts: 2 };
    expect(await failureOf(db, migrations, patience)).toMatch(
      new RegExp(`^Cannot apply "${LATER}": .* locked in all of 2 tries of 2 s by process ${pid} \\("test"`),
    );
  });
  expect(await listPending(db, migrations)).toEqual([LATER]);
});

test.each([
  ["create schema elsewhere", "As its owner, run: grant create on database", withoutCreate],
  ["alter table pgboss.version add x int", "Run it as the role that owns the tables; this is", foreignTable],
] as const)("migrate() explains how to fix a failure of %p", async (text, advice, prepare) => {
  await using db = await openTestDatabase();
  const url = await prepare(db);
  const owner = openPool(url, { applicationName: "migrator", max: 2 });
  try {
    const failure = await failureOf({ ...db, owner }, await withOneMore(text));
    expect(failure).toStartWith(`Cannot apply "${LATER}": `);
    expect(failure).toContain(advice);
  } finally {
    await owner.end();
  }
});

/** Transfers the database, but not its tables, to another role. Returns the connection URL of the tables' owner. */
async function withoutCreate(db: TestDatabase): Promise<string> {
  const [row] = await db.admin<[{ name: string }]>`select current_database() as name`;
  await db.admin.unsafe(`alter database ${row.name} owner to postgres`);
  await db.admin.unsafe("grant create on schema public to ulr_test_owner");
  return db.ownerUrl;
}

async function foreignTable(db: TestDatabase): Promise<string> {
  await db.admin.unsafe("alter table pgboss.version owner to postgres");
  return db.ownerUrl;
}

test("migrate() rejects a file that was changed after it was applied", async () => {
  await using db = await openTestDatabase();
  await db.owner`update schema_migrations set checksum = 'changed' where name like '%users__create'`;
  const refusal = 'migration "20261121100000_users__create" was changed after it was applied';
  expect(await failureOf(db)).toStartWith(`Cannot migrate: ${refusal}`);
  await expect(readSchemaState(db.sql)).rejects.toThrow(refusal);
});

test("migrate() from an older release changes nothing, and reports the reason", async () => {
  await using db = await openTestDatabase();
  await migrate(db.owner, { migrations: await withOneMore("create table later (id int)") });
  await db.owner`delete from pgboss.queue`;
  expect(await migrate(db.owner)).toEqual({ applied: [], unknown: [LATER] });
  expect(await db.sql`select from pgboss.queue`).toHaveLength(0);

  await db.owner`delete from schema_migrations where name like '%users__create'`;
  expect(await failureOf(db)).toBe(
    `Cannot migrate: the database lacks "20261121100000_users__create", and it has 1 migration that this release does not know, the last is "${LATER}"; migrate with a release that has both`,
  );
  await db.owner`update schema_compatibility set required_migration = ${LATER}`;
  expect(await failureOf(db)).toBe(
    `Cannot migrate: the database requires migration "${LATER}", which this release does not know; start the release that has it, or a newer one`,
  );
});

test("migrate() releases its lock when it fails", async () => {
  await using db = await openTestDatabase();
  expect(await failureOf(db, await withOneMore("select 1 / 0"))).toBe(
    `Cannot apply "${LATER}": division by zero`,
  );
  const [locks] = await db.sql`
    select count(*) from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  expect(locks).toEqual({ count: 0 });
  expect(await migrate(db.owner)).toEqual({ applied: [], unknown: [] });
});

test("migrate() finds its history in any schema on the search path", async () => {
  await using db = await openTestDatabase();
  await db.owner.unsafe("create schema ulr; alter table schema_migrations set schema ulr");
  const searchPath = encodeURIComponent("ulr, public");
  const sql = openPool(`${db.ownerUrl}?search_path=${searchPath}`, { applicationName: "migrator", max: 2 });
  try {
    expect(await migrate(sql)).toEqual({ applied: [], unknown: [] });
  } finally {
    await sql.end();
  }
});
