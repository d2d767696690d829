/**
 * The SQL text of an export: which rows, in which order, written as JSON or CSV by PostgreSQL itself.
 *
 * COPY takes no parameters, so values stand in the text as literals: ids and instants were parsed before they get
 * here, and every literal is quoted by `literal()`.
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

/** Where a row stands in the order of an export. */
export interface RowKey {
  /** Of the time column, as PostgreSQL prints it. */
  time: string;
  id: string;
}

/** The rows after a key, up to and with another; `null` is the beginning or the end. */
export interface KeyRange {
  after: RowKey | null;
  upTo: RowKey | null;
  /** How many rows of the project there are in it, before any is filtered out; fewer when it has no end. */
  rows: number;
}

/**
 * Compares the whole key, as the index can be searched for it, and the time besides: at a comparison of rows alone the
 * index does not stop beside another bound of the time, and every range would read on to the end of the project.
 */
function compareKey(dataset: ExportDataset, operator: ">" | "<=", key: RowKey | null): string[] {
  if (key === null) return [];
  const [time, id] = [literal(key.time), literal(key.id)];
  return [
    `r.${dataset.timeColumn} ${operator === ">" ? ">=" : "<="} ${time}`,
    `(r.${dataset.timeColumn}, r.id) ${operator} (${time}, ${id})`,
  ];
}

/** The project's rows that were there at the watermark: what the index of the order knows. */
function ofProject(dataset: ExportDataset, selection: ExportSelection): string[] {
  return [
    `r.project_id = ${literal(selection.projectId)}`,
    `r.${dataset.timeColumn} <= ${literal(selection.asOf)}`,
    ...sliceConditions(dataset, selection),
  ];
}

/** What a row `r` of the dataset has to meet: the same whether rows are counted, sampled or copied. */
function conditionsOf(dataset: ExportDataset, selection: ExportSelection): string[] {
  const project = literal(selection.projectId);
  const conditions = [...ofProject(dataset, selection), ...ownVisibility(dataset, selection)];
  for (const parent of dataset.parents) {
    // The foreign key says that the parent exists, so only the hidden ones have to be looked up. `not in`, of keys
    // that are never null, is a hash beside the scan; `not exists` would be a join, which loses the order of the
    // index, and all the lines would be sorted before the first is sent. The hash has to fit in memory
    // (sql/connection/snapshot.ts): some 13 million hidden parents in one project.
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

/** Returns a WrongTime as JSON if any of the rows has one. Reads nothing where validated checks rule it out. */
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

/** One row a line, as text that is ready to be sent. */
export function rowsQuery(dataset: ExportDataset, selection: ExportSelection, format: ExportFormat): string {
  if (selection.since) return changedRowsQuery(dataset, { ...selection, since: selection.since }, format);
  return orderedRows(dataset, { selection, format, conditions: conditionsOf(dataset, selection) });
}

/** Those of `rowsQuery` that are in the range. */
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
 * The key of the row that stands so many rows after another, whether an export shows it or not: nothing but the index
 * is read for it, where the table is vacuumed. No row when there are fewer.
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

/** The mean length in bytes of the first lines of `rowsQuery`, near enough: a row as text has a line's bytes. */
export function sampleQuery(rows: string, sampleRows: number): string {
  return `select coalesce(avg(octet_length(sampled::text)), 0)::float8 as bytes
  from (${rows} limit ${sampleRows}) as sampled`;
}
