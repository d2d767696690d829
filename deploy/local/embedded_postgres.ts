/**
 * Runs the embedded PostgreSQL: a cluster with its server on a free local port, and roles with random passwords. One role owns
 * and migrates the schema. The service connects as the other role.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pollUntil } from "../../shared/process/with_timeout.ts";
import { chooseFreePort, commandLineOf, readText } from "./machine.ts";
import { chooseAccount, findPrograms, openFolder, type PostgresPrograms } from "./postgres_files.ts";
import { type Child, type ChildOptions, describeExit, type RunAs, type Supervisor } from "./supervisor.ts";

const HOST = "127.0.0.1";
const DATABASE = "ulr";
/** The cluster's superuser. It has no password, so it cannot connect. */
export const SUPERUSER = "postgres";
/** The role that owns the database and all its objects. Only migrations use this role. */
export const OWNER_ROLE = "ulr_owner";
/** The role that reads and writes rows. `sql/runtime_role.sql` grants its privileges after every migration. */
export const RUNTIME_ROLE = "ulr_app";

type ClusterRole = typeof SUPERUSER | typeof OWNER_ROLE | typeof RUNTIME_ROLE;

/** Files with each role's URL and password, for the next start and for a user's `psql`. Their mode is 0600. */
const URL_FILES: Readonly<Record<ClusterRole, string>> = {
  [RUNTIME_ROLE]: "database-url.txt",
  [OWNER_ROLE]: "database-owner-url.txt",
  [SUPERUSER]: "database-superuser-url.txt",
};
/** Environment of PostgreSQL's programs, the same for every caller: English messages, UTC, and no PG* variables. */
const POSTGRES_ENV = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
/** Allows only TCP connections from this machine that authenticate with a password. */
const HOST_BASED_AUTHENTICATION = "host all all 127.0.0.1/32 scram-sha-256\n";
const SIZE_SETTINGS = { max_connections: "200", shared_buffers: "256MB", max_wal_size: "2GB" };
const SETTINGS = {
  listen_addresses: HOST,
  // Clients use TCP, and a Unix socket would need a folder.
  unix_socket_directories: "",
  timezone: "UTC",
  log_timezone: "UTC",
};
/** Crash recovery may read gigabytes before the server is ready. */
const READY_TIMEOUT_MS = 300_000;
/** Retries a start: another program may take the port, and the server of a killed start may still be starting or stopping. */
const ATTEMPTS = 10;
const RETRYABLE =
  /could not bind|Address already in use|pre-existing shared memory|lock file .* already exists/;
const SHUTDOWN_MS = 20_000;

interface EmbeddedPostgresOptions {
  supervisor: Supervisor;
  /** Directory for `postgres/` (the cluster's files), the roles' URLs and `logs/postgres.log`. */
  dataDirectory: string;
  /** The API's port, which PostgreSQL must not use. */
  reservedPort?: number;
  /** Additional settings of the server. With `fsync` off, a power failure can corrupt even a new cluster. */
  settings?: Readonly<Record<string, string>>;
  /** Whether the superuser can connect, which some tests require. */
  hasSuperuser?: boolean;
  /** The folder of PostgreSQL's programs; the npm package's folder by default. */
  binDirectory?: string | undefined;
}

/** The server process. Disposing it stops the server before the supervisor would. */
export interface EmbeddedPostgres extends Child {
  /** Connection URLs by role; empty for a role that cannot connect. */
  urls: Readonly<Record<ClusterRole, string>>;
  majorVersion: number;
}

type Program = "initdb" | "pg_ctl" | "postgres";

/** A cluster and the programs to run on it. */
interface Cluster extends PostgresPrograms {
  supervisor: Supervisor;
  /** The data directory, with symbolic links resolved. */
  path: string;
  /** The account that runs the programs; undefined for the current account. */
  runAs: RunAs | undefined;
}

export function databaseUrlPath(dataDirectory: string, role: ClusterRole = RUNTIME_ROLE): string {
  return join(dataDirectory, URL_FILES[role]);
}

