/** Distributes the tracker tables over the nodes of a Citus cluster (docs/scaling.md). */
import { onlyRow, type Pool, type Sql, type Transaction } from "../connection/pool.ts";
import { existsRelation } from "../schema_state.ts";
import { installDistributedFunctions } from "./tracker_shards.ts";
import { allowBackfill, OWN_TRACKER_SCHEMA, TRACKER_TABLE_NAMES, trackerTable } from "./tracker_tables.ts";

/** The tables to distribute. The log of changes is on the same node as the rows it describes. */
const DISTRIBUTED_TABLES: readonly string[] = [...TRACKER_TABLE_NAMES, "tracker_changes"];

/** The oldest supported major version of Citus. */
const OLDEST_CITUS = 12;

export interface Distribution {
  /** Tables that this call distributed, each with its number of rows. */
  distributed: { table: string; rows: number }[];
  /**
   * Foreign keys that were dropped, because Citus does not support foreign keys from distributed tables to undistributed tables.
   */
  droppedKeys: string[];
  shards: number;
  nodes: number;
}

/**
 * Distributes the remaining tracker tables and their rows by project. Runs in one transaction, which includes the call of `record`,
 * so an error changes nothing. Throws a one-line error if the database cannot distribute the tables. Writers wait until the
 * transaction ends.
 */
export async function distributeTracker(
  pool: Pool,
  onStep: (text: string) => void,
  record: (tx: Sql, distribution: Distribution) => Promise<void> = async () => {},
): Promise<Distribution> {
  await requireCitus(pool);
  return pool.begin(async (tx) => {
    await allowBackfill(tx);
    await tx`set local citus.enable_unsafe_triggers = on`;
    // Foreign keys between the tables require sequential mode, which uses a single connection per node.
    await tx`set local citus.multi_shard_modify_mode = 'sequential'`;
    const pending = await listUndistributed(tx);
    await installDistributedFunctions(tx);
    const droppedKeys = await dropKeysToOtherTables(tx, pending);
    const triggers = await takeTriggers(tx, pending);
    const distributed: Distribution["distributed"] = [];
    for (const table of pending) {
      onStep(`Distributing ${table}`);
      distributed.push({ table, rows: await distributeTable(tx, table) });
    }
    // The tables of the coordinator still contain the copied rows.
    for (const table of pending)
      await tx`select truncate_local_data_after_distributing_table(${table}::regclass)`;
    for (const definition of triggers) await tx.unsafe(definition);
    const distribution = { distributed, droppedKeys, ...(await countShards(tx)) };
    await record(tx, distribution);
    return distribution;
  });
}

/**
 * Returns one line for each of the nine tables that is not co-located with the first distributed table. Returns no lines if no
 * table is distributed.
 */
export async function listDistributionDifferences(sql: Sql): Promise<string[]> {
  if (!(await hasCitus(sql))) return [];
  const rows = await sql<{ table: string; colocationId: number | null }[]>`
    select t.name as table, p.colocationid as colocation_id
    from unnest(${[...DISTRIBUTED_TABLES]}::text[]) as t (name)
    left join pg_dist_partition as p on p.logicalrelid = to_regclass('public.' || t.name)`;
  const first = rows.find(({ colocationId }) => colocationId !== null);
  if (!first) return [];
  return rows
    .filter(({ colocationId }) => colocationId !== first.colocationId)
    .map(({ table, colocationId }) =>
      colocationId === null
        ? `${table}: not distributed, but ${first.table} is; run: bun run admin tracker distribute`
        : `${table}: not co-located with ${first.table}; exports cannot read both on one node`,
    );
}

/** Returns whether all nine tables are distributed. */
export async function isTrackerDistributed(sql: Sql): Promise<boolean> {
  return (await listUndistributedTables(sql)).length === 0;
}

/** Lists which of the nine tables are not distributed. Without Citus, lists all of them. */
export async function listUndistributedTables(sql: Sql): Promise<readonly string[]> {
  return (await hasCitus(sql)) ? listUndistributed(sql) : DISTRIBUTED_TABLES;
}

function hasCitus(sql: Sql): Promise<boolean> {
  return existsRelation(sql, "pg_catalog.pg_dist_partition");
}

