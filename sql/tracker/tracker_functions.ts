/** The functions of the tracker tables: those for one machine, or those for distributed tables (docs/scaling.md). */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Sql } from "../connection/pool.ts";
import type { Migration } from "../migration_files.ts";

const DISTRIBUTED = fileURLToPath(new URL("./distributed_functions.sql", import.meta.url));
/** The migration with those for one machine. Where the tables are distributed, it changes nothing. */
const FOR_ONE_MACHINE = "20261126060000_tracker_tables__functions__replace";

/** Whether the database has the functions for distributed tables. */
export async function hasDistributedFunctions(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ exists: boolean }]>`
    select to_regproc('public.tracker_changes_relation') is not null as exists`;
  return row.exists;
}

/** Installs the functions for distributed tables. Changes nothing if the database has them as they are in this release. */
export async function installDistributedFunctions(sql: Sql): Promise<void> {
  // Citus passes the text of a whole message on to its nodes.
  const statements = (await readFile(DISTRIBUTED, "utf8")).split(/^(?=create or replace |revoke )/m).slice(1);
  const installed = await sql<{ body: string }[]>`
    select prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`;
  const bodies = new Set(installed.map(({ body }) => body));
  if (statements.every((text) => !text.includes("$$") || bodies.has(bodyOf(text)))) return;
  for (const text of statements) await sql.unsafe(text);
}

/** Installs the functions for one machine where there are others, as after `undistribute_table`. */
export async function restoreFunctions(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  const migration = migrations.find(({ name }) => name === FOR_ONE_MACHINE);
  if (migration && (await hasDistributedFunctions(sql))) await sql.unsafe(migration.text);
}

function bodyOf(statement: string): string {
  return statement.slice(statement.indexOf("$$") + 2, statement.lastIndexOf("$$"));
}
