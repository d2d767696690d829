/** Tests that `migrate` recomputes the hashes that older releases wrote, even during concurrent writes and after being killed. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { parse } from "yaml";
import { rehashDefinitions } from "../../../sql/definitions/rehash.ts";
import { migrate } from "../../../sql/migrate.ts";
import { readMigrations } from "../../../sql/migration_files.ts";
import { runCommand } from "../../helpers/accounts/admin.ts";
import { agentYaml, makeDefinition } from "../../helpers/definitions/definitions.ts";
import { readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory, type Person } from "../../helpers/postgres/factory.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** The last migration of a release that hashed YAML texts. */
const RELEASED = "20261123090000_tracker_tables__nodes";
const OLD_HASH = `sha256:${"0".repeat(64)}`;

interface Row {
  name: string;
  yaml: string;
  hash: string;
  jsonHash: string | null;
}

function listRows({ sql }: TestDatabase): Promise<Row[]> {
  return sql<Row[]>`select name, yaml, hash, json_hash from definitions order by name`;
}

function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Returns the expected hash of a document that has neither unusual scalars nor integer keys. */
function expectedHash(yaml: string): string {
  return digest(
    JSON.stringify(parse(yaml), (_, value) =>
      value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  );
}

/** Returns all columns of the definitions except the hashes. */
async function listOtherColumns({ sql }: TestDatabase): Promise<unknown[]> {
  const rows =
    await sql`select to_jsonb(d) - '{hash,json_hash}'::text[] as columns from definitions as d order by d.id`;
  return [...rows];
}

/** Returns the `xmin` of each listing, which changes whenever the listing is written. */
async function listListings({ sql }: TestDatabase): Promise<unknown[]> {
  return [...(await sql`select definition_id, xmin::text from definition_listings order by definition_id`)];
}

/** Creates versions as an old release stored them. Half of them are published. */
async function makeOldVersions(db: TestDatabase, count: number): Promise<Person> {
  const person = await createFactory(db.sql).person();
  for (let at = 0; at < count; at += 1) {
    const status = at % 2 === 0 ? "published" : "draft";
    await makeDefinition(db.sql, person, { name: `agent-${String(at).padStart(4, "0")}`, status });
  }
  return person;
}

function spawnMigrator(db: TestDatabase) {
  return Bun.spawn([process.execPath, "api/admin/main.ts", "migrate"], {
    cwd: new URL("../../..", import.meta.url).pathname,
    env: { ...process.env, DATABASE_URL: db.ownerUrl },
    stdio: ["ignore", "ignore", "ignore"],
  });
}

function expectNew(rows: readonly Row[]): void {
  for (const { yaml, hash, jsonHash } of rows) expect([hash, jsonHash]).toEqual([expectedHash(yaml), hash]);
}

test("writes the documented hashes to a database from an older release, and changes nothing else", async () => {
  await using db = await openTestDatabase();
  await db.owner.unsafe("drop schema public cascade; create schema public; drop schema pgboss cascade");
  const migrations = await readMigrations();
  const index = migrations.findIndex(({ name }) => name === RELEASED);
  await migrate(db.owner, { migrations: migrations.slice(0, index + 1) });
  const person = await createFactory(db.sql).person();
  for (const { type, yaml } of readDemoDefinitions()) {
    const { name } = parse(yaml)[type].interface;
    await makeDefinition(db.sql, person, { type, name, status: "published" });
    await db.owner.unsafe(
      "alter table definitions disable trigger definitions_published_guard; " +
        `update definitions set yaml = $ulr$${yaml}$ulr$ where type = '${type}' and name = '${name}'; ` +
        "alter table definitions enable trigger definitions_published_guard",
    );
  }
  const before = await listOtherColumns(db);
  const progress: number[][] = [];
  await migrate(db.owner, { onRehashed: (...counts) => void progress.push(counts) });
  const rows = await listRows(db);
  expectNew(rows);
  expect([rows.length, progress.at(-1)]).toEqual([before.length, [before.length, before.length]]);
  const after = await listOtherColumns(db);
  expect(after).toEqual(before);
  expect((await runCommand(db.ownerUrl, ["migrate"])).out).not.toContain("hashes");
});

test("recomputes hashes that an older release wrote after a migration, and prints how many", async () => {
  await using db = await openTestDatabase();
  await makeOldVersions(db, 3);
  await rehashDefinitions(db.owner, { onProgress() {} });
  const [, draft] = await listRows(db);
  const yaml = agentYaml("agent-0001", "1.0.0", { build: "3.10" });
  await db.sql`update definitions set yaml = ${yaml}, hash = ${OLD_HASH} where name = 'agent-0001'`;
  const listings = await listListings(db);
  const { out } = await runCommand(db.ownerUrl, ["migrate"]);
  expect(out).toContain("Recomputed hashes of definitions: 1.");
  expect(await listListings(db)).toEqual(listings);
  const [, rehashed] = await listRows(db);
  const root = parse(yaml);
  root.agent.interface.build = "3.10";
  expect(rehashed?.hash).toBe(expectedHash(JSON.stringify(root)));
  expect(rehashed?.hash).not.toBe(draft?.hash ?? "");
});

test("hashes the raw bytes of YAML that can no longer be parsed", async () => {
  await using db = await openTestDatabase();
  await makeOldVersions(db, 2);
  const yaml = `${agentYaml("agent-0001")}  x: &x {a: 1}\n  y: {<<: *x}\n`;
  await db.sql`update definitions set yaml = ${yaml} where name = 'agent-0001'`;
  expect(await rehashDefinitions(db.owner, { onProgress() {} })).toBe(0);
  expect((await listRows(db))[1]?.hash).toBe(digest(yaml));
});

test("continues after a migrator is killed, even with two concurrent migrators", async () => {
  await using db = await openTestDatabase();
  await makeOldVersions(db, 400);
  // Slows each batch down to about a second, so that the process is killed before the last batch.
  await db.owner.unsafe(`
    create function wait_a_moment() returns trigger language plpgsql as $$ begin perform pg_sleep(0.01); return new; end $$;
    create trigger wait_a_moment before update on definitions for each row execute function wait_a_moment()`);
  const killed = spawnMigrator(db);
  const countNew = async () => (await listRows(db)).filter(({ jsonHash }) => jsonHash !== null).length;
  await waitFor(async () => (await countNew()) > 0);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(await countNew()).toBeLessThan(400);
  await db.owner.unsafe("drop trigger wait_a_moment on definitions");
  const migrators = [spawnMigrator(db), spawnMigrator(db)];
  expect(await Promise.all(migrators.map(({ exited }) => exited))).toEqual([0, 0]);
  expectNew(await listRows(db));
});

test("does not wait for writers, and does not overwrite their changes", async () => {
  await using db = await openTestDatabase();
  await makeOldVersions(db, 4);
  const yaml = agentYaml("agent-0001", "1.0.0", { domain: "security" });
  const { promise, resolve } = Promise.withResolvers<void>();
  const writing = db.sql.begin(async (tx) => {
    await tx`select from definition_lines for no key update`;
    await tx`update definitions set yaml = ${yaml}, hash = ${OLD_HASH} where name = 'agent-0001'`;
    await promise;
  });
  await waitFor(
    async () => (await db.admin`select from pg_locks where relation = 'definitions'::regclass`).length > 0,
  );
  const rehashing = rehashDefinitions(db.owner, { onProgress() {} });
  await waitFor(async () => (await listRows(db)).filter(({ jsonHash }) => jsonHash !== null).length === 3);
  resolve();
  await writing;
  expect(await rehashing).toBe(0);
  const rows = await listRows(db);
  expectNew(rows);
  expect(rows[1]?.yaml).toBe(yaml);
});

test("lets a published version's hash be replaced only once, and only by a hash in the new format", async () => {
  await using db = await openTestDatabase();
  await makeOldVersions(db, 1);
  const set = async (columns: Readonly<Record<string, string | null>>) =>
    db.sql`update definitions set ${db.sql(columns)}`.then(
      () => "done",
      (error: Error) => error.message.split(":")[0],
    );
  const refused = "Cannot change definition agent/agent-0000@1.0.0";
  const other = digest("other");
  expect(await set({ hash: other })).toBe(refused);
  expect(await set({ hash: digest("one"), jsonHash: other })).toBe(refused);
  expect(await set({ hash: other, jsonHash: other, displayName: "other" })).toBe(refused);
  expect(await set({ hash: other, jsonHash: other })).toBe("done");
  expect(await set({ hash: digest("one"), jsonHash: digest("one") })).toBe(refused);
  expect(await set({ jsonHash: null })).toBe(refused);
});
