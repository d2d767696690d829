/** Finds the node and shards of a project on Citus, and installs the functions for distributed tables (docs/scaling.md). */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ServerAddress } from "../../shared/database/url.ts";
import { Nodes, type NodesOptions } from "../connection/nodes.ts";
import { onlyValue, type Sql } from "../connection/pool.ts";
import type { Migration } from "../migration_files.ts";

/** Qualified, quoted names of shards, by table. */
export type TrackerShards = Readonly<Record<string, string>>;

/** Opens connections to the nodes of a Citus cluster. Returns null if the tracker tables are not distributed. */
export async function openNodes(sql: Sql, options: NodesOptions): Promise<Nodes | null> {
  return (await hasDistributedFunctions(sql)) ? new Nodes(options) : null;
}

/** Returns the node that stores a project's rows, and the shards of these rows; null if the tracker tables are not distributed. */
export async function findTrackerPlace(
  sql: Sql,
  projectId: string,
): Promise<{ node: ServerAddress; shards: TrackerShards } | null> {
  const rows = await sql<{ trackerTable: string; shard: string; nodeHost: string; nodePort: number }[]>`
    select * from public.find_tracker_shards(${projectId})`;
  const [first] = rows;
  if (!first) return null;
  return {
    node: { host: first.nodeHost, port: first.nodePort },
    shards: Object.fromEntries(rows.map(({ trackerTable, shard }) => [trackerTable, shard])),
  };
}

/** Returns the nodes that store tracker rows; empty if the tracker tables are not distributed. */
export async function listTrackerNodes(sql: Sql): Promise<ServerAddress[]> {
  return sql<ServerAddress[]>`select node_host as host, node_port as port from public.list_tracker_nodes()`;
}

const DISTRIBUTED = fileURLToPath(new URL("./distributed_functions.sql", import.meta.url));
/** The migration with the functions for a single machine. It changes nothing if the tables are distributed. */
const FOR_ONE_MACHINE = "20261126060000_tracker_tables__functions__replace";

/** Returns whether the database has the functions for distributed tables. */
export async function hasDistributedFunctions(sql: Sql): Promise<boolean> {
  return onlyValue(sql<[{ exists: boolean }]>`
    select to_regproc('public.tracker_changes_relation') is not null as exists`);
}

/** Installs the functions for distributed tables. Changes nothing if the database already has the functions of this release. */
export async function installDistributedFunctions(sql: Sql): Promise<void> {
  // Sends each statement separately, because Citus forwards the text of a whole message to its nodes.
  const statements = (await readFile(DISTRIBUTED, "utf8")).split(/^(?=create or replace |revoke )/m).slice(1);
  const installed = await sql<{ body: string }[]>`
    select prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`;
  const bodies = new Set(installed.map(({ body }) => body));
  if (statements.every((text) => !text.includes("$$") || bodies.has(bodyOf(text)))) return;
  for (const text of statements) await sql.unsafe(text);
}

/** Replaces functions for distributed tables with the functions for a single machine, for example after `undistribute_table`. */
export async function restoreFunctions(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  const migration = migrations.find(({ name }) => name === FOR_ONE_MACHINE);
  if (migration && (await hasDistributedFunctions(sql))) await sql.unsafe(migration.text);
}

function bodyOf(statement: string): string {
  return statement.slice(statement.indexOf("$$") + 2, statement.lastIndexOf("$$"));
}
