/**
 * A private database per test, cloned from a migrated template or emptied after an earlier test. One role owns it and another
 * uses it, as in production.
 */
import postgres from "postgres";
import { openPool, openSession, type Pool, type PoolOptions } from "../../../sql/connection/pool.ts";
import { lockSession } from "../../../sql/locks.ts";
import { migrate } from "../../../sql/migrate.ts";
import { readMigrations } from "../../../sql/migration_files.ts";
import { distributeTracker } from "../../../sql/tracker/distribute_tracker.ts";
import { waitFor } from "../wait_for.ts";
import { createCitusDatabase, inDatabase } from "./citus_cluster.ts";
import { emptyDatabase, noteOriginal } from "./empty_database.ts";

/** Stands for the product's `ulr_owner`, which a server from TEST_DATABASE_URL may already have. */
const OWNER = "ulr_test_owner";
/** A member of the product's runtime role. */
const RUNTIME = "ulr_test_app";

/** Tests may create tracker rows with any time; other sessions may not. */
const BACKFILL = { "ulr.backfill": "on" };

/** The server that `bun run test` started: a superuser's URL. */
function serverUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("Cannot reach a database: TEST_DATABASE_URL is not set; use `bun run test`");
  return url;
}

/** The URL of another database or role on a server. */
function withDatabase(server: string, database: string, role?: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  if (role) {
    url.username = role;
    if (url.password) url.password = passwordOf(server, role);
  }
  return url.href;
}

/** Derived from the superuser's URL, so that all test processes know it and no one else does. */
function passwordOf(server: string, role: string): string {
  return new Bun.CryptoHasher("sha256").update(`${new URL(server).password} ${role}`).digest("hex");
}

async function ensureRoles(admin: postgres.Sql, server: string): Promise<void> {
  for (const role of ["ulr_app", OWNER, RUNTIME]) {
    const [found] = await admin`select 1 from pg_roles where rolname = ${role}`;
    if (!found) await admin.unsafe(`create role ${role} ${role === "ulr_app" ? "" : "login"}`);
  }
  // By default, both sides hash the password 4,096 times for each new connection. PostgreSQL 15 has no such setting.
  await admin`select set_config(name, '1', false) from pg_settings where name = 'scram_iterations'`;
  for (const role of [OWNER, RUNTIME]) {
    await admin.unsafe(`alter role ${role} password '${passwordOf(server, role)}'`);
  }
  await admin.unsafe(`grant pg_read_all_stats to ulr_app; grant ulr_app to ${RUNTIME}`);
}

/** A script that operators may run after the migrations; null unless TEST_PARTITIONS asks for it. */
async function readPartitioning(): Promise<string | null> {
  if (!process.env["TEST_PARTITIONS"]) return null;
  return Bun.file(new URL("../../../sql/partition_tracker_tables.sql", import.meta.url)).text();
}

/** The servers of this coordinator's cluster: only itself unless TEST_CITUS names more. */
function serversOf(server: string): string[] {
  const cluster = (process.env["TEST_CITUS"] ?? "").split(",");
  return cluster[0] === server ? cluster : [server];
}

/** Creates the database for the template, on a cluster with its nodes. */
async function createBase(admin: postgres.Sql, server: string, name: string): Promise<void> {
  const servers = serversOf(server);
  if (servers.length === 1) {
    await admin.unsafe(`create database ${name} owner ${OWNER}`);
    return;
  }
  for (const url of servers) await inDatabase(url, "postgres", (sql) => ensureRoles(sql, url));
  await createCitusDatabase(servers, { name, owner: OWNER });
  await inDatabase(server, name, (sql) => sql.unsafe(`grant pg_read_all_stats to ${OWNER}`));
}

