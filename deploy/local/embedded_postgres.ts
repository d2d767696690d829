/** The embedded PostgreSQL: binaries from npm, a free local port, random passwords. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPostgresBinaries } from "./postgres_binaries.ts";
import { openPostgresDirectory, type PostgresDirectory } from "./postgres_directory.ts";
import { type ClusterRole, OWNER_ROLE, RUNTIME_ROLE, roleStatements, SUPERUSER } from "./postgres_roles.ts";
import { clearLeftovers, findPostmaster, HOST, startServer } from "./postgres_server.ts";
import { type Cluster, createCluster, runSingleUser } from "./postgres_setup.ts";
import type { Supervisor } from "./supervisor.ts";

const DATABASE = "ulr";

/** Each role's URL with its password, for the next start and for a user's `psql`; mode 0600. */
const URL_FILES: Readonly<Record<ClusterRole, string>> = {
  [RUNTIME_ROLE]: "database-url.txt",
  [OWNER_ROLE]: "database-owner-url.txt",
  [SUPERUSER]: "database-superuser-url.txt",
};

const SETTINGS = { max_connections: "200", shared_buffers: "256MB", max_wal_size: "2GB" };

export interface EmbeddedPostgresOptions {
  supervisor: Supervisor;
  /** Holds `postgres/` (the files), the roles' URLs and `logs/postgres.log`. */
  dataDirectory: string;
  /** Of the server, beside ours. With `fsync` off, the files are not safe from a power cut from the start. */
  settings?: Readonly<Record<string, string>>;
  /** Whether a superuser can connect too, as some tests must. */
  hasSuperuser?: boolean;
  /** The folder of `initdb`, `pg_ctl` and `postgres`; the npm package's if omitted. */
  binDirectory?: string | undefined;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** By role; empty for a role that cannot connect. */
  urls: Readonly<Record<ClusterRole, string>>;
  /** Of the postmaster. */
  pid: number;
  majorVersion: number;
  /** True when the server has ended, whatever the reason. */
  hasEnded(): boolean;
}

type Passwords = Partial<Record<ClusterRole, string>>;

/** The file with a role's URL. */
export function databaseUrlPath(dataDirectory: string, role: ClusterRole = RUNTIME_ROLE): string {
  return join(dataDirectory, URL_FILES[role]);
}

function readKeptUrl(path: string): URL | null {
  try {
    return new URL(readFileSync(path, "utf8").trim());
  } catch {
    return null;
  }
}

/** Returns the stored passwords of all `roles`; null if one is missing, as after a release with other roles. */
function readKeptPasswords(dataDirectory: string, roles: readonly ClusterRole[]): Passwords | null {
  const passwords: Passwords = {};
  for (const role of roles) {
    const url = readKeptUrl(databaseUrlPath(dataDirectory, role));
    if (url?.username !== role || !url.password) return null;
    passwords[role] = url.password;
  }
  return passwords;
}

/** Creates the roles of a cluster that is not running, or gives them new passwords. */
async function setUpRoles(cluster: Cluster, roles: readonly ClusterRole[]): Promise<Passwords> {
  const passwords = Object.fromEntries(roles.map((role) => [role, randomBytes(24).toString("hex")]));
  await runSingleUser(cluster, DATABASE, roleStatements(DATABASE, passwords));
  return passwords;
}

function writeUrls(dataDirectory: string, passwords: Passwords, port: number): Record<ClusterRole, string> {
  const urls = { [RUNTIME_ROLE]: "", [OWNER_ROLE]: "", [SUPERUSER]: "" };
  for (const [role, password] of Object.entries(passwords) as [ClusterRole, string][]) {
    const path = databaseUrlPath(dataDirectory, role);
    urls[role] = `postgres://${role}:${password}@${HOST}:${port}/${DATABASE}`;
    rmSync(path, { force: true });
    writeFileSync(path, `${urls[role]}\n`, { mode: 0o600 });
  }
  return urls;
}

/**
 * Starts PostgreSQL on the files in `dataDirectory`, which it creates the first time, and waits until it accepts
 * connections. A server that is still running there is stopped first, so the caller must have made sure that no other
 * process uses the directory. The supervisor stops the server; disposing the result does so earlier.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { supervisor, dataDirectory, settings } = options;
  const urlPath = databaseUrlPath(dataDirectory);
  const toCluster = (directory: PostgresDirectory): Cluster => {
    const binaries = findPostgresBinaries(directory.runAs, options.binDirectory);
    return { ...directory, supervisor, binaries };
  };
  mkdirSync(dataDirectory, { recursive: true });
  const directory = await openPostgresDirectory(join(dataDirectory, "postgres"), async (made) => {
    await createCluster(toCluster(made), { database: DATABASE, durable: settings?.["fsync"] !== "off" });
    // The old file has the password of another cluster.
    rmSync(urlPath, { force: true });
  });
  const cluster = toCluster(directory);
  await clearLeftovers(cluster);
  const roles: ClusterRole[] = [RUNTIME_ROLE, OWNER_ROLE];
  if (options.hasSuperuser) roles.push(SUPERUSER);
  const passwords = readKeptPasswords(dataDirectory, roles) ?? (await setUpRoles(cluster, roles));
  const { port, stop } = await startServer(cluster, {
    logPath: join(dataDirectory, "logs", "postgres.log"),
    settings: { ...SETTINGS, ...settings },
    preferredPort: Number(readKeptUrl(urlPath)?.port),
  });
  return {
    urls: writeUrls(dataDirectory, passwords, port),
    pid: findPostmaster(cluster.path) ?? 0,
    majorVersion: cluster.binaries.majorVersion,
    hasEnded: () => findPostmaster(cluster.path) === null,
    [Symbol.asyncDispose]: stop,
  };
}
