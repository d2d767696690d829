/** The embedded PostgreSQL: binaries from npm, a free local port, random passwords. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readText } from "./machine.ts";
import {
  type Cluster,
  type ClusterRole,
  createCluster,
  OWNER_ROLE,
  RUNTIME_ROLE,
  SUPERUSER,
  setUpRoles,
} from "./postgres_cluster.ts";
import { findPostgresBinaries, openPostgresDirectory, type PostgresDirectory } from "./postgres_files.ts";
import { clearLeftovers, HOST, startServer } from "./postgres_server.ts";
import type { Child, Supervisor } from "./supervisor.ts";

const DATABASE = "ulr";
const SETTINGS = { max_connections: "200", shared_buffers: "256MB", max_wal_size: "2GB" };
/** Each role's URL with its password, for the next start and for a user's `psql`; mode 0600. */
const URL_FILES: Readonly<Record<ClusterRole, string>> = {
  [RUNTIME_ROLE]: "database-url.txt",
  [OWNER_ROLE]: "database-owner-url.txt",
  [SUPERUSER]: "database-superuser-url.txt",
};

export interface EmbeddedPostgresOptions {
  supervisor: Supervisor;
  /** Holds `postgres/` (the files), the roles' URLs and `logs/postgres.log`. */
  dataDirectory: string;
  /** Of the server, beside ours. With `fsync` off, the files are not safe from a power cut from the start. */
  settings?: Readonly<Record<string, string>>;
  /** Whether a superuser can connect too, as some tests must. */
  hasSuperuser?: boolean;
  /** The folder of `initdb` and `postgres`; the npm package's if omitted. */
  binDirectory?: string | undefined;
}

/** The server, a child of the supervisor; disposing it stops it earlier. */
export interface EmbeddedPostgres extends Child {
  /** By role; empty for a role that cannot connect. */
  urls: Readonly<Record<ClusterRole, string>>;
  majorVersion: number;
}

/** The file with a role's URL. */
export function databaseUrlPath(dataDirectory: string, role: ClusterRole = RUNTIME_ROLE): string {
  return join(dataDirectory, URL_FILES[role]);
}

/**
 * Starts PostgreSQL on the files in `dataDirectory`, which it creates the first time, and waits until it accepts
 * connections. A server that is still running there is stopped first, so the caller must have made sure that no other
 * process uses the directory.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { supervisor, dataDirectory, settings, hasSuperuser } = options;
  const toCluster = (directory: PostgresDirectory): Cluster => {
    const binaries = findPostgresBinaries(directory.runAs, options.binDirectory);
    return { ...directory, supervisor, binaries };
  };
  mkdirSync(dataDirectory, { recursive: true });
  const directory = await openPostgresDirectory(join(dataDirectory, "postgres"), async (made) => {
    await createCluster(toCluster(made), { database: DATABASE, durable: settings?.["fsync"] !== "off" });
    // The old file has the password of another cluster.
    rmSync(databaseUrlPath(dataDirectory), { force: true });
  });
  const cluster = toCluster(directory);
  await clearLeftovers(cluster);
  const roles: ClusterRole[] = [RUNTIME_ROLE, OWNER_ROLE];
  if (hasSuperuser) roles.push(SUPERUSER);
  const kept = roles.map((role) => readUrl(databaseUrlPath(dataDirectory, role)));
  // One may be missing, as after a release with other roles.
  const isComplete = kept.every((url, index) => url?.username === roles[index] && url?.password);
  const passwordOf = (index: number) =>
    (isComplete && kept[index]?.password) || randomBytes(24).toString("hex");
  const passwords = Object.fromEntries(roles.map((role, index) => [role, passwordOf(index)]));
  if (!isComplete) await setUpRoles(cluster, DATABASE, passwords);
  const { port, server } = await startServer(cluster, {
    logPath: join(dataDirectory, "logs", "postgres.log"),
    settings: { ...SETTINGS, ...settings },
    preferredPort: Number(kept[0]?.port),
  });
  const urls = { [RUNTIME_ROLE]: "", [OWNER_ROLE]: "", [SUPERUSER]: "" };
  for (const role of roles) {
    const path = databaseUrlPath(dataDirectory, role);
    urls[role] = `postgres://${role}:${passwords[role]}@${HOST}:${port}/${DATABASE}`;
    rmSync(path, { force: true });
    writeFileSync(path, `${urls[role]}\n`, { mode: 0o600 });
  }
  return { ...server, urls, majorVersion: cluster.binaries.majorVersion };
}

function readUrl(path: string): URL | null {
  return URL.parse(readText(path)?.trim() ?? "");
}
