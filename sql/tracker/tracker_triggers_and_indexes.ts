/** Lists the triggers and indexes of the tracker tables that a database lacks. */
import { EXPORT_DATASETS, type ExportDataset, PARENT_KEYS } from "../../shared/exports/datasets.ts";
import type { Sql } from "../connection/pool.ts";
import { OWN_TRACKER_SCHEMA, TRACKER_TABLE_NAMES, trackerTable, trackerTables } from "./tracker_tables.ts";

/** Lists the missing triggers that reject wrong times. */
export async function listMissingTriggers(
  sql: Sql,
  schema: string,
  tables: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ table: string; timing: "insert" | "update" }[]>`
    select c.relname as table, case when t.tgtype & 4 > 0 then 'insert' else 'update' end as timing
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    join pg_proc as p on p.oid = t.tgfoid
    where c.oid = any (${trackerTables(schema)}::text[]::regclass[])
      and p.proname = 'refuse_wrong_time' and t.tgenabled in ('O', 'A')`;
  return tables.flatMap((table) =>
    (["insert", "update"] as const)
      .filter((timing) => !rows.some((row) => row.table === table && row.timing === timing))
      .map(
        (timing) =>
          `${table}: no enabled trigger ${table}_time_${timing}_trigger; a wrong time is accepted, and the same as_of may name other rows`,
      ),
  );
}

/**
 * Lists missing indexes. Plans the query of an export with sorts, sequential scans and bitmap scans disabled. If the plan still has
 * a sort or a sequential scan, the index is missing.
 */
export async function listMissingIndexes(
  sql: Sql,
  schema: string,
  datasets: readonly ExportDataset[],
): Promise<string[]> {
  const differences: string[] = [];
  // The nodes of a Citus cluster plan their own queries, so the settings are propagated to them.
  await sql`set local citus.propagate_set_commands = 'local'`;
  for (const setting of ["enable_seqscan", "enable_bitmapscan", "enable_sort"])
    await sql`set local ${sql(setting)} = off`;
  for (const { table, timeColumn } of datasets) {
    const lines = await sql.unsafe<{ queryPlan?: string; "QUERY PLAN"?: string }[]>(
      `explain (costs off) select r.id from ${trackerTable(schema, table)} as r
       where r.project_id = '00000000-0000-4000-8000-000000000000' and r.${timeColumn} <= '2026-01-01T00:00:00Z'
       order by r.${timeColumn}, r.id`,
    );
    const plan = lines.map((line) => Object.values(line).join("")).join("\n");
    if (!/\b(Sort|Seq Scan)\b/.test(plan)) continue;
    differences.push(
      `${table}: no index on (project_id, ${timeColumn}, id); every export reads the whole table and sorts it`,
    );
  }
  return differences;
}

/**
 * The triggers of the log of changes, and the changes that are lost without each trigger. Only `issues` and `runs` have a
 * visibility trigger, because their rows decide whether rows of other tables are exported.
 */
const LOGGED: readonly { change: string; lost: string; tables?: readonly string[] }[] = [
  { change: "insert", lost: "rows that are imported with an older time" },
  { change: "update", lost: "updates" },
  { change: "delete", lost: "deletions" },
  { change: "key", lost: "rows that were moved" },
  { change: "truncate", lost: "rows that a truncate deletes" },
  { change: "visibility", lost: "rows that are hidden or shown again", tables: ["issues", "runs"] },
];

/** Lists the missing triggers of the log of changes, which increments read. Only our own tables have this log. */
export async function listMissingLogTriggers(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string; missesMoves: boolean }[]>`
    select
      t.tgname as name,
      -- A row moves to another partition without a DELETE statement, so only a row trigger fires.
      c.relkind = 'p' and t.tgname = c.relname || '_log_delete_trigger' and t.tgtype & 1 = 0 as misses_moves
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    where c.oid = any (${trackerTables(OWN_TRACKER_SCHEMA)}::text[]::regclass[]) and t.tgenabled in ('O', 'A')`;
  return TRACKER_TABLE_NAMES.flatMap((table) =>
    LOGGED.filter(({ tables }) => tables?.includes(table) ?? true).flatMap(({ change, lost }) => {
      const name = `${table}_log_${change}_trigger`;
      const found = rows.find((row) => row.name === name);
      if (!found) return [`${table}: no enabled trigger ${name}; increments lack ${lost}`];
      return found.missesMoves
        ? [`${table}: ${name} is not for each row; increments lack rows that left a partition`]
        : [];
    }),
  );
}

/** Lists the indexes of our own tables that `listMissingIndexes` does not check, with columns as PostgreSQL prints them. */
function listOwnIndexes(): { table: string; columns: string; slow: string }[] {
  const ofParents = Object.values(EXPORT_DATASETS).flatMap(({ table, timeColumn, parents }) =>
    parents.map((parent) => {
      const column = PARENT_KEYS[parent];
      return { table, columns: `(project_id, ${column}, ${timeColumn}, id)`, slow: `filters by ${column}` };
    }),
  );
  return [
    ...ofParents,
    { table: "issues", columns: "(project_id, id) WHERE (deleted_at IS NOT NULL)", slow: "exports" },
    { table: "runs", columns: "(project_id, id) WHERE (archived_at IS NOT NULL)", slow: "exports" },
    {
      table: "tracker_changes",
      columns: "(project_id, dataset, at) INCLUDE (kind, id)",
      slow: "increments",
    },
  ];
}

/** Lists the indexes of our own tables that are missing or invalid. */
export async function listMissingOwnIndexes(sql: Sql): Promise<string[]> {
  const wanted = listOwnIndexes();
  const tables = wanted.map(({ table }) => trackerTable(OWN_TRACKER_SCHEMA, table));
  const rows = await sql<{ table: string; definition: string }[]>`
    select c.relname as table, pg_get_indexdef(i.indexrelid) as definition
    from pg_index as i
    join pg_class as c on c.oid = i.indrelid
    where i.indrelid = any (${tables}::text[]::regclass[]) and i.indisvalid`;
  return wanted
    .filter(
      ({ table, columns }) =>
        !rows.some((row) => row.table === table && row.definition.endsWith(` USING btree ${columns}`)),
    )
    .map(({ table, columns, slow }) => `${table}: no index on ${columns}; ${slow} read whole tables`);
}
