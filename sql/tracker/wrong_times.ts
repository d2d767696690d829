/**
 * Finds times that exports cannot write. These are times outside the years 1 to 9999, because readers expect four-digit years.
 * Check constraints on our own tables reject such times (docs/tracker.md). Tables of other trackers may have such times, and so may
 * rows that are older than the constraints.
 */
import type { ExportColumn } from "../../shared/exports/column.ts";
import { EXPORT_DATASETS, type ExportDataset } from "../../shared/exports/datasets.ts";
import { hasSqlState, type Sql, type Transaction } from "../connection/pool.ts";
import { OWN_TRACKER_SCHEMA, trackerTable } from "./tracker_tables.ts";

const CHECK_VIOLATION = "23514";
const FIND_THEM = "Find them: bun run admin tracker check";

export function timeColumns({ columns }: ExportDataset): ExportColumn[] {
  return columns.filter(({ type }) => type === "timestamp");
}

/** Returns the condition that a time cannot be exported. The condition is true for infinities, but not for null. */
export function isWrongTime(value: string): string {
  return `${value} < '0001-01-01T00:00:00Z' or ${value} >= '10000-01-01T00:00:00Z'`;
}

/**
 * Returns the condition that a row `r` has a time that exports cannot write. With `constraint_exclusion` on, PostgreSQL reads no
 * rows if validated check constraints rule out such times in all columns, even beneath views.
 */
export function hasWrongTime(dataset: ExportDataset): string {
  return timeColumns(dataset)
    .map(({ column }) => isWrongTime(`r."${column}"`))
    .join(" or ");
}

/**
 * Returns a subquery that is true if validated check constraints of the tables or shards rule out wrong times. Views have no
 * constraints, so the result is false for views. With `constraint_exclusion` instead, planning took 20 ms for a bundle.
 */
export function hasTimeChecks(
  datasets: readonly ExportDataset[],
  tableOf: (dataset: ExportDataset) => string,
): string {
  const checks = datasets.map((dataset) => {
    const columns = timeColumns(dataset).map(({ column }) => column);
    const table = `'${tableOf(dataset).replaceAll("'", "''")}'::regclass`;
    return `conrelid = ${table} and conname ~ '^${dataset.table}_(${columns.join("|")})_check(_[0-9]+)?$'`;
  });
  const count = datasets.reduce((sum, dataset) => sum + timeColumns(dataset).length, 0);
  return `(select count(*) = ${count} from pg_constraint where contype = 'c' and convalidated and (${checks.join(" or ")}))`;
}

/**
 * Returns a line for each column with times that exports cannot write. The line has the id of one such row and a query that finds
 * all such rows.
 */
export async function listWrongTimes(tx: Transaction, schema: string): Promise<string[]> {
  // The nodes of a Citus cluster plan their own queries, so the settings are propagated to them.
  await tx`set local citus.propagate_set_commands = 'local'`;
  await tx`set local constraint_exclusion = on`;
  const lines: string[] = [];
  for (const dataset of Object.values(EXPORT_DATASETS)) {
    const table = trackerTable(schema, dataset.table);
    const [any] = await tx.unsafe(`select from ${table} as r where ${hasWrongTime(dataset)} limit 1`);
    if (!any) continue;
    for (const { column } of timeColumns(dataset)) {
      const where = isWrongTime(`"${column}"`);
      const [row] = await tx.unsafe<{ id: string; time: string }[]>(
        `select id, "${column}"::text as time from ${table} where ${where} limit 1`,
      );
      if (!row) continue;
      lines.push(
        `${dataset.table}.${column}: row ${row.id} has ${row.time}, outside the years 1 to 9999; exports of it are refused. ` +
          `Find all: select project_id, id, "${column}" from ${table} where ${where}`,
      );
    }
  }
  return lines;
}

/** Returns a line for each of our own tables with check constraints on time columns that are not validated. */
export async function listUnvalidatedTimes(sql: Sql): Promise<string[]> {
  const tables = await listUnvalidatedChecks(sql);
  return tables.map(
    ({ table }) =>
      `${table}: its checks of times are not validated, so exports look for wrong times first; run: bun run migrate`,
  );
}

/**
 * Validates the check constraints on time columns of our own tables, which migrations add as `not valid`. Reads each table once,
 * without blocking writers. Returns a line for each table with rows that violate its constraints, which then stay `not valid`.
 */
export async function validateTimeChecks(sql: Sql): Promise<string[]> {
  const lines: string[] = [];
  for (const { table, checks } of await listUnvalidatedChecks(sql)) {
    const validations = checks.map((check) => `validate constraint ${check}`);
    try {
      await sql.unsafe(`alter table ${trackerTable(OWN_TRACKER_SCHEMA, table)} ${validations.join(", ")}`);
    } catch (error) {
      if (!hasSqlState(error, CHECK_VIOLATION)) throw error;
      lines.push(
        `Table "${table}" has times outside the years 1 to 9999, so exports of these rows are refused. ${FIND_THEM}`,
      );
    }
  }
  return lines;
}

async function listUnvalidatedChecks(sql: Sql): Promise<{ table: string; checks: string[] }[]> {
  const names = Object.values(EXPORT_DATASETS).flatMap((dataset) =>
    timeColumns(dataset).map(({ column }) => `${dataset.table}_${column}_check`),
  );
  return sql<{ table: string; checks: string[] }[]>`
    select c.relname as table, array_agg(k.conname::text order by k.conname) as checks
    from pg_constraint as k
    join pg_class as c on c.oid = k.conrelid
    where c.relnamespace = ${OWN_TRACKER_SCHEMA}::regnamespace and k.conname = any (${names}) and not k.convalidated
      and not c.relispartition
    group by c.relname
    order by c.relname`;
}
