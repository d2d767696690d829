/** A private database per test, cloned from a migrated template. */
import postgres from "postgres";
import { migrate, readMigrations } from "../../sql/migrate.ts";
import { openPool, type Pool } from "../../sql/pool.ts";

const TEMPLATE_LOCK = 7_311_002;

/** The server that `bun run test` started; its URL names a database to create others from. */
function serverUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("Cannot reach a database: TEST_DATABASE_URL is not set; use `bun run test`");
  return url;
}

function withDatabase(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** What an operator may run after the migrations: `null` unless TEST_PARTITIONS says that this run wants it. */
async function readPartitioning(): Promise<string | null> {
  if (!process.env["TEST_PARTITIONS"]) return null;
  return Bun.file(new URL("../../sql/partition_tracker_tables.sql", import.meta.url)).text();
}

/** Makes the template if no other test file has; its name says what it holds. */
async function ensureTemplate(admin: postgres.Sql, server: string): Promise<string> {
  const checksums = (await readMigrations()).map((migration) => migration.checksum).join();
  const partitioning = await readPartitioning();
  const digest = new Bun.CryptoHasher("sha256")
    .update(checksums)
    .update(partitioning ?? "")
    .digest("hex");
  const template = `template_${digest.slice(0, 16)}`;
  await admin`select pg_advisory_lock(${TEMPLATE_LOCK})`;
  try {
    const [found] = await admin`select 1 from pg_database where datname = ${template} and datistemplate`;
    if (found) return template;
    await admin.unsafe(`drop database if exists ${template} with (force)`);
    await admin.unsafe(`create database ${template}`);
    const sql = openPool(withDatabase(server, template), { applicationName: "test-template", max: 2 });
    await migrate(sql);
    if (partitioning) await sql.begin((tx) => tx.unsafe(partitioning));
    await sql.end();
    await admin.unsafe(`alter database ${template} is_template true`);
    return template;
  } finally {
    await admin`select pg_advisory_unlock(${TEMPLATE_LOCK})`;
  }
}

interface Server {
  admin: postgres.Sql;
  /** Resolves to its name. */
  template(): Promise<string>;
}

/** Those that this process has databases on. */
const servers = new Map<string, Server>();

/** The server, with one connection for all tests of this process: locks are a session's. It is never ended. */
function reach(url: string): Server {
  const known = servers.get(url);
  if (known) return known;
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  let template: Promise<string> | undefined;
  const server: Server = {
    admin,
    template: () => {
      template ??= ensureTemplate(admin, url);
      return template;
    },
  };
  servers.set(url, server);
  return server;
}

export interface TestDatabase extends AsyncDisposable {
  sql: Pool;
  url: string;
}

/** Creates a database, on the tests' server or another; `await using` drops it, whatever is still connected. */
export async function openTestDatabase(server = serverUrl()): Promise<TestDatabase> {
  const { admin, template } = reach(server);
  const name = `t_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  await admin.unsafe(`create database ${name} template ${await template()} strategy file_copy`);
  const url = withDatabase(server, name);
  const sql = openPool(url, { applicationName: "test", max: 4 });
  return {
    sql,
    url,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      await admin.unsafe(`drop database ${name} with (force)`);
    },
  };
}
