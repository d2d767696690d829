/** The embedded PostgreSQL: binaries from npm, a free local port, random passwords. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readText } from "./machine.ts";
import {
  type ClusterRole,
  DATABASE,
  OWNER_ROLE,
  openCluster,
  RUNTIME_ROLE,
  SUPERUSER,
  setPasswords,
} from "./postgres_cluster.ts";
import { clearLeftovers, HOST, startServer } from "./postgres_server.ts";
import type { Child, Supervisor } from "./supervisor.ts";

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
  /** The folder of PostgreSQL's programs; the npm package's if omitted. */
  binDirectory?: string | undefined;
}

/** The server, a child of the supervisor; disposing it stops it earlier. */
export interface EmbeddedPostgres extends Child {
  /** By role; empty for a role that cannot connect. */
  urls: Readonly<Record<ClusterRole, string>>;
  majorVersion: number;
}

export function databaseUrlPath(dataDirectory: string, role: ClusterRole = RUNTIME_ROLE): string {
  return join(dataDirectory, URL_FILES[role]);
}

/**
 * Starts PostgreSQL on the files in `dataDirectory`, which it creates the first time, and waits until it accepts
 * connections. A server that is still running there is stopped first, so the caller must have made sure that no other
 * process uses the directory.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { supervisor, dataDirectory, settings, hasSuperuser, binDirectory } = options;
  mkdirSync(dataDirectory, { recursive: true });
  const location = join(dataDirectory, "postgres");
  const roles: ClusterRole[] = [RUNTIME_ROLE, OWNER_ROLE, ...(hasSuperuser ? ([SUPERUSER] as const) : [])];
  // A file that is left has the password of another cluster.
  if (!existsSync(location)) rmSync(databaseUrlPath(dataDirectory), { force: true });
  const kept = roles.map((role) => URL.parse(readText(databaseUrlPath(dataDirectory, role))?.trim() ?? ""));
  const durable = settings?.["fsync"] !== "off";
  const cluster = await openCluster({ supervisor, location, durable, binDirectory });
  await clearLeftovers(cluster);
  const passwords = Object.fromEntries(
    roles.map((role, index) => [role, kept[index]?.password || randomBytes(24).toString("hex")]),
  );
  if (!kept.every((url) => url?.password)) await setPasswords(cluster, passwords);
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
  return { ...server, urls, majorVersion: cluster.majorVersion };
}
