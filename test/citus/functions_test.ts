/**
 * The functions of distributed tracker tables. `tracker distribute` installs them, upgrades replace them, and they no
 * longer use Citus when the tables are back on one machine.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPool, type Sql } from "../../sql/connection/pool.ts";
import { migrate } from "../../sql/migrate.ts";
import { type Migration, readMigrations } from "../../sql/migration_files.ts";
import { openNodes } from "../../sql/tracker/tracker_shards.ts";
import { runCommand, runFailing, runJson } from "../helpers/accounts/admin.ts";
import { CitusCluster, inDatabase } from "../helpers/postgres/citus_cluster.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";

const cluster = new CitusCluster();
beforeAll(() => cluster.serve());
afterAll(() => cluster[Symbol.asyncDispose]());

const PROJECT = "00000000-0000-4000-8000-000000000000";

/** Lists the functions of the tracker tables with their bodies, sorted by name. */
function listBodies(sql: Sql) {
  return sql<{ name: string; body: string }[]>`
    select proname as name, prosrc as body
    from pg_proc
    where pronamespace = 'public'::regnamespace
      and (proname ~ '^log_tracker_' or proname ~ '^tracker_' or proname = 'refuse_wrong_time')
    order by 1`;
}

/** Runs `listBodies` on every server of the cluster, the coordinator first. */
function listEverywhere(url: string) {
  const name = new URL(url).pathname.slice(1);
  return Promise.all(cluster.urls.map((server) => inDatabase(server, name, (sql) => listBodies(sql))));
}

/** Inserts a row at the transaction's time and updates it. Checks that the change log has one entry, for the update. */
async function writeRow(sql: Sql): Promise<void> {
  const number = Math.ceil(Math.random() * 1e9);
  await sql`
    insert into runs (project_id, run_number, workflow_type, "timestamp") values (${PROJECT}, ${number}, 'test', now())`;
  const [run] = await sql<[{ id: string }]>`
    update runs set archive_reason = 'x' where project_id = ${PROJECT} and run_number = ${number} returning id`;
  const changes =
    await sql`select kind from tracker_changes where project_id = ${PROJECT} and id = ${run.id}`;
  expect([...changes]).toEqual([{ kind: "row" }]);
}

/** Installs the functions of the release that checked for Citus on each call. */
async function installOld({ owner }: TestDatabase, migrations: readonly Migration[]): Promise<void> {
  const [nodes, unregistered] = ["_tracker_tables__nodes", "__unregistered_coordinator"].map(
    (end) => migrations.find(({ name }) => name.endsWith(end))?.text ?? "",
  );
  for (const text of `${nodes}\n${unregistered}`.split(/^(?=create )/m).slice(1))
    await owner.unsafe(text.replace(/^create function/, "create or replace function"));
}

test("migrate replaces the functions in a database that an older release distributed", async () => {
  await using db = await openTestDatabase();
  const migrations = await readMigrations();
  const installed = await listEverywhere(db.ownerUrl);
  expect(installed[1]).toEqual(installed[0]);
  await installOld(db, migrations);
  await db.owner`delete from schema_migrations where name ~ '^20261126060000_'`;
  await writeRow(db.sql);
  for (const [first] of await listEverywhere(db.ownerUrl)) expect(first?.body).toContain("to_regproc");

  expect((await migrate(db.owner)).applied).toEqual(["20261126060000_tracker_tables__functions__replace"]);
  expect(await listEverywhere(db.ownerUrl)).toEqual(installed);
  await writeRow(db.sql);
  expect(await runJson(db.ownerUrl, ["tracker", "check"])).toMatchObject({ differences: [] });
});

