/** The output of `migrate`: applied migrations, their status and missing privileges. */
import { expect, test } from "bun:test";
import { readMigrations } from "../../../sql/migration_files.ts";
import { runCommand, runJson } from "../../helpers/accounts/admin.ts";
import { documentSource, makeDocument, syncFrom } from "../../helpers/models/catalog.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";

const LATER = "99990101000000_later";

/** Deletes the last migration's record, as if it had not been applied. Returns its name. */
async function takeLast(db: TestDatabase): Promise<string> {
  const [row] = await db.owner<{ name: string }[]>`
    delete from schema_migrations where name = (select max(name) from schema_migrations) returning name`;
  return row?.name ?? "";
}

test("migrate from an older release than the database's applies nothing and succeeds", async () => {
  await using db = await openTestDatabase();
  await db.owner`insert into schema_migrations (name, checksum) values (${LATER}, 'x')`;
  expect(await runCommand(db.ownerUrl, ["migrate"])).toMatchObject({
    exitCode: 0,
    out: `Nothing to apply: a newer release has migrated this database up to "${LATER}".\n`,
  });
});

test("migrate prints every tenth migration for a new database, and all for an older database", async () => {
  await using db = await openTestDatabase();
  await db.owner.unsafe("drop schema public cascade; create schema public");
  const linesOf = async () => {
    const { exitCode, err } = await runCommand(db.ownerUrl, ["migrate"]);
    expect(exitCode).toBe(0);
    return err.split("\n").filter((line) => line.startsWith("Applied"));
  };
  const names = (await readMigrations()).map(({ name }) => name);
  const tens = names.flatMap((name, index) =>
    (index + 1) % 10 === 0 ? [`Applied ${index + 1} of ${names.length}: ${name}`] : [],
  );
  expect(await linesOf()).toEqual(tens);
  // This migration's statement can run twice.
  const repeatable = "20261126070000_audit_log__subject_idx__drop";
  await db.owner`delete from schema_migrations where name = ${repeatable}`;
  expect(await linesOf()).toEqual([`Applied 1 of 1: ${repeatable}`]);
});

test("migrate --status lists applied, pending and unknown migrations, and changes nothing", async () => {
  await using db = await openTestDatabase();
  const pending = await takeLast(db);
  await db.owner`insert into schema_migrations (name, checksum) values (${LATER}, 'x')`;
  const status = await runJson<Record<string, unknown>>(db.url, ["migrate", "--status"]);
  expect(status).toMatchObject({ pending: [pending], unknown: [LATER], requiredMigration: null });
  expect(status["applied"]).toHaveLength((await readMigrations()).length - 1);
  const { out } = await runCommand(db.url, ["migrate", "--status"]);
  expect(out).toMatch(/^applied {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}20261121100000_users__create$/m);
  expect(out).toMatch(new RegExp(`^unknown +${LATER}$`, "m"));
  expect(out).toMatch(new RegExp(`^pending +${pending}$`, "m"));
});

test("migrate --check finds no missing privileges for the owner", async () => {
  await using db = await openTestDatabase();
  expect(await runJson(db.ownerUrl, ["migrate", "--check"])).toEqual({ problems: [] });
});

test("migrate --check lists the missing privileges of a role that does not own the tables", async () => {
  await using db = await openTestDatabase();
  await db.owner`drop schema pgboss cascade`;
  const [{ name }] = await db.sql<[{ name: string }]>`select current_database() as name`;
  const { exitCode, err } = await runCommand(db.url, ["migrate", "--check"]);
  expect(exitCode).toBe(1);
  expect(err.trimEnd().split("\n")).toEqual([
    'Role "ulr_test_app" may not create tables: grant usage, create on schema public to "ulr_test_app"',
    `Role "ulr_test_app" may not create the schema pgboss: grant create on database "${name}" to "ulr_test_app"`,
    'Role "ulr_test_app" does not own the tables: run `bun run migrate` as "ulr_test_owner"',
  ]);
});

test("migrate adds and reports known past prices for an older installation's catalog, only once", async () => {
  await using db = await openTestDatabase();
  await syncFrom(db.sql, {
    ...documentSource(makeDocument({ openai: { "gpt-5": { cost: { input: 2, output: 10 } } } })),
    label: "https://models.dev/api.json",
  });
  const { out } = await runCommand(db.ownerUrl, ["migrate"]);
  expect(out.split("\n")).toEqual([
    "Already up to date.",
    expect.stringMatching(
      /^Added the known past of prices: 4,\d\d\d changes of 7,497 models since 2025-06-04\. 7,496 of the models were gone before the first sync\. Recorded prices stay as they were\.$/,
    ),
    "",
  ]);
  expect(await runJson(db.ownerUrl, ["migrate"])).toEqual({ applied: [] });
});