/** Ends Citus's background workers, which would block copies. */
async function closeTemplate(servers: readonly string[], template: string): Promise<void> {
  for (const url of servers) {
    await inDatabase(url, "postgres", async (sql) => {
      await sql.unsafe(`alter database ${template} is_template true allow_connections false`);
      await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${template}`;
    });
  }
}

/** Creates the template unless another test file did; its name depends on its content. */
async function ensureTemplate(admin: postgres.Sql, server: string): Promise<string> {
  const checksums = (await readMigrations()).map((migration) => migration.checksum).join();
  const partitioning = await readPartitioning();
  const digest = new Bun.CryptoHasher("sha256")
    .update(checksums)
    .update(partitioning ?? "")
    .update(String(serversOf(server).length))
    .digest("hex");
  const template = `template_${digest.slice(0, 16)}`;
  const turn = openSession(admin);
  await lockSession(turn, "testTemplate");
  try {
    const [found] = await admin`select 1 from pg_database where datname = ${template} and datistemplate`;
    if (found) return template;
    await admin.unsafe(`drop database if exists ${template} with (force)`);
    await ensureRoles(admin, server);
    await createBase(admin, server, template);
    const url = withDatabase(server, template, OWNER);
    const sql = openPool(url, { applicationName: "test-template", max: 2 });
    await migrate(sql);
    if (partitioning) await sql.begin((tx) => tx.unsafe(partitioning));
    if (serversOf(server).length > 1) await distributeTracker(sql, () => {});
    await sql.end();
    await admin.unsafe(`alter database ${template} is_template true`);
    if (serversOf(server).length > 1) await closeTemplate(serversOf(server), template);
    return template;
  } finally {
    await turn.end();
  }
}

interface Server {
  admin: postgres.Sql;
  /** Drops databases. */
  dropper: postgres.Sql;
  /** Databases whose drop timed out. */
  left: string[];
  /** Resolves to the database's name. */
  template(): Promise<string>;
}

/** The servers that this process has databases on. */
const servers = new Map<string, Server>();

/**
 * The server, with one connection for all tests of this process, because locks belong to a session. It is never
 * closed.
 */
function reach(url: string): Server {
  const known = servers.get(url);
  if (known) return known;
  const admin = openPool(url, {
    applicationName: "test-admin",
    max: 1,
    settings: { statement_timeout: "60s" },
  });
  let template: Promise<string> | undefined;
  const dropper = openPool(url, {
    applicationName: "test-dropper",
    max: 1,
    settings: { statement_timeout: "2s" },
  });
  const server: Server = {
    admin,
    dropper,
    left: [],
    template: () => {
      template ??= ensureTemplate(admin, url);
      return template;
    },
  };
  servers.set(url, server);
  return server;
}

/**
 * Drops a database. PostgreSQL waits for every session of the server, even those whose client does not read. A drop
 * that times out is repeated after the next one.
 */
async function dropDatabase(
  { dropper, left }: Pick<Server, "dropper" | "left">,
  name: string,
): Promise<void> {
  for (let next: string | undefined = name; next !== undefined; next = left.pop()) {
    try {
      await dropper.unsafe(`drop database if exists ${next} with (force)`);
    } catch (error) {
      const isTimeout = error instanceof postgres.PostgresError && error.code === "57014";
      if (!isTimeout) throw error;
      left.push(next);
      return;
    }
  }
}

/** A test that takes `owner`, `ownerUrl` or `admin` may change tables, so its database is dropped. */
export interface TestDatabase extends AsyncDisposable {
  /** Connections of the service's role, which reads and writes rows and cannot change tables. */
  sql: Pool;
  /** The URL of the same role. */
  url: string;
  /** Connections of the role that owns the schema and runs migrations: for tables, triggers and statistics. */
  owner: Pool;
  ownerUrl: string;
  /** A superuser's connections: for roles, server settings and other users' sessions. */
  admin: Pool;
  /** Opens a pool of the service's role, which ends with the database. */
  openPool(options: PoolOptions): Pool;
}

/**
 * Opens an empty database on the tests' server, or another; `await using` empties it for the next test of this process, or drops
 * it even while sessions are connected.
 */
export async function openTestDatabase(server = serverUrl()): Promise<TestDatabase> {
  // The last databases of a process are not dropped: they go with the server of the run.
  const isKept =
    process.env["TEST_KEEPS_DATABASES"] && server === serverUrl() && serversOf(server).length === 1;
  if (!isKept) return createTestDatabase(server);
  const used = unused.pop();
  if (used) return lend(used);
  const database = await createTestDatabase(server);
  await noteOriginal(database.admin);
  return lend(database);
}

/** Creates a database for this test only, used by no test before or after it: for tests of plans and of the pages that are read. */
export async function createTestDatabase(server = serverUrl()): Promise<OwnDatabase> {
  return createFrom(await reach(server).template(), server);
}

/** Creates a copy of this database, like a restored backup. Ends this database's sessions first. */
export async function copyTestDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  const name = new URL(url).pathname.slice(1);
  const { admin } = reach(serverUrl());
  return waitFor(async () => {
    await admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`;
    // A session may have connected again.
    return createFrom(name, serverUrl()).catch((error: unknown) => {
      if (error instanceof postgres.PostgresError && error.code === "55006") return null;
      throw error;
    });
  });
}

/** Makes the database look like one that was restored from a dump of another: its identity is that of another place. */
export async function restoreElsewhere({ sql }: Pick<TestDatabase, "sql">): Promise<void> {
  await sql`update installation set database_oid = database_oid + 1`;
}

async function createFrom(template: string, server: string): Promise<OwnDatabase> {
  const { admin: creator } = reach(server);
  const name = `t_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const [, ...workers] = serversOf(server);
  const copy = `create database ${name} template ${template} strategy file_copy owner ${OWNER}`;
  await creator.unsafe(copy);
  for (const worker of workers) {
    await inDatabase(worker, "postgres", async (sql) => {
      await sql.unsafe(copy);
      await sql.unsafe(`alter database ${name} set ulr.backfill = on`);
    });
  }
  return connect(server, name);
}

/** Creates a database on a cluster whose tracker tables are not yet distributed. */
export async function openUndistributedDatabase(server = serverUrl()): Promise<TestDatabase> {
  const { admin } = reach(server);
  const name = `t_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  await createBase(admin, server, name);
  const database = connect(server, name);
  await migrate(database.owner);
  return database;
}

/** A database with the pools that tests opened, by their options. */
interface OwnDatabase extends TestDatabase {
  opened: Map<string, Pool[]>;
}

function connect(server: string, name: string): OwnDatabase {
  const url = withDatabase(server, name, RUNTIME);
  const ownerUrl = withDatabase(server, name, OWNER);
  const applicationName = "test";
  const sql = openPool(url, { applicationName, max: 4, settings: BACKFILL });
  const owner = openPool(ownerUrl, { applicationName, max: 3, settings: BACKFILL });
  const admin = openPool(withDatabase(server, name), { applicationName, max: 2, settings: BACKFILL });
  const opened = new Map<string, Pool[]>();
  return {
    sql,
    url,
    owner,
    ownerUrl,
    admin,
    opened,
    openPool(options) {
      const key = JSON.stringify(options);
      const pool = openPool(url, options);
      opened.set(key, [...(opened.get(key) ?? []), pool]);
      return pool;
    },
    async [Symbol.asyncDispose]() {
      const pools = [sql, owner, admin, ...[...opened.values()].flat()];
      await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })));
      await dropDatabase(reach(server), name);
      for (const worker of serversOf(server).slice(1))
        await inDatabase(worker, "postgres", (dropper) => dropDatabase({ dropper, left: [] }, name));
    },
  };
}