/**
 * Starts PostgreSQL on the cluster in `dataDirectory` and waits until the server accepts connections. Creates the cluster if it
 * does not exist. Stops a server that is still running on the cluster, so the caller must ensure that no other process uses
 * `dataDirectory`.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { supervisor, dataDirectory, reservedPort, settings, hasSuperuser, binDirectory } = options;
  mkdirSync(dataDirectory, { recursive: true });
  const location = join(dataDirectory, "postgres");
  const roles: ClusterRole[] = [RUNTIME_ROLE, OWNER_ROLE, ...(hasSuperuser ? ([SUPERUSER] as const) : [])];
  // A leftover URL file has the password of a deleted cluster.
  if (!existsSync(location)) rmSync(databaseUrlPath(dataDirectory), { force: true });
  const kept = roles.map((role) => URL.parse(readText(databaseUrlPath(dataDirectory, role))?.trim() ?? ""));
  const isDurable = settings?.["fsync"] !== "off";
  const cluster = await openCluster(supervisor, location, { isDurable, binDirectory });
  await clearLeftovers(cluster);
  const passwords = Object.fromEntries(
    roles.map((role, index) => [role, kept[index]?.password || randomBytes(24).toString("hex")]),
  );
  if (!kept.every((url) => url?.password)) {
    const toStatement = (role: ClusterRole) => `alter role ${role} password '${passwords[role]}'`;
    await runSingleUser(cluster, roles.map(toStatement));
  }
  const logPath = join(dataDirectory, "logs", "postgres.log");
  const all = { ...SIZE_SETTINGS, ...settings };
  const choosePort = () => chooseFreePort(HOST, Number(kept[0]?.port), reservedPort);
  const { port, server } = await startServer(cluster, logPath, all, choosePort);
  const urls = { [RUNTIME_ROLE]: "", [OWNER_ROLE]: "", [SUPERUSER]: "" };
  for (const role of roles) {
    const path = databaseUrlPath(dataDirectory, role);
    urls[role] = `postgres://${role}:${passwords[role]}@${HOST}:${port}/${DATABASE}`;
    rmSync(path, { force: true });
    writeFileSync(path, `${urls[role]}\n`, { mode: 0o600 });
  }
  return { ...server, urls, majorVersion: cluster.majorVersion };
}

/** Opens the cluster at `location`, a folder or a link to a folder. Creates the cluster if it does not exist. */
export async function openCluster(
  supervisor: Supervisor,
  location: string,
  { isDurable, binDirectory }: { isDurable: boolean; binDirectory?: string | undefined },
): Promise<Cluster> {
  const runAs = chooseAccount(location);
  const programs = await findPrograms(runAs, `${location}-programs`, binDirectory);
  const at = (path: string): Cluster => ({ supervisor, path, runAs, ...programs });
  return at(await openFolder(location, runAs, (folder) => createCluster(at(folder), isDurable)));
}

/** Starts one of PostgreSQL's programs. */
function spawnProgram(
  { supervisor, bin, runAs }: Cluster,
  program: Program,
  options: Omit<ChildOptions, "name" | "command" | "cwd" | "env" | "runAs">,
): Promise<Child> {
  const command = join(bin, program);
  return supervisor.spawn({ name: "PostgreSQL", command, ...options, cwd: "/", env: POSTGRES_ENV, runAs });
}

/** Runs a program until it exits and returns its last output lines. Throws an error with these lines if the program fails. */
async function runProgram(
  cluster: Cluster,
  program: Program,
  args: readonly string[],
  input?: string,
): Promise<readonly string[]> {
  const { exited, lastLines } = await spawnProgram(cluster, program, { args, input, output: () => {} });
  const exit = await exited;
  if (exit.code === 0) return lastLines;
  throw new Error(`Cannot set up PostgreSQL: ${lastLines.join("\n") || describeExit(exit)}`);
}

/** Runs statements as the superuser of a stopped cluster, in single-user mode. Runs all statements, then throws if any failed. */
async function runSingleUser(cluster: Cluster, statements: readonly string[]): Promise<void> {
  const args = ["--single", "-D", cluster.path, "postgres"];
  const lines = await runProgram(cluster, "postgres", args, `${statements.join("\n")}\n`);
  // The exit code is 0 even if a statement fails.
  const errors = lines.filter((line) => /\b(ERROR|FATAL|PANIC):/.test(line));
  if (errors.length > 0) throw new Error(`Cannot set up PostgreSQL: ${errors.join("\n")}`);
}

