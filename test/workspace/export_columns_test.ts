/** Every column of a tracker table is exported, or listed here as internal. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";

/**
 * Columns that no dataset exports, as `table.column`. An export covers one project, so only issues and runs contain the project's
 * id, for joins in other systems.
 */
const NOT_EXPORTED: readonly string[] = [
  "agent_snapshots.project_id",
  "analysis_records.project_id",
  "analysis_summaries.project_id",
  "issue_notes.project_id",
  "occurrences.project_id",
  "status_history.project_id",
];

const TABLES = Object.values(EXPORT_DATASETS).map(({ table }) => table);

test("every tracker column is either exported or listed as not exported", async () => {
  await using db = await openTestDatabase();
  const rows = await db.sql<{ tableName: string; columnName: string }[]>`
    select table_name, column_name
    from information_schema.columns
    where table_schema = 'public' and table_name = any(${TABLES})`;
  const inDatabase = rows.map(({ tableName, columnName }) => `${tableName}.${columnName}`);
  const exported = Object.values(EXPORT_DATASETS).flatMap(({ table, columns }) =>
    columns.map(({ column }) => `${table}.${column}`),
  );
  expect(inDatabase.toSorted()).toEqual([...exported, ...NOT_EXPORTED].toSorted());
});

test("exported names are the column names in camelCase", () => {
  const wrong = Object.values(EXPORT_DATASETS)
    .flatMap((dataset) => dataset.columns)
    .filter(
      ({ column, name }) => name !== column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    );
  expect(wrong).toEqual([]);
});

test("exported integers have the same bit width as their columns", async () => {
  await using db = await openTestDatabase();
  const rows = await db.sql<{ tableName: string; columnName: string; bits: number }[]>`
    select table_name, column_name, numeric_precision as bits
    from information_schema.columns
    where table_schema = 'public' and data_type in ('integer', 'bigint')
      and table_name = any(${TABLES})`;
  const inDatabase = rows.map(({ tableName, columnName, bits }) => `${tableName}.${columnName} ${bits}`);
  const exported = Object.values(EXPORT_DATASETS).flatMap(({ table, columns }) =>
    columns
      .filter(({ type }) => type === "integer")
      .map(({ column, bits }) => `${table}.${column} ${bits ?? 32}`),
  );
  expect(exported.toSorted()).toEqual(inDatabase.toSorted());
});

test("exported texts have the same maximum length as their columns", async () => {
  await using db = await openTestDatabase();
  const rows = await db.sql<{ column: string; definition: string }[]>`
    select c.relname || '.' || a.attname as column, pg_get_constraintdef(k.oid) as definition
    from pg_constraint as k
    join pg_class as c on c.oid = k.conrelid
    join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.contype = 'c' and c.relnamespace = 'public'::regnamespace and c.relname = any(${TABLES})`;
  const inDatabase = rows.flatMap(({ column, definition }) => {
    const [, limit] =
      /char_length\(\w+\) <= (\d+)|\[0-9a-f\]\{(64)\}/.exec(definition)?.filter(Boolean) ?? [];
    return limit ? [`${column} ${limit}`] : [];
  });
  const exported = Object.values(EXPORT_DATASETS).flatMap(({ table, columns }) =>
    columns.flatMap(({ column, maxLength }) => (maxLength ? [`${table}.${column} ${maxLength}`] : [])),
  );
  expect(exported.toSorted()).toEqual(inDatabase.toSorted());
});
