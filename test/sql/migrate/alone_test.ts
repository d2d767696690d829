/** Tests migrations that PostgreSQL cannot run in a transaction: `create index concurrently`. */
import { expect, test } from "bun:test";
import type { Sql } from "../../../sql/connection/pool.ts";
import { migrate } from "../../../sql/migrate.ts";
import { type Migration, readMigrations, toMigration } from "../../../sql/migration_files.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const NAME = "99990101000000_runs__later_idx__add";
const TEXT =
  "-- no transaction\ncreate index concurrently if not exists runs_later_idx on runs (run_number);\n";

async function withIndex(text = TEXT): Promise<Migration[]> {
  return [...(await readMigrations()), toMigration(NAME, text)];
}

/** Returns whether the index is valid; undefined if it does not exist. */
async function findIndex(sql: Sql): Promise<{ isValid: boolean } | undefined> {
  const [row] = await sql<{ isValid: boolean }[]>`
    select indisvalid as is_valid from pg_index where indexrelid = to_regclass('runs_later_idx')`;
  return row;
}

/** Starts a transaction that `create index concurrently` waits for in its second phase. */
async function holdWriter(db: TestDatabase): Promise<{ commit(): Promise<void> }> {
  const writer = await db.sql.reserve();
  await writer`begin`;
  await writer`lock table runs in row exclusive mode`;
  return {
    async commit() {
      await writer`commit`;
      writer.release();
    },
  };
}

function hasBegun(db: TestDatabase): Promise<boolean> {
  return findIndex(db.sql).then((index) => index !== undefined);
}

test("builds a non-transactional migration's index during other sessions' writes, and records the migration", async () => {
  await using db = await openTestDatabase();
  const migrations = await withIndex();
  const writer = await holdWriter(db);
  const migrating = migrate(db.owner, { migrations });
  await waitFor(() => hasBegun(db));
  await db.sql`update runs set run_number = run_number`;
  await writer.commit();
  expect((await migrating).applied).toEqual([NAME]);
  expect(await findIndex(db.sql)).toEqual({ isValid: true });
  expect(await migrate(db.owner, { migrations })).toEqual({ applied: [], unknown: [] });
});

test("rebuilds an index that a failed attempt left invalid", async () => {
  await using db = await openTestDatabase();
  const migrations = await withIndex();
  const writer = await holdWriter(db);
  const migrating = migrate(db.owner, { migrations }).catch((error: Error) => error.message);
  await waitFor(() => hasBegun(db));
  await db.admin`
    select pg_cancel_backend(pid)
    from pg_stat_activity
    where datname = current_database() and query like '%create index concurrently%' and pid <> pg_backend_pid()`;
  expect(await migrating).toContain(`Cannot apply "${NAME}": canceling statement`);
  await writer.commit();
  expect(await findIndex(db.sql)).toEqual({ isValid: false });
  expect((await migrate(db.owner, { migrations })).applied).toEqual([NAME]);
  expect(await findIndex(db.sql)).toEqual({ isValid: true });
});

test("waits until the index that a killed migrator began is built", async () => {
  await using db = await openTestDatabase();
  const migrations = await withIndex();
  const writer = await holdWriter(db);
  const script = `
    import { migrate } from "./sql/migrate.ts";
    import { readMigrations, toMigration } from "./sql/migration_files.ts";
    import { openPool } from "./sql/connection/pool.ts";
    const migrations = [...(await readMigrations()), toMigration(process.env.NAME, process.env.TEXT)];
    await migrate(openPool(process.env.DATABASE_URL, { applicationName: "killed", max: 2 }), { migrations });`;
  const killed = Bun.spawn([process.execPath, "-e", script], {
    cwd: new URL("../../..", import.meta.url).pathname,
    env: { ...process.env, DATABASE_URL: db.ownerUrl, NAME, TEXT },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitFor(() => hasBegun(db));
  killed.kill("SIGKILL");
  await killed.exited;
  const waits: string[] = [];
  const next = migrate(db.owner, { migrations, onNotice: (message) => waits.push(message) });
  await waitFor(() => waits.length > 0);
  expect(waits).toEqual(["Waiting for another migrator of this database"]);
  await writer.commit();
  // The session of the killed migrator has built the index, so `next` only records the migration.
  expect((await next).applied).toEqual([NAME]);
  expect(await findIndex(db.sql)).toEqual({ isValid: true });
});

test("lets only one of two concurrent migrators build the index, and lets both migrators finish", async () => {
  await using db = await openTestDatabase();
  const migrations = await withIndex();
  const results = await Promise.all([migrate(db.owner, { migrations }), migrate(db.admin, { migrations })]);
  expect(results.flatMap(({ applied }) => applied)).toEqual([NAME]);
  expect(await findIndex(db.sql)).toEqual({ isValid: true });
});
