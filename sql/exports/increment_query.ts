/**
 * The SQL text of an increment, the rows that last changed after `since` and at or before `asOf`; and the rows that left the
 * export in that time (docs/increments.md).
 */

import { BYTE_ORDER_MARK } from "../../shared/exports/csv_cell.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
} from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import type { ExportFormat, TextExportFormat, TrackerChangeKind } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import { isoText } from "../iso_text.ts";
import { type CopyOptions, copyRows } from "./copy_rows.ts";
import { isOfProject, literal } from "./literal.ts";
import {
  allOf,
  changesTableOf,
  filterConditions,
  hiddenParent,
  ownVisibility,
  parentKey,
  rowLine,
  sliceConditions,
  tableOf,
} from "./query.ts";

/** Selects the changes of one dataset between two cutoffs. */
export type Increment = ExportSelection & { since: string };

/** Counts the rows, but never more than `limit` of them. */
export function changedCountQuery(dataset: ExportDataset, increment: Increment, limit: number): string {
  return `select count(*) from (${changedKeys(dataset, increment)}
    limit ${limit}) as counted`;
}

/** Returns conditions that select the rows of the increment, in no order. */
export function changedConditions(dataset: ExportDataset, increment: Increment): string[] {
  return [
    isOfProject("r", increment),
    `r.id in (select changed.id from (${changedKeys(dataset, increment)}) as changed)`,
  ];
}

/**
 * Returns one row per line, as text ready to be sent. Sorts keys and not lines, so that the sort fits in memory. The
 * order must not come from an index, because the planner would then read the whole project: the transaction of an export
 * makes sorting look expensive.
 */
export function changedRowsQuery(dataset: ExportDataset, increment: Increment, format: ExportFormat): string {
  const { line, source } = rowLine(dataset, format);
  return `with keys as materialized (
    ${changedKeys(dataset, increment)}
  )
  select ${line}
  from (select time, id from keys order by time, id offset 0) as k
  join ${tableOf(dataset, increment)} as r on ${isOfProject("r", increment)} and r.id = k.id ${source}
  order by k.time, k.id`;
}

/** Counts the rows of `deletedQuery`, but never more than `limit` of them. */
function deletedCountQuery(increment: Increment, limit: number): string {
  return `select count(*) from (${deletedRows(increment)}
    limit ${limit}) as counted`;
}

/** Returns dataset, id and time of each row that left the export, one per line, ordered by dataset, time and id. */
export function deletedQuery(increment: Increment, format: TextExportFormat): string {
  const columns = `d.dataset, d.id, ${isoText("d.at")} as at`;
  const [line, source] =
    format === "csv"
      ? [columns, ""]
      : ["row_to_json(line)", `cross join lateral (select ${columns}) as line`];
  return `select ${line}
  from (${deletedRows(increment)}) as d ${source}
  order by d.position, d.at, d.id`;
}

/** Selects time and id of the rows of an increment. */
function changedKeys(dataset: ExportDataset, increment: Increment): string {
  const visible = [
    ...ownVisibility(dataset, increment),
    ...dataset.parents.map((parent) => `not (${hiddenParent(parent, increment, parent)})`),
  ];
  const inserted = `select r.id, r.${dataset.timeColumn} as at
      from ${tableOf(dataset, increment)} as r
      where ${allOf([isOfProject("r", increment), isBetween(`r.${dataset.timeColumn}`, increment)])}`;
  return `select r.${dataset.timeColumn} as time, r.id
    ${fromChanged(dataset, increment, [inserted, ...changesOfOlderRows(dataset, increment)])}
    where ${allOf([
      ...isLastChange(dataset, increment),
      ...visible,
      ...filterConditions(dataset, increment),
      ...sliceConditions(dataset, increment),
    ])}`;
}

function isBetween(time: string, { since, asOf }: Increment): string {
  return `${time} > ${literal(since)} and ${time} <= ${literal(asOf)}`;
}

/** Selects entries of the log as `c`. */
function logged(increment: Increment, dataset: ExportDatasetName, kind: TrackerChangeKind): string {
  return `${isOfProject("c", increment)} and c.dataset = ${literal(dataset)} and c.kind = ${literal(kind)}`;
}

/** Selects id and time of changes to existing rows, and to the parents that decide whether they are visible. */
function changesOfOlderRows(dataset: ExportDataset, increment: Increment): string[] {
  const own = `select c.id, c.at
      from ${changesTableOf(increment)} as c
      where ${logged(increment, dataset.name, "row")} and ${isBetween("c.at", increment)}`;
  const parents = dataset.parents.map(
    (parent) => `select r.id, p.at
      from (
        select c.id, c.at
        from ${changesTableOf(increment)} as c
        where ${logged(increment, parent, "visibility")} and ${isBetween("c.at", increment)}
        union
        -- a child may be older than its parent, by the start of its transaction
        select p.id, p.created_at
        from ${tableOf(EXPORT_DATASETS[parent], increment)} as p
        where ${isOfProject("p", increment)} and ${isBetween("p.created_at", increment)}
      ) as p
      join ${tableOf(dataset, increment)} as r on ${isOfProject("r", increment)} and r.${parentKey(parent)} = p.id
      where r.${dataset.timeColumn} <= ${literal(increment.since)}`,
  );
  return [own, ...parents];
}

