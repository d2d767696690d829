/**
 * Tests that the migrations mark exactly one version of each line as first, even if concurrent writers still run functions of the
 * old schema.
 */
import { expect, test } from "bun:test";
import type { Sql } from "../../../sql/connection/pool.ts";
import { migrate } from "../../../sql/migrate.ts";
import { readMigrations } from "../../../sql/migration_files.ts";
import { makeDefinition } from "../../helpers/definitions/definitions.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

const FILL = "20261129010001_definition_listings__is_first__fill";
const REPAIR = "20261129010002_definition_listings__is_first__repair";

/** Opens a database that is migrated to just before the backfill, with a published version and a draft for each name. */
async function openBeforeFill(names: readonly string[]): Promise<TestDatabase> {
  const db = await openTestDatabase();
  await db.owner.unsafe("drop schema public cascade; create schema public");
  const migrations = await readMigrations();
  await migrate(db.owner, { migrations: migrations.filter(({ name }) => name < FILL) });
  const person = await createFactory(db.owner).person();
  for (const name of names) {
    await makeDefinition(db.owner, person, { name, status: "published", visibility: "public" });
    await makeDefinition(db.owner, person, { name, version: "2.0.0" });
  }
  return db;
}

/** Migrates while `write` is uncommitted, and returns the versions that are marked as first. */
async function listFirstAfter(
  db: TestDatabase,
  write: (tx: Sql) => Promise<unknown>,
): Promise<readonly string[]> {
  const patience = { timeoutMs: 2000, pauseMs: 10, attempts: 20 };
  await commitDuring(db, write, () => migrate(db.owner, { patience }));
  const rows = await db.owner<{ version: string }[]>`
    select d.name || '@' || d.version as version
    from definition_listings as v
    join definitions as d on d.id = v.definition_id
    where v.is_first
    order by 1`;
  return rows.map(({ version }) => version);
}

test("marks first versions that are updated during the backfill", async () => {
  await using db = await openBeforeFill(["one", "two"]);
  const first = await listFirstAfter(
    db,
    (tx) => tx`update definitions set updated_at = now() where name = 'one'`,
  );
  expect(first).toEqual(["one@1.0.0", "two@1.0.0"]);
});

test("marks the first version of a line that is created during the backfill", async () => {
  await using db = await openBeforeFill(["one"]);
  const first = await listFirstAfter(
    db,
    (tx) => tx`
      with line as (
        insert into definition_lines (org_id, type, name)
        select org_id, type, 'two' from definition_lines
        returning id, org_id, type, name
      )
      insert into definitions (line_id, org_id, type, name, version, yaml, hash, display_name, author_id, change_type)
      select l.id, l.org_id, l.type, l.name, d.version, d.yaml, d.hash, d.display_name, d.author_id, d.change_type
      from line as l
      cross join definitions as d
      where d.status = 'draft'`,
  );
  expect(first).toEqual(["one@1.0.0", "two@2.0.0"]);
});

test("marks the published version if a publication moves its listing to another partition during the backfill", async () => {
  await using db = await openBeforeFill(["one"]);
  const first = await listFirstAfter(
    db,
    (tx) => tx`
      update definitions
      set status = 'published', visibility = 'public', published_at = now()
      where status = 'draft'`,
  );
  expect(first).toEqual(["one@2.0.0"]);
});

test("corrects only lines that an earlier backfill left wrong", async () => {
  await using db = await openBeforeFill(["one", "two"]);
  const migrations = (await readMigrations()).filter(({ name }) => name < REPAIR);
  await migrate(db.owner, { migrations });
  await db.owner`update definition_listings set is_first = not is_first where name = 'one'`;
  const before = await db.owner`select xmin, ctid from definition_listings where name = 'two' order by 2`;
  expect(await listFirstAfter(db, async () => {})).toEqual(["one@1.0.0", "two@1.0.0"]);
  const after = await db.owner`select xmin, ctid from definition_listings where name = 'two' order by 2`;
  expect([...after]).toEqual([...before]);
});
