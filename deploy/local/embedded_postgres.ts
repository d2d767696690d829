/**
 * The embedded PostgreSQL: a cluster, its server on a free local port, and random passwords. One role owns and migrates the
 * schema, the service runs as the other.
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
/** Owns the database and everything in it; only migrations use it. */
export const OWNER_ROLE = "ulr_owner";
/** Reads and writes rows; `sql/runtime_role.sql` grants it what it needs after every migration. */
export const RUNTIME_ROLE = "ulr_app";

type ClusterRole = typeof SUPERUSER | typeof OWNER_ROLE | typeof RUNTIME_ROLE;

/** Each role's URL with its password, for the next start and for a user's `psql`; mode 0600. */
const URL_FILES: Readonly<Record<ClusterRole, string>> = {
  [RUNTIME_ROLE]: "database-url.txt",
  [OWNER_ROLE]: "database-owner-url.txt",
  [SUPERUSER]: "database-superuser-url.txt",
};
/** The same for every caller: English messages, UTC, and no PG* variables. */
const POSTGRES_ENV = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
/** Over TCP on this machine only, and with the password only. */
const HOST_BASED_AUTHENTICATION = "host all all 127.0.0.1/32 scram-sha-256\n";
const SIZE_SETTINGS = { max_connections: "200", shared_buffers: "256MB", max_wal_size: "2GB" };
const SETTINGS = {
  listen_addresses: HOST,
  // No Unix socket: it would need a folder, and clients use TCP.
  unix_socket_directories: "",
  timezone: "UTC",
  log_timezone: "UTC",
};
/** Crash recovery may read gigabytes before the server is ready. */
const READY_TIMEOUT_MS = 300_000;
/** Another program may take the port in between, and a server of a killed start needs a moment to begin or to end. */
const ATTEMPTS = 10;
const RETRYABLE =
  /could not bind|Address already in use|pre-existing shared memory|lock file .* already exists/;
const SHUTDOWN_MS = 20_000;

interface EmbeddedPostgresOptions {
  supervisor: Supervisor;
  /** Holds `postgres/` (the files), the roles' URLs and `logs/postgres.log`. */
  dataDirectory: string;
  /** The port where the API will listen. */
  reservedPort?: number;
  /** Settings of the server, in addition to ours. With `fsync` off, a power cut can damage the files from the start. */
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

type Program = "initdb" | "pg_ctl" | "postgres";

/** A cluster and the programs to run on it. */
interface Cluster extends PostgresPrograms {
  supervisor: Supervisor;
  /** With links resolved. */
  path: string;
  /** Undefined for the current account. */
  runAs: RunAs | undefined;
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
  const { supervisor, dataDirectory, reservedPort, settings, hasSuperuser, binDirectory } = options;
  mkdirSync(dataDirectory, { recursive: true });
  const location = join(dataDirectory, "postgres");
  const roles: ClusterRole[] = [RUNTIME_ROLE, OWNER_ROLE, ...(hasSuperuser ? ([SUPERUSER] as const) : [])];
  // A leftover file has the password of another cluster.
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

/** Opens the cluster at `location`, a folder or a link to one, or creates it there with one database. */
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

/** Runs a program to its end and returns its last lines. Throws with them if it fails. */
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

/** Runs statements as the superuser of a cluster whose server is stopped. Throws if one fails, after running the others. */
async function runSingleUser(cluster: Cluster, statements: readonly string[]): Promise<void> {
  const args = ["--single", "-D", cluster.path, "postgres"];
  const lines = await runProgram(cluster, "postgres", args, `${statements.join("\n")}\n`);
  // The exit code is 0 even if a statement fails.
  const errors = lines.filter((line) => /\b(ERROR|FATAL|PANIC):/.test(line));
  if (errors.length > 0) throw new Error(`Cannot set up PostgreSQL: ${errors.join("\n")}`);
}

/** Creates a cluster with one database, and roles that cannot connect yet, in an empty folder. */
async function createCluster(cluster: Cluster, isDurable: boolean): Promise<void> {
  // Strings compare the same on every machine: by code point, with Unicode's upper and lower case.
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
    // Watermarks depend on other sessions, and a waiting migration names the session that blocks it.
    `grant pg_read_all_stats to ${RUNTIME_ROLE}, ${OWNER_ROLE}`,
    `alter database ${DATABASE} owner to ${OWNER_ROLE}`,
  ]);
  writeFileSync(join(cluster.path, "pg_hba.conf"), HOST_BASED_AUTHENTICATION);
}

function readPidFile(directory: string): string {
  return readText(join(directory, "postmaster.pid")) ?? "";
}

/**
 * Returns the pid of the server on `directory`; null if none runs. The file is not enough: a killed server leaves it,
 * and its pid may then belong to a zombie or another program.
 */
export function findPostmaster(directory: string): number | null {
  const pid = Number.parseInt(readPidFile(directory), 10);
  return commandLineOf(pid)?.includes(directory) ? pid : null;
}

/** Prepares the cluster for a start or for single-user mode: stops a server that a killed start has left. */
async function clearLeftovers(cluster: Cluster): Promise<void> {
  const { path } = cluster;
  // The next start recovers what was committed.
  const args = ["stop", "-D", path, "--mode=immediate", `--timeout=${SHUTDOWN_MS / 1000}`];
  if (findPostmaster(path) !== null) {
    await runProgram(cluster, "pg_ctl", args).catch((error: unknown) => {
      // It fails too if the server has just ended by itself, as after a start that was killed while it stopped.
      if (findPostmaster(path) !== null) throw error;
    });
  }
  // PostgreSQL takes every live pid for a running server, even a zombie's, so the file gets one that no process has. The
  // rest of it shows whether backends of that server still run.
  const text = readPidFile(path);
  if (text) writeFileSync(join(path, "postmaster.pid"), text.replace(/^-?\d+/, String(2 ** 31 - 1)));
}

/**
 * Starts the server, waits until it accepts connections, or as a standby would, and returns it with its port. The supervisor
 * stops it.
 */
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
      // PostgreSQL's "fast" and "immediate" shutdown.
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
    // A large log begins again.
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