async function requireCitus(sql: Sql): Promise<void> {
  if (!(await hasCitus(sql))) {
    throw cannotDistribute("the database has no Citus; run: create extension citus");
  }
  const [{ version, isCoordinator }] = await sql<[{ version: number; isCoordinator: boolean }]>`
    select
      split_part(extversion, '.', 1)::int as version,
      (select groupid = 0 from pg_dist_local_group) as is_coordinator
    from pg_extension
    where extname = 'citus'`;
  if (version < OLDEST_CITUS) throw cannotDistribute(`Citus ${version} is older than ${OLDEST_CITUS}`);
  if (!isCoordinator) throw cannotDistribute("DATABASE_URL leads to a worker; give the coordinator's");
  const [{ shardNodes }] = await sql<[{ shardNodes: number }]>`
    select count(*)::int as shard_nodes from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary'`;
  if (shardNodes === 0) {
    throw cannotDistribute("no node may hold shards; run: select citus_add_node('host', 5432)");
  }
  const partitioned = await sql<{ table: string }[]>`
    select relname as table from pg_class
    where relnamespace = ${OWN_TRACKER_SCHEMA}::regnamespace and relname = any (${[...DISTRIBUTED_TABLES]}) and relkind = 'p'`;
  if (partitioned.length > 0) throw cannotDistribute("they are partitioned, which is for one machine");
}

function cannotDistribute(reason: string): Error {
  return new Error(`Cannot distribute the tracker tables: ${reason}`);
}

async function listUndistributed(sql: Sql): Promise<string[]> {
  const rows = await sql<{ table: string }[]>`
    select t.name as table
    from unnest(${[...DISTRIBUTED_TABLES]}::text[]) with ordinality as t (name, position)
    where not exists (select from pg_dist_partition as p where p.logicalrelid = to_regclass('public.' || t.name))
    order by t.name <> 'runs', t.position`;
  return rows.map(({ table }) => table);
}

async function dropKeysToOtherTables(tx: Transaction, tables: readonly string[]): Promise<string[]> {
  const keys = await tx<{ table: string; name: string }[]>`
    select k.conrelid::regclass::text as table, k.conname as name
    from pg_constraint as k
    where k.contype = 'f'
      and k.conrelid = any (${tables.map((table) => trackerTable(OWN_TRACKER_SCHEMA, table))}::text[]::regclass[])
      and k.confrelid <> all (
        ${DISTRIBUTED_TABLES.map((table) => trackerTable(OWN_TRACKER_SCHEMA, table))}::text[]::regclass[]
      )
    order by 1, 2`;
  for (const { table, name } of keys) await tx`alter table ${tx(table)} drop constraint ${tx(name)}`;
  return keys.map(({ name }) => name);
}

/** Drops the triggers, because they would fire for copied rows. Returns the statements that recreate the triggers. */
async function takeTriggers(tx: Transaction, tables: readonly string[]): Promise<string[]> {
  const triggers = await tx<{ table: string; name: string; definition: string }[]>`
    select t.tgrelid::regclass::text as table, t.tgname as name, pg_get_triggerdef(t.oid) as definition
    from pg_trigger as t
    where not t.tgisinternal
      and t.tgrelid = any (${tables.map((table) => trackerTable(OWN_TRACKER_SCHEMA, table))}::text[]::regclass[])
    order by 1, 2`;
  for (const { table, name } of triggers) await tx`drop trigger ${tx(name)} on ${tx(table)}`;
  return triggers.map(({ definition }) => definition);
}

async function distributeTable(tx: Transaction, table: string): Promise<number> {
  const [{ rows }] = await tx<[{ rows: number }]>`select count(*) as rows from ${tx(table)}`;
  if (table === "runs") {
    await tx`select create_distributed_table('runs', 'project_id', colocate_with => 'none')`;
  } else {
    await tx`select create_distributed_table(${table}::regclass, 'project_id', colocate_with => 'runs')`;
  }
  return rows;
}

async function countShards(sql: Sql): Promise<{ shards: number; nodes: number }> {
  return onlyRow(sql<[{ shards: number; nodes: number }]>`
    select count(*)::int as shards, count(distinct p.groupid)::int as nodes
    from pg_dist_shard as s
    join pg_dist_placement as p on p.shardid = s.shardid
    where s.logicalrelid = 'public.runs'::regclass`);
}