/** Selects the changed rows `r` with the time of their last change `k.at`, each once, and their parents. */
function fromChanged(dataset: ExportDataset, increment: Increment, changes: readonly string[]): string {
  const parents = dataset.parents.map(
    (parent) => `join ${tableOf(EXPORT_DATASETS[parent], increment)} as ${parent}
      on ${isOfProject(parent, increment)} and ${parent}.id = r.${parentKey(parent)}`,
  );
  return `from (
      select id, max(at) as at
      from (${changes.join("\n      union all\n      ")}) as changes
      group by id
    ) as k
    join ${tableOf(dataset, increment)} as r on ${isOfProject("r", increment)} and r.id = k.id
    ${parents.join("\n    ")}`;
}

/** Rows that changed again after the cutoff come with the next increment. */
function isLastChange(dataset: ExportDataset, increment: Increment): string[] {
  const later = (name: ExportDatasetName, kind: TrackerChangeKind): string => `(
      select c.id
      from ${changesTableOf(increment)} as c
      where ${logged(increment, name, kind)} and c.at > ${literal(increment.asOf)}
    )`;
  return [
    `r.${dataset.timeColumn} <= ${literal(increment.asOf)}`,
    `r.id not in ${later(dataset.name, "row")}`,
    ...dataset.parents.map((parent) => `r.${parentKey(parent)} not in ${later(parent, "visibility")}`),
  ];
}

function deletedRows(increment: Increment): string {
  const parts = EXPORT_DATASET_NAMES.map((name, position) => {
    const dataset = EXPORT_DATASETS[name];
    const gone = [deletions(dataset, increment), ...hiddenRows(dataset, increment)];
    return `select ${position} as position, ${literal(name)} as dataset, id, max(at) as at
    from (${gone.join("\n    union all\n    ")}) as gone
    group by id`;
  });
  return parts.join("\n  union all\n  ");
}

/**
 * Selects deleted rows. Skips a row that was inserted again if an earlier increment had that insertion: the transaction
 * that deleted it may have begun after the one that inserted it again.
 */
function deletions(dataset: ExportDataset, increment: Increment): string {
  const since = literal(increment.since);
  return `select d.id, d.at
    from (
      select c.id, c.at
      from ${changesTableOf(increment)} as c
      where ${logged(increment, dataset.name, "deletion")} and ${isBetween("c.at", increment)}
    ) as d
    left join ${tableOf(dataset, increment)} as r
      on ${isOfProject("r", increment)} and r.id = d.id and r.${dataset.timeColumn} <= ${since}
    where r.id is null
      or r.id in (
        select c.id
        from ${changesTableOf(increment)} as c
        where ${logged(increment, dataset.name, "row")} and c.at > ${since}
      )`;
}

/** Selects rows that earlier exports may contain and that a change, their own or a parent's, has hidden. */
function hiddenRows(dataset: ExportDataset, increment: Increment): string[] {
  const visible = ownVisibility(dataset, increment);
  const hidden = [
    ...(visible.length > 0 ? [`not (${allOf(visible)})`] : []),
    ...dataset.parents.map((parent) => hiddenParent(parent, increment, parent)),
  ];
  if (hidden.length === 0) return [];
  return [
    `select r.id, k.at
    ${fromChanged(dataset, increment, changesOfOlderRows(dataset, increment))}
    where ${allOf([
      `r.${dataset.timeColumn} <= ${literal(increment.since)}`,
      ...isLastChange(dataset, increment),
      `(${hidden.join(" or ")})`,
    ])}`,
  ];
}

/** Columns of the CSV header. */
const DELETED_COLUMNS = ["dataset", "id", "at"] as const;

/** Counts the rows, but stops at `limit`: that many means "at least". */
export async function countDeletedRows(
  sql: Sql,
  { increment, limit }: { increment: Increment; limit: number },
): Promise<number> {
  const [row] = await sql.unsafe<[{ count: number }]>(deletedCountQuery(increment, limit));
  return row.count;
}

/** Streams the file of deleted rows, by dataset, time and id. One at a time on a snapshot. */
export async function* streamDeletedFile(
  snapshot: ExportSnapshot,
  options: CopyOptions & { increment: Increment; format: TextExportFormat },
): AsyncGenerator<Uint8Array, void, void> {
  const { increment, format } = options;
  if (format === "csv") {
    yield new TextEncoder().encode(`${BYTE_ORDER_MARK}${DELETED_COLUMNS.join(",")}\r\n`);
  }
  yield* copyRows(snapshot, deletedQuery(increment, format), options);
}
