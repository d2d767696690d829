/** Conditions of an export as SQL text, for rows `r`: visibility, filters, slices of time. */
import type { ExportDataset } from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import { RESOLVED_ISSUE_STATUSES } from "../../shared/vocabulary.ts";
import { trackerTable } from "../tracker/tracker_tables.ts";

export type ParentTable = ExportDataset["parents"][number];

/** Returns a text literal. The pool pins `standard_conforming_strings`, so only the quote needs doubling. */
export function literal(value: string): string {
  if (value.includes("\0")) throw new RangeError("Cannot write a literal: the text holds a NUL");
  return `'${value.replaceAll("'", "''")}'`;
}

function literals(values: readonly string[]): string {
  return values.map(literal).join(", ");
}

export function all(conditions: readonly string[]): string {
  return conditions.join("\n    and ");
}

/** Returns the quoted name of the dataset's table, or of its shard. */
export function tableOf(
  dataset: ExportDataset,
  { shards, trackerSchema }: Pick<ExportSelection, "shards" | "trackerSchema">,
): string {
  return shards?.[dataset.table] ?? trackerTable(trackerSchema, dataset.table);
}

/** Returns the name of the table that logs changes of rows, or of its shard. */
export function changesTableOf({ shards }: ExportSelection): string {
  return shards?.["tracker_changes"] ?? "tracker_changes";
}

/** Returns the column of a child that has the id of its parent. */
export function parentKey(parent: ParentTable): "issue_id" | "run_id" {
  return parent === "issues" ? "issue_id" : "run_id";
}

/** Returns the condition under which a parent, the row `alias`, and so its children are not exported. */
export function hiddenParent(parent: ParentTable, selection: ExportSelection, alias: string): string {
  const { visibility, asOf } = selection;
  const hidden = [`${alias}.created_at > ${literal(asOf)}`];
  if (parent === "runs" && !visibility.includeArchived) hidden.push(`${alias}.archived_at is not null`);
  if (parent === "issues" && !visibility.includeDeleted) hidden.push(`${alias}.deleted_at is not null`);
  if (parent === "issues" && !visibility.includeResolved) {
    hidden.push(`${alias}.status in (${literals(RESOLVED_ISSUE_STATUSES)})`);
  }
  return hidden.join(" or ");
}

/** Returns the conditions on a row's own columns that make it visible. */
export function ownVisibility(dataset: ExportDataset, selection: ExportSelection): string[] {
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

/** Returns the conditions of the caller's filters. */
export function filterConditions(dataset: ExportDataset, selection: ExportSelection): string[] {
  return dataset.filters.flatMap((filter) => {
    const values = selection.filters[filter.name];
    return values ? [`r."${filter.column}" in (${literals(values)})`] : [];
  });
}

/** Returns the conditions of the caller's slice of time. */
export function sliceConditions(dataset: ExportDataset, selection: ExportSelection): string[] {
  const { createdFrom, createdTo } = selection;
  return [
    ...(createdFrom ? [`r.${dataset.timeColumn} >= ${literal(createdFrom)}`] : []),
    ...(createdTo ? [`r.${dataset.timeColumn} < ${literal(createdTo)}`] : []),
  ];
}
