/**
 * Opens a private database for each test: a clone of a migrated template, or a database emptied after an earlier test.
 * As in production, one role owns the database and another role uses it.
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

/** The tests' counterpart of the product's `ulr_owner`. A server from TEST_DATABASE_URL may already have that role. */
const OWNER = "ulr_test_owner";
/** The tests' login role, a member of the product's runtime role. */
const RUNTIME = "ulr_test_app";

/** Allows the tests' sessions to create tracker rows with any time. Other sessions may not. */
const BACKFILL = { "ulr.backfill": "on" };

/** Returns a superuser's URL of the server that `bun run test` started or was given. */
function serverUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("Cannot reach a database: TEST_DATABASE_URL is not set; use `bun run test`");
  return url;
}

/** Returns a server's URL for another database, and for another role if `role` is given. */
function withDatabase(server: string, database: string, role?: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  if (role) {
    url.username = role;
    if (url.password) url.password = passwordOf(server, role);
  }
  return url.href;
}

/** Derives a role's password from the superuser's password, so that only test processes know it. */
function passwordOf(server: string, role: string): string {
  return new Bun.CryptoHasher("sha256").update(`${new URL(server).password} ${role}`).digest("hex");
}

async function ensureRoles(admin: postgres.Sql, server: string): Promise<void> {
  for (const role of ["ulr_app", OWNER, RUNTIME]) {
    const [found] = await admin`select 1 from pg_roles where rolname = ${role}`;
    if (!found) await admin.unsafe(`create role ${role} ${role === "ulr_app" ? "" : "login"}`);
  }
  // Uses one SCRAM iteration instead of 4,096 for the passwords below, so that new connections cost less. PostgreSQL 15
  // lacks this setting.
  await admin`select set_config(name, '1', false) from pg_settings where name = 'scram_iterations'`;
  for (const role of [OWNER, RUNTIME]) {
    await admin.unsafe(`alter role ${role} password '${passwordOf(server, role)}'`);
  }
  await admin.unsafe(`grant pg_read_all_stats to ulr_app; grant ulr_app to ${RUNTIME}`);
}

/** Returns the partitioning script, which operators may run after the migrations; null unless TEST_PARTITIONS is set. */
async function readPartitioning(): Promise<string | null> {
  if (!process.env["TEST_PARTITIONS"]) return null;
  return Bun.file(new URL("../../../sql/partition_tracker_tables.sql", import.meta.url)).text();
}

/** Returns all servers of the cluster in TEST_CITUS if `server` is its coordinator, otherwise only `server`. */
function serversOf(server: string): string[] {
  const cluster = (process.env["TEST_CITUS"] ?? "").split(",");
  return cluster[0] === server ? cluster : [server];
}

/** Creates an empty database, on all servers if `server` is the coordinator of a cluster. */
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

/** Closes the template to connections and ends Citus's background workers in it, which would block copies. */
async function closeTemplate(servers: readonly string[], template: string): Promise<void> {
  for (const url of servers) {
    await inDatabase(url, "postgres", async (sql) => {
      await sql.unsafe(`alter database ${template} is_template true allow_connections false`);
      await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${template}`;
    });
  }
}

/**
 * Creates the template unless it exists, and returns its name. The name contains a digest of the migrations, the
 * partitioning script and the number of servers.
 */
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
  /** The connection that drops databases. */
  dropper: postgres.Sql;
  /** Databases whose drop timed out. */
  left: string[];
  /** Resolves to the name of the template database. */
  template(): Promise<string>;
}

/** The servers on which this process has databases, by URL. */
const servers = new Map<string, Server>();

/**
 * Returns the connections to a server. All tests of this process share them, and they are never closed. `admin` is a
 * single connection, because `ensureRoles` changes a setting of its session.
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
 * Drops a database. The drop waits until every backend of the server has processed a barrier, even a backend that is
 * blocked on a client that does not read. A drop that times out is retried after the next successful drop.
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

/**
 * A test's database. It is dropped after a test that uses `owner`, `ownerUrl` or `admin`, because such a test may have
 * changed tables.
 */
export interface TestDatabase extends AsyncDisposable {
  /** Connections of the service's role, which can read and write rows but cannot change tables. */
  sql: Pool;
  /** The URL of the service's role. */
  url: string;
  /** Connections of the schema's owner, which runs migrations and may change tables, triggers and statistics. */
  owner: Pool;
  ownerUrl: string;
  /** A superuser's connections, for roles, server settings and other users' sessions. */
  admin: Pool;
  /** Opens a pool of the service's role. The pool is closed with the database. */
  openPool(options: PoolOptions): Pool;
}

/**
 * Opens an empty database on the tests' server, or on `server`. `await using` empties the database for the next test of
 * this process or drops it, even while sessions are connected.
 */
export async function openTestDatabase(server = serverUrl()): Promise<TestDatabase> {
  // A process does not drop its last databases. They are deleted with the server of the run.
  const isKept =
    process.env["TEST_KEEPS_DATABASES"] && server === serverUrl() && serversOf(server).length === 1;
  if (!isKept) return createTestDatabase(server);
  const used = unused.pop();
  if (used) return lend(used);
  const database = await createTestDatabase(server);
  await noteOriginal(database.admin);
  return lend(database);
}

/** Creates a database that no other test uses, for tests of query plans and of the pages that a query reads. */
export async function createTestDatabase(server = serverUrl()): Promise<OwnDatabase> {
  return createFrom(await reach(server).template(), server);
}

/** Creates a copy of a database, like a restored backup. First terminates the sessions of the original. */
export async function copyTestDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  const name = new URL(url).pathname.slice(1);
  const { admin } = reach(serverUrl());
  return waitFor(async () => {
    await admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`;
    // A new session may have connected in the meantime.
    return createFrom(name, serverUrl()).catch((error: unknown) => {
      if (error instanceof postgres.PostgresError && error.code === "55006") return null;
      throw error;
    });
  });
}

/**
 * Makes the database look like a restored dump of another database, by changing the database OID that it has recorded.
 */
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

/** A database and the pools that tests have opened on it, by their options. */
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

/** Emptied databases of earlier tests of this process. Their open sessions have cached tables and statements. */
const unused: OwnDatabase[] = [];

/** Lends a database to one test. Drops the database afterwards if the test may have changed more than rows. */
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

/**
 * Empties a database. Returns false if it cannot be reused: the test closed a pool, left a session active, changed a
 * constant table or wrote too much.
 */
async function emptyAgain({ sql, opened, admin }: OwnDatabase): Promise<boolean> {
  try {
    await Promise.all([sql, ...[...opened.values()].flat()].map((pool) => pool`select 1`));
    return await emptyDatabase(admin);
  } catch {
    return false;
  }
}
