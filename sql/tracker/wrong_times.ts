/**
 * Times that exports cannot write: those outside the years 1 to 9999, because readers expect four digits. Checks on our own
 * tables reject them (docs/tracker.md). Other trackers, and rows older than the checks, may have them.
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

/** Returns the condition for a time that cannot be written. Infinities are such times, null is not. */
export function isWrongTime(value: string): string {
  return `${value} < '0001-01-01T00:00:00Z' or ${value} >= '10000-01-01T00:00:00Z'`;
}

/**
 * Returns the condition for a row `r` with such a time. With `constraint_exclusion` on, PostgreSQL reads no row to answer it if
 * validated checks rule it out for all columns, even beneath views.
 */
export function hasWrongTime(dataset: ExportDataset): string {
  return timeColumns(dataset)
    .map(({ column }) => isWrongTime(`r."${column}"`))
    .join(" or ");
}

/**
 * Returns the subquery that says whether validated checks of the tables, or shards, rule such times out. Letting the planner
 * find out took 20 ms for a bundle. Views have no checks.
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

/** Returns a line for each column with such times: a row that has one, and how to find all. */
export async function listWrongTimes(tx: Transaction, schema: string): Promise<string[]> {
  // The nodes of a Citus cluster plan for themselves.
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

/** Returns a line for each of our own tables whose checks of times do not cover rows that are older than they are. */
export async function listUnvalidatedTimes(sql: Sql): Promise<string[]> {
  const tables = await listUnvalidatedChecks(sql);
  return tables.map(
    ({ table }) =>
      `${table}: its checks of times are not validated, so exports look for wrong times first; run: bun run migrate`,
  );
}

/**
 * Validates the checks of times of our own tables, which are added without looking at the rows. Reads each table once;
 * writers do not wait. Returns a line for each table that has such rows: its checks stay as they are until the next call.
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
