/**
 * The SQL text of an export: which rows, in which order, written as JSON or CSV by PostgreSQL itself.
 *
 * COPY takes no parameters, so values stand in the text as literals: ids and instants were parsed before they get
 * here, and every literal is quoted by `literal()`.
 */

import type { ExportColumn } from "../../shared/exports/column.ts";
import { EXPORT_DATASETS, type ExportDataset } from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import { type ExportFormat, RESOLVED_ISSUE_STATUSES } from "../../shared/vocabulary.ts";
import { isoText } from "../iso_text.ts";
import { trackerTable } from "../tracker/tracker_tables.ts";
import { csvCell } from "./csv_cell.ts";

/** A text literal; the pool pins `standard_conforming_strings`, so only the quote needs doubling. */
function literal(value: string): string {
  if (value.includes("\0")) throw new RangeError("Cannot write a literal: the text holds a NUL");
  return `'${value.replaceAll("'", "''")}'`;
}

function literals(values: readonly string[]): string {
  return values.map(literal).join(", ");
}

function jsonValue(column: ExportColumn): string {
  const value = `r."${column.column}"`;
  return column.type === "timestamp" ? isoText(value) : value;
}

function tableOf(dataset: ExportDataset, { trackerSchema }: ExportSelection): string {
  return trackerTable(trackerSchema, dataset.table);
}

/** True for the parents of a row that the caller does not get to see, so that the row goes with them. */
function hiddenParent(parent: "issues" | "runs", selection: ExportSelection): string {
  const { visibility, asOf } = selection;
  const hidden = [`p.created_at > ${literal(asOf)}`];
  if (parent === "runs" && !visibility.includeArchived) hidden.push("p.archived_at is not null");
  if (parent === "issues" && !visibility.includeDeleted) hidden.push("p.deleted_at is not null");
  if (parent === "issues" && !visibility.includeResolved) {
    hidden.push(`p.status in (${literals(RESOLVED_ISSUE_STATUSES)})`);
  }
  return hidden.join(" or ");
}

/** What of the dataset's own columns hides a row. */
function ownVisibility(dataset: ExportDataset, selection: ExportSelection): string[] {
  const { visibility } = selection;
  const conditions: string[] = [];
  if (dataset.name === "issues" && !visibility.includeDeleted) conditions.push("r.deleted_at is null");
  if (dataset.name === "issues" && !visibility.includeResolved) {
    conditions.push(`r.status not in (${literals(RESOLVED_ISSUE_STATUSES)})`);
  }
  if (dataset.name === "runs" && !visibility.includeArchived) conditions.push("r.archived_at is null");
  if (dataset.flags.includes("include_superseded") && !visibility.includeSuperseded) {
    conditions.push("r.superseded_at is null");
  }
  return conditions;
}

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
  ];
}

/** What a row `r` of the dataset has to meet: the same whether rows are counted, sampled or copied. */
function conditionsOf(dataset: ExportDataset, selection: ExportSelection): string[] {
  const project = literal(selection.projectId);
  const conditions = [...ofProject(dataset, selection), ...ownVisibility(dataset, selection)];
  for (const parent of dataset.parents) {
    const key = parent === "issues" ? "issue_id" : "run_id";
    // The foreign key says that the parent exists, so only the hidden ones have to be looked up. `not in`, of keys
    // that are never null, is a hash beside the scan; `not exists` would be a join, which loses the order of the
    // index, and all the lines would be sorted before the first is sent. The hash has to fit in memory
    // (sql/connection/snapshot.ts): some 13 million hidden parents in one project.
    conditions.push(`r.${key} not in (
      select p.id from ${tableOf(EXPORT_DATASETS[parent], selection)} as p
      where p.project_id = ${project} and (${hiddenParent(parent, selection)}))`);
  }
  for (const filter of dataset.filters) {
    const values = selection.filters[filter.name];
    if (values) conditions.push(`r."${filter.column}" in (${literals(values)})`);
  }
  return conditions;
}

function all(conditions: readonly string[]): string {
  return conditions.join("\n    and ");
}

/** Counts the rows, but never more than `limit` of them. */
export function countQuery(dataset: ExportDataset, selection: ExportSelection, limit: number): string {
  return `select count(*) from (
    select from ${tableOf(dataset, selection)} as r
    where ${all(conditionsOf(dataset, selection))}
    limit ${limit}) as counted`;
}

/** One row a line, as text that is ready to be sent. */
export function rowsQuery(dataset: ExportDataset, selection: ExportSelection, format: ExportFormat): string {
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

/**
 * JSON is made in a lateral subselect and not around the ordered rows: only so does a parallel worker make it, while
 * the leader merely merges (1.5 times as fast on two cores).
 */
function orderedRows(
  dataset: ExportDataset,
  given: { selection: ExportSelection; format: ExportFormat; conditions: readonly string[] },
): string {
  const { selection, format, conditions } = given;
  const jsonColumns = dataset.columns.map((column) => `${jsonValue(column)} as "${column.name}"`);
  const [line, source] =
    format === "csv"
      ? [dataset.columns.map(csvCell).join(", "), ""]
      : ["row_to_json(line)", `cross join lateral (select ${jsonColumns.join(", ")}) as line`];
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
