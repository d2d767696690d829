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
import type { Child, ChildOptions, Supervisor } from "./supervisor.ts";

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

/** A cluster and the programs to run on it. */
export interface Cluster extends PostgresDirectory, PostgresBinaries {
  supervisor: Supervisor;
}

export interface ClusterOptions {
  supervisor: Supervisor;
  /** The folder of the cluster, or a link to it. */
  location: string;
  database: string;
  /** If false, a power failure may lose a new cluster. */
  durable: boolean;
  /** The folder of `initdb` and `postgres`; the npm package's if omitted. */
  binDirectory?: string | undefined;
}

/** Opens the cluster at `location`, or creates it there with one database. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { supervisor, location, binDirectory } = options;
  const toCluster = (directory: PostgresDirectory): Cluster => {
    return { ...directory, ...findPostgresBinaries(directory.runAs, binDirectory), supervisor };
  };
  return toCluster(
    await openPostgresDirectory(location, (directory) => createCluster(toCluster(directory), options)),
  );
}

/** Starts one of PostgreSQL's programs. */
export function spawnProgram(
  { supervisor, bin, runAs }: Cluster,
  program: "initdb" | "postgres",
  options: Pick<ChildOptions, "args" | "output" | "input" | "stopSignals" | "graceMs">,
): Promise<Child> {
  const command = join(bin, program);
  return supervisor.spawn({ name: program, command, ...options, cwd: "/", env: POSTGRES_ENV, runAs });
}

/** Runs a program to its end. Throws with its output if it fails; with `errors`, also if lines of it match. */
async function runProgram(
  cluster: Cluster,
  program: "initdb" | "postgres",
  { errors, ...options }: Pick<ChildOptions, "args" | "input"> & { errors?: RegExp },
): Promise<void> {
  const lines: string[] = [];
  await using child = await spawnProgram(cluster, program, {
    ...options,
    output: (line) => lines.push(line),
  });
  const { code } = await child.exited;
  const wrong = errors ? lines.filter((line) => errors.test(line)) : [];
  if (code === 0 && wrong.length === 0) return;
  throw new Error(`Cannot set up PostgreSQL: ${(wrong.length > 0 ? wrong : lines).join("\n")}`);
}

/**
 * Runs statements as the superuser in `database` of a cluster whose server is stopped. Throws if one fails, after
 * running the others.
 */
export function runSingleUser(
  cluster: Cluster,
  database: string,
  statements: readonly string[],
): Promise<void> {
  return runProgram(cluster, "postgres", {
    // With -j, a statement may have several lines: it ends with a semicolon before an empty line.
    args: ["--single", "-j", "-D", cluster.path, database],
    input: statements.map((statement) => `${statement};\n\n`).join(""),
    // The exit code is 0 even if a statement fails.
    errors: /\b(ERROR|FATAL|PANIC):/,
  });
}

/** Creates a cluster with one database in an empty folder. */
async function createCluster(cluster: Cluster, { database, durable }: ClusterOptions): Promise<void> {
  // Strings compare the same on every machine: by code point, with Unicode's upper and lower case.
  const locale =
    cluster.majorVersion < 17
      ? ["--locale=C.UTF-8"]
      : ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const flags = ["-D", cluster.path, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-instructions"];
  await runProgram(cluster, "initdb", { args: [...flags, ...locale, ...(durable ? [] : ["--no-sync"])] });
  await runSingleUser(cluster, "postgres", [`create database ${database}`]);
  writeFileSync(join(cluster.path, "pg_hba.conf"), HOST_BASED_AUTHENTICATION);
}

/** The objects whose owner changes in a database that the superuser created; extensions keep theirs. */
const CHANGE_OWNER = `
do $$
declare
  object text;
begin
  for object in
    select o.object
    from (
      select 'pg_class'::regclass, oid, relnamespace,
        format('%s %s', case relkind when 'S' then 'sequence' else 'table' end, oid::regclass)
      from pg_class
      where relkind in ('r', 'p', 'S')
      union all
      select 'pg_proc'::regclass, oid, pronamespace, format('routine %s', oid::regprocedure) from pg_proc
      union all
      select 'pg_type'::regclass, oid, typnamespace, format('type %s', oid::regtype)
      from pg_type
      where typtype in ('e', 'd')
    ) o (catalog, oid, namespace, object)
    where o.namespace::regnamespace::text in ('public', 'pgboss')
      -- The sequence of a column follows its table.
      and not exists (
        select from pg_depend d
        where d.classid = o.catalog and d.objid = o.oid
          and (d.deptype = 'e' or o.object like 'sequence %' and d.deptype in ('a', 'i'))
      )
    union all
    select 'schema pgboss' where to_regnamespace('pgboss') is not null
  loop
    execute format('alter %s owner to ${OWNER_ROLE}', object);
  end loop;
end $$`;

/**
 * Creates the roles of a cluster that is not running or changes their passwords, and sets the database's owner. A role without a
 * password cannot connect. Idempotent.
 */
export async function setUpRoles(
  cluster: Cluster,
  database: string,
  passwords: Readonly<Partial<Record<ClusterRole, string>>>,
): Promise<void> {
  const create = (role: string) =>
    `do $$ begin if to_regrole('${role}') is null then create role ${role} login; end if; end $$`;
  const setPassword = (role: ClusterRole) => {
    const password = passwords[role];
    return `alter role ${role} password ${password === undefined ? "null" : `'${password}'`}`;
  };
  await runSingleUser(cluster, database, [
    create(OWNER_ROLE),
    create(RUNTIME_ROLE),
    ...([SUPERUSER, OWNER_ROLE, RUNTIME_ROLE] as const).map(setPassword),
    // Watermarks depend on other sessions, and a waiting migration names the session that blocks it.
    `grant pg_read_all_stats to ${RUNTIME_ROLE}, ${OWNER_ROLE}`,
    `alter database ${database} owner to ${OWNER_ROLE}`,
    CHANGE_OWNER,
  ]);
}
