/** Creates a database cluster: `initdb`, the database, its roles, and `pg_hba.conf`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PostgresBinaries } from "./postgres_binaries.ts";
import type { PostgresDirectory } from "./postgres_directory.ts";
import { SUPERUSER } from "./postgres_roles.ts";
import type { ChildOptions, Supervisor } from "./supervisor.ts";

/** The same for every caller: English messages, UTC, and no PG* variables. */
const POSTGRES_ENV: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
};

/** Over TCP on this machine only, and with the password only. */
const HOST_BASED_AUTHENTICATION = "host all all 127.0.0.1/32 scram-sha-256\n";

/** A cluster and the programs to run on it. */
export interface Cluster extends PostgresDirectory {
  supervisor: Supervisor;
  binaries: PostgresBinaries;
}

/** Makes strings compare the same on every machine: by code point, with Unicode's upper and lower case. */
function localeFlags(majorVersion: number): string[] {
  if (majorVersion < 17) return ["--locale=C.UTF-8"];
  return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
}

/** Runs one of PostgreSQL's programs and returns its exit code; a signal counts as 1. */
export async function runProgram(
  { supervisor, binaries, runAs }: Cluster,
  program: "initdb" | "pg_ctl" | "postgres",
  options: Pick<ChildOptions, "args" | "output" | "input" | "stopSignal"> & { env?: NodeJS.ProcessEnv },
): Promise<number> {
  await using child = await supervisor.spawn({
    name: program,
    command: join(binaries.bin, program),
    ...options,
    cwd: "/",
    env: { ...POSTGRES_ENV, ...options.env },
    runAs,
  });
  return (await child.exited).code ?? 1;
}

/**
 * Runs statements as the superuser in `database` of a cluster whose server is stopped. Throws if one fails, after
 * running the others.
 */
export async function runSingleUser(
  cluster: Cluster,
  database: string,
  statements: readonly string[],
): Promise<void> {
  const lines: string[] = [];
  const code = await runProgram(cluster, "postgres", {
    // With -j, a statement may have several lines: it ends with a semicolon before an empty line.
    args: ["--single", "-j", "-D", cluster.path, database],
    input: statements.map((statement) => `${statement};\n\n`).join(""),
    output: (line) => lines.push(line),
  });
  // The exit code is 0 even if a statement fails.
  const errors = lines.filter((line) => /\b(ERROR|FATAL|PANIC):/.test(line));
  if (code === 0 && errors.length === 0) return;
  throw new Error(`Cannot set up PostgreSQL: ${(errors.length > 0 ? errors : lines).join("\n")}`);
}

/** Creates a cluster with one database in an empty folder. Unless it is `durable`, a power failure may lose it. */
export async function createCluster(
  cluster: Cluster,
  { database, durable }: { database: string; durable: boolean },
): Promise<void> {
  const lines: string[] = [];
  const code = await runProgram(cluster, "initdb", {
    args: [
      ...["-D", cluster.path, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-instructions"],
      ...localeFlags(cluster.binaries.majorVersion),
      ...(durable ? [] : ["--no-sync"]),
    ],
    output: (line) => lines.push(line),
  });
  if (code !== 0) throw new Error(`Cannot set up PostgreSQL: ${lines.join("\n")}`);
  await runSingleUser(cluster, "postgres", [`create database ${database}`]);
  writeFileSync(join(cluster.path, "pg_hba.conf"), HOST_BASED_AUTHENTICATION);
}
