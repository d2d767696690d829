/**
 * A database cluster: `initdb`, the database, `pg_hba.conf`, and roles. One role owns and migrates the schema, the service runs as
 * the other.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  findPostgresBinaries,
  openPostgresDirectory,
  type PostgresBinaries,
  type PostgresDirectory,
} from "./postgres_files.ts";
import { type Child, type ChildOptions, describeExit, type Supervisor } from "./supervisor.ts";

export const DATABASE = "ulr";
/** The cluster's superuser. It has no password while the server runs, so it cannot connect. */
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

type Program = "initdb" | "pg_ctl" | "postgres";

/** A cluster and the programs to run on it. */
export interface Cluster extends PostgresDirectory, PostgresBinaries {
  supervisor: Supervisor;
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
  const toCluster = (directory: PostgresDirectory): Cluster => {
    return { ...directory, ...findPostgresBinaries(directory.runAs, binDirectory), supervisor };
  };
  const create = (directory: PostgresDirectory) => createCluster(toCluster(directory), durable);
  return toCluster(await openPostgresDirectory(location, create));
}

/** Starts one of PostgreSQL's programs. */
export function spawnProgram(
  { supervisor, bin, runAs }: Cluster,
  program: Program,
  options: Pick<ChildOptions, "args" | "output" | "input" | "stopSignals" | "graceMs">,
): Promise<Child> {
  const command = join(bin, program);
  return supervisor.spawn({ name: program, command, ...options, cwd: "/", env: POSTGRES_ENV, runAs });
}

/** Runs a program to its end. Throws with its output if it fails. */
export async function runProgram(
  cluster: Cluster,
  program: Program,
  {
    output = () => {},
    ...options
  }: Pick<ChildOptions, "args" | "input"> & Partial<Pick<ChildOptions, "output">>,
): Promise<void> {
  await using child = await spawnProgram(cluster, program, { ...options, output });
  const exit = await child.exited;
  if (exit.code === 0) return;
  throw new Error(`Cannot set up PostgreSQL: ${child.lastLines.join("\n") || describeExit(exit)}`);
}

/** Runs statements as the superuser of a cluster whose server is stopped. Throws if one fails, after running the others. */
async function runSingleUser(cluster: Cluster, statements: readonly string[]): Promise<void> {
  const errors: string[] = [];
  await runProgram(cluster, "postgres", {
    args: ["--single", "-D", cluster.path, "postgres"],
    input: statements.map((statement) => `${statement}\n`).join(""),
    output: (line) => void (/\b(ERROR|FATAL|PANIC):/.test(line) && errors.push(line)),
  });
  // The exit code is 0 even if a statement fails.
  if (errors.length > 0) throw new Error(`Cannot set up PostgreSQL: ${errors.join("\n")}`);
}

/** Creates a cluster with one database in an empty folder. */
async function createCluster(cluster: Cluster, durable: boolean): Promise<void> {
  // Strings compare the same on every machine: by code point, with Unicode's upper and lower case.
  const locale =
    cluster.majorVersion < 17
      ? ["--locale=C.UTF-8"]
      : ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const flags = ["-D", cluster.path, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-instructions"];
  await runProgram(cluster, "initdb", { args: [...flags, ...locale, ...(durable ? [] : ["--no-sync"])] });
  await runSingleUser(cluster, [`create database ${DATABASE}`]);
  writeFileSync(join(cluster.path, "pg_hba.conf"), HOST_BASED_AUTHENTICATION);
}

/**
 * Creates the roles of a cluster that is not running or changes their passwords, and sets the database's owner. A role without a
 * password cannot connect. Idempotent.
 */
export async function setUpRoles(
  cluster: Cluster,
  passwords: Readonly<Partial<Record<ClusterRole, string>>>,
): Promise<void> {
  const create = (role: string) =>
    `do $$ begin if to_regrole('${role}') is null then create role ${role} login; end if; end $$`;
  const setPassword = (role: ClusterRole) => {
    const password = passwords[role];
    return `alter role ${role} password ${password === undefined ? "null" : `'${password}'`}`;
  };
  await runSingleUser(cluster, [
    create(OWNER_ROLE),
    create(RUNTIME_ROLE),
    ...([SUPERUSER, OWNER_ROLE, RUNTIME_ROLE] as const).map(setPassword),
    // Watermarks depend on other sessions, and a waiting migration names the session that blocks it.
    `grant pg_read_all_stats to ${RUNTIME_ROLE}, ${OWNER_ROLE}`,
    `alter database ${DATABASE} owner to ${OWNER_ROLE}`,
  ]);
}
