/**
 * A database cluster: `initdb`, the database, `pg_hba.conf`, and roles. One role owns and migrates the schema, the service runs as
 * the other.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseAccount, findPrograms, openFolder, type PostgresPrograms } from "./postgres_files.ts";
import { type Child, type ChildOptions, describeExit, type RunAs, type Supervisor } from "./supervisor.ts";

export const DATABASE = "ulr";
/** The cluster's superuser. It has no password, so it cannot connect. */
export const SUPERUSER = "postgres";
/** Owns the database and everything in it; only migrations use it. */
export const OWNER_ROLE = "ulr_owner";
/** Reads and writes rows; `sql/runtime_role.sql` grants it what it needs after every migration. */
export const RUNTIME_ROLE = "ulr_app";

export type ClusterRole = typeof SUPERUSER | typeof OWNER_ROLE | typeof RUNTIME_ROLE;

/** The same for every caller: English messages, UTC, and no PG* variables. */
const POSTGRES_ENV = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
/** Over TCP on this machine only, and with the password only. */
const HOST_BASED_AUTHENTICATION = "host all all 127.0.0.1/32 scram-sha-256\n";

/** A cluster and the programs to run on it. */
export interface Cluster extends PostgresPrograms {
  supervisor: Supervisor;
  /** With links resolved. */
  path: string;
  /** Undefined for the current account. */
  runAs: RunAs | undefined;
}

export interface ClusterOptions {
  supervisor: Supervisor;
  /** The folder of the cluster, or a link to it. */
  location: string;
  /** If false, a power failure may lose a new cluster. */
  durable: boolean;
  /** The folder of PostgreSQL's programs; the npm package's if omitted. */
  binDirectory?: string | undefined;
}

/** Opens the cluster at `location`, or creates it there with one database. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { supervisor, location, durable, binDirectory } = options;
  const runAs = chooseAccount(location);
  const programs = await findPrograms(runAs, `${location}-programs`, binDirectory);
  const tools = { supervisor, runAs, ...programs };
  const path = await openFolder(location, runAs, (folder) =>
    createCluster({ ...tools, path: folder }, durable),
  );
  return { ...tools, path };
}

/** Starts one of PostgreSQL's programs. */
export function spawnProgram(
  { supervisor, bin, runAs }: Cluster,
  program: "initdb" | "pg_ctl" | "postgres",
  options: Omit<ChildOptions, "name" | "command" | "cwd" | "env" | "runAs">,
): Promise<Child> {
  const command = join(bin, program);
  return supervisor.spawn({ name: "PostgreSQL", command, ...options, cwd: "/", env: POSTGRES_ENV, runAs });
}

/** Runs a program to its end and returns its last lines. Throws with them if it fails. */
export async function runProgram(
  cluster: Cluster,
  program: "initdb" | "pg_ctl" | "postgres",
  args: readonly string[],
  input?: string,
): Promise<readonly string[]> {
  await using child = await spawnProgram(cluster, program, { args, input, output: () => {} });
  const exit = await child.exited;
  if (exit.code === 0) return child.lastLines;
  throw new Error(`Cannot set up PostgreSQL: ${child.lastLines.join("\n") || describeExit(exit)}`);
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
async function createCluster(cluster: Cluster, durable: boolean): Promise<void> {
  // Strings compare the same on every machine: by code point, with Unicode's upper and lower case.
  const locale =
    cluster.majorVersion < 17
      ? ["--locale=C.UTF-8"]
      : ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const flags = ["-D", cluster.path, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-instructions"];
  await runProgram(cluster, "initdb", [...flags, ...locale, ...(durable ? [] : ["--no-sync"])]);
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

/** Sets the passwords of roles of a cluster that is not running. */
export async function setPasswords(
  cluster: Cluster,
  passwords: Readonly<Record<string, string>>,
): Promise<void> {
  const roles = Object.entries(passwords);
  await runSingleUser(
    cluster,
    roles.map(([role, password]) => `alter role ${role} password '${password}'`),
  );
}
