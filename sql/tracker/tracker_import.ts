/**
 * Imports rows into the tracker tables. Lines are staged in a temporary table and then inserted. Only names from the list of
 * datasets and their columns are concatenated into statements.
 */
import { column, type ExportColumn, type ExportColumnType } from "../../shared/exports/column.ts";
import type { ExportDataset } from "../../shared/exports/datasets.ts";
import { onlyValue, type Sql } from "../connection/pool.ts";
import { lockTransaction } from "../locks.ts";
import { allowBackfill, quoteName } from "./tracker_tables.ts";

/** SQL types for parsing values. The columns of the tables enforce further limits. */
const SQL_TYPES: Readonly<Record<ExportColumnType, string>> = {
  uuid: "uuid",
  text: "text",
  integer: "bigint",
  number: "double precision",
  boolean: "boolean",
  timestamp: "timestamptz(3)",
  json: "jsonb",
};

/**
 * Creates the temporary table for imported lines, with one JSON document per row. Call inside a transaction, whose commit drops the
 * table.
 */
export async function createImportStage(tx: Sql): Promise<void> {
  // Imported rows keep their times.
  await allowBackfill(tx);
  await tx`create temporary table import_stage (doc json not null) on commit drop`;
}

/** Empties the temporary table for the next dataset. */
export async function clearImportStage(tx: Sql): Promise<void> {
  await tx`truncate import_stage`;
}

/** Adds lines of NDJSON to the temporary table. */
export async function insertImportLines(tx: Sql, lines: readonly string[]): Promise<void> {
  await tx`
    insert into import_stage (doc)
    select line::json
    from string_to_table(${lines.join("\n")}, ${"\n"}) as line`;
}

/** Staged rows of one dataset of one project. */
export interface StagedRows {
  dataset: ExportDataset;
  /** Project id in the staged rows. */
  fromProjectId: string;
  projectId: string;
  /** Milliseconds that are added to every time. */
  shiftMs: number;
}

/**
 * Returns FROM items: row `r` is a staged document with columns named as in JSON, and row `c` has the source project and the time
 * shift.
 */
function stagedRows(dataset: ExportDataset): string {
  const columns = dataset.columns.map(({ name, type }) => `${quoteName(name)} ${SQL_TYPES[type]}`);
  return `import_stage s cross join lateral json_to_record(s.doc) as r (${columns.join(", ")})
     cross join (select $2::uuid as project_id, $3::bigint * interval '1 millisecond' as shift) c`;
}

/** Returns the query parameters `$1` to `$3` of the SQL that `stagedRows` and `valueFor` generate. */
function parameters({ projectId, fromProjectId, shiftMs }: StagedRows): [string, string, number] {
  return [projectId, fromProjectId, shiftMs];
}

/**
 * Returns the columns to insert, with their values. Adds `project_id` for datasets without this column, because every row belongs
 * to a project.
 */
function assignmentsOf({ columns }: ExportDataset) {
  const assigned = columns.map((column) => ({ column, value: valueFor(column) }));
  if (columns.some((each) => each.column === "project_id")) return assigned;
  return [{ column: column.uuid("project_id", "The project"), value: "$1::uuid" }, ...assigned];
}

/**
 * Returns the SQL expression for the value of a column. A row of another project gets a null project id, which the NOT NULL
 * constraint rejects.
 */
function valueFor(column: ExportColumn): string {
  const value = `r.${quoteName(column.name)}`;
  if (column.column === "project_id") return `case when ${value} = c.project_id then $1::uuid end`;
  if (column.type === "timestamp") return `${value} + c.shift`;
  // Exports write null for both JSON null and SQL null, but a required column can contain only JSON null.
  if (column.type === "json" && !column.nullable) return `coalesce(${value}, 'null'::jsonb)`;
  return value;
}

/** Inserts staged rows with ids that the table lacks and returns their number. Throws a constraint violation for invalid rows. */
export async function insertStaged(tx: Sql, rows: StagedRows): Promise<number> {
  const { dataset } = rows;
  const assigned = assignmentsOf(dataset);
  const names = assigned.map(({ column }) => quoteName(column.column));
  const values = assigned.map(({ value }) => value);
  // Counts the returned rows, because Citus reports the number of rows it received, including existing rows.
  const inserted = tx.unsafe<[{ count: number }]>(
    `with inserted as (
       insert into ${quoteName(dataset.table)} (${names.join(", ")})
       select ${values.join(", ")}
       from ${stagedRows(dataset)}
       on conflict on constraint ${quoteName(`${dataset.table}_pkey`)} do nothing
       returning 1
     )
     select count(*) from inserted`,
    parameters(rows),
  );
  return onlyValue(inserted);
}

/** Returns the id of a staged row that differs from the stored row; `null` if all are equal. */
export async function findDifferentRow(tx: Sql, rows: StagedRows): Promise<string | null> {
  const { dataset } = rows;
  const assigned = assignmentsOf(dataset);
  // JSON and numbers are compared as text, because 1.0 and 1.00 also differ in an export.
  const asText = ({ type }: ExportColumn, expression: string): string =>
    type === "json" || type === "number" ? `(${expression})::text` : expression;
  const stored = assigned.map(({ column }) => {
    const name = `t.${quoteName(column.column)}`;
    // An export writes null for both JSON null and SQL null, and an import stores SQL null.
    const isEither = column.type === "json" && column.nullable;
    return asText(column, isEither ? `nullif(${name}, 'null'::jsonb)` : name);
  });
  const staged = assigned.map(({ column, value }) => asText(column, value));
  // If statistics are older than the project, a nested loop over the wrong index looks cheap. It would read the whole project for
  // every row.
  await tx`set local enable_nestloop = off`;
  // Without statistics of the staged rows, PostgreSQL 18 reads the whole table for every staged row. That takes minutes instead of
  // a quarter of a second.
  await tx`analyze import_stage`;
  const [row] = await tx.unsafe<{ id: string }[]>(
    `select r."id"
     from ${stagedRows(dataset)}
     left join ${quoteName(dataset.table)} t on t.project_id = $1::uuid and t.id = r."id"
     where (${stored.join(", ")}) is distinct from (${staged.join(", ")})
     limit 1`,
    parameters(rows),
  );
  await tx`set local enable_nestloop = on`;
  return row?.id ?? null;
}

/**
 * Maximum sequence value of an imported row. All projects share the sequence, so a value near the end of the sequence would leave
 * no values for other projects.
 */
const MAX_STATUS_SEQ = 2n ** 62n;

/**
 * Advances the sequence of `status_history.seq` past the rows of a project and returns `null`. If a row has a value above 2^62,
 * returns that value and leaves the sequence unchanged.
 */
export async function advanceStatusSequence(tx: Sql, projectId: string): Promise<string | null> {
  // Without the lock, concurrent imports could set the sequence back.
  await lockTransaction(tx, "statusSequence");
  // Two statements, because the rows and the sequence may be on different machines.
  const [{ last }] = await tx<[{ last: string | null }]>`
    select max(seq)::text as last from status_history where project_id = ${projectId}`;
  if (last !== null && BigInt(last) > MAX_STATUS_SEQ) return last;
  await tx`
    select setval('status_history_seq_seq', ${last}::text::bigint)::text
    from status_history_seq_seq
    where ${last}::text::bigint >= last_value`;
  return null;
}
