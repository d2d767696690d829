/**
 * The SQL text of an export: which rows, in which order, formatted as JSON or CSV by PostgreSQL.
 *
 * COPY takes no parameters, so the text contains values as literals. Ids and times have been parsed before, and
 * `literal()` quotes every literal.
 */

import type { ExportColumn } from "../../shared/exports/column.ts";
import { EXPORT_DATASETS, type ExportDataset } from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { hasWrongTime, isWrongTime, timeColumns } from "../tracker/tracker_times.ts";
import { changedCountQuery, changedIdsQuery, changedRowsQuery } from "./increment_query.ts";
import {
  all,
  filterConditions,
  hiddenParent,
  literal,
  ownVisibility,
  parentKey,
  sliceConditions,
  tableOf,
} from "./row_conditions.ts";
import { rowLine } from "./row_line.ts";

/** The position of a row in the order of an export. */
export interface RowKey {
  /** Value of the time column, as PostgreSQL prints it. */
  time: string;
  id: string;
}

/** The rows after one key, up to and including another; null stands for the beginning or the end. */
export interface KeyRange {
  after: RowKey | null;
  upTo: RowKey | null;
  /** Number of rows of the project in the range, before filters; an upper bound in the last range. */
  rows: number;
}

/**
 * Compares the whole key, which the index can be searched for, and also the time alone: with a row comparison and another
 * bound of the time, the index scan would not stop at the key, and every range would read to the end of the project.
 */
function compareKey(dataset: ExportDataset, operator: ">" | "<=", key: RowKey | null): string[] {
  if (key === null) return [];
  const [time, id] = [literal(key.time), literal(key.id)];
  return [
    `r.${dataset.timeColumn} ${operator === ">" ? ">=" : "<="} ${time}`,
    `(r.${dataset.timeColumn}, r.id) ${operator} (${time}, ${id})`,
  ];
}

/** Conditions for the project's rows up to the watermark, all answered by the index of the order. */
function ofProject(dataset: ExportDataset, selection: ExportSelection): string[] {
  return [
    `r.project_id = ${literal(selection.projectId)}`,
    `r.${dataset.timeColumn} <= ${literal(selection.asOf)}`,
    ...sliceConditions(dataset, selection),
  ];
}

/** Conditions for a row `r` of the dataset: the same for counting, sampling and copying. */
function conditionsOf(dataset: ExportDataset, selection: ExportSelection): string[] {
  const project = literal(selection.projectId);
  const conditions = [...ofProject(dataset, selection), ...ownVisibility(dataset, selection)];
  for (const parent of dataset.parents) {
    // The foreign key guarantees that the parent exists, so only hidden parents are looked up. `not in` over keys that
    // are never null becomes a hash beside the scan. `not exists` would become a join, which loses the order of the
    // index, so that all lines would be sorted before the first is sent. The hash has to fit in memory
    // (sql/connection/snapshot.ts): about 13 million hidden parents in one project.
    conditions.push(`r.${parentKey(parent)} not in (
      select p.id from ${tableOf(EXPORT_DATASETS[parent], selection)} as p
      where p.project_id = ${project} and (${hiddenParent(parent, selection, "p")}))`);
  }
  return [...conditions, ...filterConditions(dataset, selection)];
}

/** Counts the rows, but never more than `limit` of them. */
export function countQuery(dataset: ExportDataset, selection: ExportSelection, limit: number): string {
  if (selection.since) return changedCountQuery(dataset, { ...selection, since: selection.since }, limit);
  return `select count(*) from (
    select from ${tableOf(dataset, selection)} as r
    where ${all(conditionsOf(dataset, selection))}
    limit ${limit}) as counted`;
}

/** Returns a WrongTime as JSON if any row has one. Reads no rows if validated checks rule it out. */
export function wrongTimeQuery(dataset: ExportDataset, selection: ExportSelection): string {
  const { projectId, since } = selection;
  const selected = since
    ? [
        `r.project_id = ${literal(projectId)}`,
        `r.id in (${changedIdsQuery(dataset, { ...selection, since })})`,
      ]
    : conditionsOf(dataset, selection);
  const columns = timeColumns(dataset);
  const choose = (value: (column: ExportColumn) => string): string => {
    const cases = columns.map(
      (column) => `when ${isWrongTime(`r."${column.column}"`)} then ${value(column)}`,
    );
    return `case ${cases.join(" ")} end`;
  };
  return `select json_build_object(
      'dataset', ${literal(dataset.name)},
      'column', ${choose(({ name }) => literal(name))},
      'id', r.id,
      'time', ${choose(({ column }) => `r."${column}"::text`)}
    )
    from ${tableOf(dataset, selection)} as r
    where ${all([...selected, `(${hasWrongTime(dataset)})`])}
    limit 1`;
}

/** Returns one row per line, as text ready to be sent. */
export function rowsQuery(dataset: ExportDataset, selection: ExportSelection, format: ExportFormat): string {
  if (selection.since) return changedRowsQuery(dataset, { ...selection, since: selection.since }, format);
  return orderedRows(dataset, { selection, format, conditions: conditionsOf(dataset, selection) });
}

/** Returns the rows of `rowsQuery` that are in the range. */
export function rangeQuery(
  dataset: ExportDataset,
  selection: ExportSelection,
  { format, range }: { format: ExportFormat; range: KeyRange },
): string {
  const conditions = [
    ...conditionsOf(dataset, selection),
    ...compareKey(dataset, ">", range.after),
    ...compareKey(dataset, "<=", range.upTo),
  ];
  return orderedRows(dataset, { selection, format, conditions });
}

function orderedRows(
  dataset: ExportDataset,
  given: { selection: ExportSelection; format: ExportFormat; conditions: readonly string[] },
): string {
  const { selection, format, conditions } = given;
  const { line, source } = rowLine(dataset, format);
  return `select ${line}
  from ${tableOf(dataset, selection)} as r ${source}
  where ${all(conditions)}
  order by r.${dataset.timeColumn}, r.id`;
}

/**
 * Returns the key of the row that is `rows` rows after another, counting invisible rows too; no row if there are fewer.
 * Reads only the index if the table is vacuumed.
 */
export function boundaryQuery(
  dataset: ExportDataset,
  selection: ExportSelection,
  { after, rows }: { after: RowKey | null; rows: number },
): string {
  return `select r.${dataset.timeColumn}::text as time, r.id
  from ${tableOf(dataset, selection)} as r
  where ${all([...ofProject(dataset, selection), ...compareKey(dataset, ">", after)])}
  order by r.${dataset.timeColumn}, r.id
  offset ${rows - 1}
  limit 1`;
}

/** Returns the mean length in bytes of the first lines of `rowsQuery`, from the length of the rows as text. */
export function sampleQuery(rows: string, sampleRows: number): string {
  return `select coalesce(avg(octet_length(sampled::text)), 0)::float8 as bytes
  from (${rows} limit ${sampleRows}) as sampled`;
}