/** Empty databases that earlier tests of this process have used, with their sessions, which know tables and statements. */
const unused: OwnDatabase[] = [];

/** Lends a database to one test. If the test may have changed more than rows, it is dropped afterwards. */
function lend(database: OwnDatabase): TestDatabase {
  let isChanged = false;
  const changing = <Value>(value: Value): Value => {
    isChanged = true;
    return value;
  };
  const taken = new Map<string, number>();
  return {
    sql: database.sql,
    url: database.url,
    get owner() {
      return changing(database.owner);
    },
    get ownerUrl() {
      return changing(database.ownerUrl);
    },
    get admin() {
      return changing(database.admin);
    },
    openPool(options) {
      const key = JSON.stringify(options);
      const place = taken.get(key) ?? 0;
      taken.set(key, place + 1);
      return database.opened.get(key)?.[place] ?? database.openPool(options);
    },
    async [Symbol.asyncDispose]() {
      if (!isChanged && (await emptyAgain(database))) unused.push(database);
      else await database[Symbol.asyncDispose]();
    },
  };
}

/** False if the test ended a pool, left something running or wrote too much. */
async function emptyAgain({ sql, opened, admin }: OwnDatabase): Promise<boolean> {
  try {
    await Promise.all([sql, ...[...opened.values()].flat()].map((pool) => pool`select 1`));
    return await emptyDatabase(admin);
  } catch {
    return false;
  }
}
