/**
 * Processes of this release on a database that a newer release migrated. Migrations only add objects, unless they raise
 * the required migration.
 */
import { expect, test } from "bun:test";
import { runCommand } from "../helpers/accounts/admin.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { spawnApi, startApi } from "../helpers/process/api_process.ts";
import { runCommand as runProgram } from "../helpers/process/command.ts";
import { spawnRunner, startRunner } from "../helpers/process/runner_process.ts";

const LATER = "99990101000000_later";
const NEWER = `The database is newer than this release: it has 1 migration that this release does not know, the last is "${LATER}"`;
const REFUSAL = `the database requires migration "${LATER}", which this release does not know; start the release that has it, or a newer one\n`;

/** Opens a database with a migration that this release does not know. */
async function openNewerDatabase(): Promise<TestDatabase> {
  const db = await openTestDatabase();
  await db.owner`insert into schema_migrations (name, checksum) values (${LATER}, 'x')`;
  return db;
}

/** Makes the newer migration a requirement, as an incompatible migration does. */
async function raiseBar(db: TestDatabase): Promise<void> {
  await db.owner`update schema_compatibility set required_migration = ${LATER}`;
}

function syncOnce(env: Record<string, string>) {
  return runProgram([process.execPath, "catalog-sync/main.ts", "--once"], {
    env: { ...env, CATALOG_SOURCE: "bundled" },
  });
}

test("an older release runs on a newer schema, and every process logs one line about the newer schema", async () => {
  await using db = await openNewerDatabase();
  const env = { DATABASE_URL: db.url };
  await using api = await startApi(env);
  await using runner = await startRunner(env);
  for (const { logLines } of [api, runner]) {
    const warnings = logLines().filter(({ event }) => event === "schema.newer");
    expect(warnings).toMatchObject([{ level: "warn", message: NEWER }]);
  }
  expect((await api.request("/health/ready")).status).toBe(200);
  expect(await syncOnce(env)).toMatchObject({ exitCode: 0, stderr: `${NEWER}\n` });
  const listed = await runCommand(db.url, ["user", "list", "--json"]);
  expect([listed.exitCode, JSON.parse(listed.out), listed.err]).toEqual([0, { users: [] }, `${NEWER}\n`]);
});

test("an older release fails to start, with an error that names the migration, if the schema requires a newer release", async () => {
  await using db = await openNewerDatabase();
  await raiseBar(db);
  const env = { DATABASE_URL: db.url };
  for (const spawn of [spawnApi, spawnRunner]) {
    await using service = spawn(env);
    expect(await service.exited).toBe(1);
    expect(service.problems()).toBe(`Cannot start: ${REFUSAL}`);
  }
  expect(await syncOnce(env)).toMatchObject({ exitCode: 1, stderr: `Cannot start: ${REFUSAL}` });
  expect(await runCommand(db.url, ["user", "list"])).toMatchObject({
    exitCode: 1,
    err: `Cannot run "user list": ${REFUSAL}`,
  });
  expect(await runCommand(db.ownerUrl, ["migrate"])).toMatchObject({
    exitCode: 1,
    err: `Cannot migrate: ${REFUSAL}`,
  });
});

test("a release that includes the required migration runs", async () => {
  await using db = await openTestDatabase();
  await db.owner`update schema_compatibility set required_migration = (select max(name) from schema_migrations)`;
  const listed = await runCommand(db.url, ["user", "list", "--json"]);
  expect([listed.exitCode, listed.err]).toEqual([0, ""]);
});