test("a database that was migrated before Citus was installed can be distributed", async () => {
  const name = "late";
  for (const url of cluster.urls)
    await inDatabase(url, "postgres", (sql) => sql.unsafe(`create database ${name}`));
  const [coordinator = "", ...workers] = cluster.urls.map((url) => new URL(`/${name}`, url).href);
  expect((await runCommand(coordinator, ["migrate"])).exitCode).toBe(0);
  for (const url of cluster.urls) await inDatabase(url, name, (sql) => sql`create extension citus`);
  await inDatabase(coordinator, name, async (sql) => {
    const { hostname, port } = new URL(coordinator);
    await sql`select citus_set_coordinator_host(${hostname}, ${Number(port)})`;
    for (const url of workers.map((worker) => new URL(worker)))
      await sql`select citus_add_node(${url.hostname}, ${Number(url.port)})`;
  });
  expect(await runCommand(coordinator, ["tracker", "distribute"])).toMatchObject({ exitCode: 0 });
  await inDatabase(coordinator, name, async (sql) => {
    const pool = sql as unknown as Sql;
    await writeRow(pool);
    expect((await runCommand(coordinator, ["migrate"])).exitCode).toBe(0);
    await writeRow(pool);
  });
});

/** Reads the statements in docs/scaling.md that move the tables back to one machine. */
async function readWayBack(): Promise<string[]> {
  const page = await Bun.file(new URL("../../docs/scaling.md", import.meta.url)).text();
  const [, section = ""] = page.split("### Go back\n");
  const [, statements = ""] = /^```sql\n(.*?)^```$/ms.exec(section) ?? [];
  return statements.trim().split(";\n");
}

test("a database moved back to one machine regains its foreign keys and functions, and works without Citus", async () => {
  await using db = await openTestDatabase();
  const options = { url: db.url, applicationName: "test", max: 1, log: { warn() {} } as never };
  const nodes = await openNodes(db.sql, options);
  expect(nodes).not.toBeNull();
  await nodes?.close();
  const make = createFactory(db.sql);
  const { user, org } = await make.person();
  await make.project({ id: PROJECT, orgId: org.id, ownerId: user.id });
  const [move = "", moveLog = "", ...keys] = await readWayBack();
  for (const statement of [move, moveLog]) await db.owner.unsafe(statement);
  await writeRow(db.sql);
  await migrate(db.owner);
  const lacks = await runFailing(db.ownerUrl, ["tracker", "check"]);
  for (const table of ["runs", "issues"]) expect(lacks).toContain(`${table}: no foreign key`);
  for (const statement of keys) await db.owner.unsafe(statement);
  expect(await runJson(db.ownerUrl, ["tracker", "check"])).toMatchObject({ differences: [] });
  for (const { body } of await listBodies(db.owner)) expect(body).not.toContain("citus");
  expect(await openNodes(db.sql, options)).toBeNull();
  await db.admin`drop extension citus cascade`;
  await writeRow(db.sql);
});

test("a session opened before the coordinator was registered is asked to reconnect", async () => {
  const [coordinator, ...workers] = cluster.urls.map((url) => new URL("/early", url));
  if (!coordinator) throw new Error("Cannot go on: there is no coordinator");
  for (const url of cluster.urls) {
    await inDatabase(url, "postgres", (sql) => sql`create database early`);
    await inDatabase(url, "early", (sql) => sql`create extension citus`);
  }
  const early = openPool(coordinator.href, { applicationName: "tracker", max: 1 });
  await early`select`;
  await inDatabase(coordinator.href, "early", async (sql) => {
    await sql`select citus_set_coordinator_host(${coordinator.hostname}, ${Number(coordinator.port)})`;
    for (const { hostname, port } of workers) await sql`select citus_add_node(${hostname}, ${Number(port)})`;
  });
  const late = openPool(coordinator.href, { applicationName: "tracker", max: 1 });
  await migrate(late);
  expect(await runCommand(coordinator.href, ["tracker", "distribute"])).toMatchObject({ exitCode: 0 });
  const insert = (number: number) => `
    insert into runs (project_id, run_number, workflow_type, "timestamp")
    values ('00000000-0000-4000-8000-000000000000', ${number}, 'test', now())`;
  await expect(Promise.resolve(early.unsafe(insert(1)))).rejects.toMatchObject({
    message:
      "Cannot write tracker rows in this session: the coordinator was not registered when it was opened",
    hint: "Connect again. If that does not help, call citus_set_coordinator_host() on the coordinator first.",
  });
  await late.unsafe(insert(2));
  expect([...(await late`select run_number from runs`)]).toEqual([{ runNumber: 2 }]);
  await Promise.all([early.end({ timeout: 1 }), late.end({ timeout: 1 })]);
});