/** Creates a cluster in an empty folder, with one database and with roles that cannot connect yet. */
async function createCluster(cluster: Cluster, isDurable: boolean): Promise<void> {
  // String comparison is the same on every machine: by code point, with Unicode case mapping.
  const locale =
    cluster.majorVersion < 17
      ? ["--locale=C.UTF-8"]
      : ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const flags = ["-D", cluster.path, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-instructions"];
  await runProgram(cluster, "initdb", [...flags, ...locale, ...(isDurable ? [] : ["--no-sync"])]);
  await runSingleUser(cluster, [
    `create database ${DATABASE}`,
    `create role ${OWNER_ROLE} login`,
    `create role ${RUNTIME_ROLE} login`,
    // Watermarks depend on other sessions, and a waiting migration reports the session that blocks it.
    `grant pg_read_all_stats to ${RUNTIME_ROLE}, ${OWNER_ROLE}`,
    `alter database ${DATABASE} owner to ${OWNER_ROLE}`,
  ]);
  writeFileSync(join(cluster.path, "pg_hba.conf"), HOST_BASED_AUTHENTICATION);
}

function readPidFile(directory: string): string {
  return readText(join(directory, "postmaster.pid")) ?? "";
}

/**
 * Returns the pid of the server running on `directory`; null if none is running. Also checks the process, because a killed server
 * leaves its pid file, and the pid may then belong to a zombie or another program.
 */
export function findPostmaster(directory: string): number | null {
  const pid = Number.parseInt(readPidFile(directory), 10);
  return commandLineOf(pid)?.includes(directory) ? pid : null;
}

/** Stops the server of a killed start, so the cluster can be started or used in single-user mode. */
async function clearLeftovers(cluster: Cluster): Promise<void> {
  const { path } = cluster;
  // After an immediate shutdown, the next start recovers all committed transactions.
  const args = ["stop", "-D", path, "--mode=immediate", `--timeout=${SHUTDOWN_MS / 1000}`];
  if (findPostmaster(path) !== null) {
    await runProgram(cluster, "pg_ctl", args).catch((error: unknown) => {
      // pg_ctl also fails if the server has just exited by itself, as after a start that was killed while stopping.
      if (findPostmaster(path) !== null) throw error;
    });
  }
  // PostgreSQL takes any live pid in this file for a running server, even a zombie's, so write a pid that no process has.
  // Keep the other lines, which show PostgreSQL whether backends of that server are still running.
  const text = readPidFile(path);
  if (text) writeFileSync(join(path, "postmaster.pid"), text.replace(/^-?\d+/, String(2 ** 31 - 1)));
}

/** Starts the server, waits until it is ready, as a primary or a standby, and returns the server and its port. */
export async function startServer(
  cluster: Cluster,
  logPath: string,
  settings: Readonly<Record<string, string>>,
  choosePort = () => chooseFreePort(HOST),
): Promise<{ server: Child; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = choosePort();
    const all = { ...SETTINGS, ...settings, port: String(port) };
    const before = statSync(logPath, { throwIfNoEntry: false })?.size ?? 0;
    const server = await spawnProgram(cluster, "postgres", {
      args: ["-D", cluster.path, ...Object.entries(all).flatMap((pair) => ["-c", pair.join("=")])],
      output: { logPath },
      // The signals for PostgreSQL's "fast" and "immediate" shutdown.
      stopSignals: ["SIGINT", "SIGQUIT"],
      graceMs: SHUTDOWN_MS,
    });
    const isReady = () => {
      const lines = readPidFile(cluster.path).split("\n");
      return Number(lines[0]) === server.pid && /^(ready|standby)/.test(lines[7] ?? "");
    };
    const hasSettled = () => server.hasExited() || isReady();
    await pollUntil(hasSettled, { timeoutMs: READY_TIMEOUT_MS, intervalMs: 20 });
    if (isReady() && !server.hasExited()) return { server, port };
    await server.stop();
    const log = readFileSync(logPath);
    // A shorter log is a new file, because a large log is rotated.
    const lines = log
      .subarray(log.length < before ? 0 : before)
      .toString()
      .trim()
      .split("\n");
    const reasons = lines.filter((line) => /\b(FATAL|PANIC|ERROR|HINT):/.test(line));
    const text = (reasons.length > 0 ? reasons : lines).slice(-4).join("\n");
    if (attempt === ATTEMPTS || !RETRYABLE.test(text)) throw new Error(`Cannot start PostgreSQL: ${text}`);
    await delay(500);
    await clearLeftovers(cluster);
  }
}
