/** Streams the rows that left the export between two cutoffs, because they were deleted or hidden (docs/increments.md). */
import { column } from "../../shared/exports/column.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS, type ExportDataset } from "../../shared/exports/datasets.ts";
import type { TextExportFormat } from "../../shared/vocabulary.ts";
import { onlyValue, type Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import { copyRows, type RowMeter } from "./copy_rows.ts";
import { FORMATS, rowLine } from "./dataset_file.ts";
import {
  allOf,
  changesOfOlderRows,
  changesTableOf,
  fromChanged,
  hiddenParent,
  type Increment,
  isBetween,
  isLastChange,
  isOfProject,
  joinParents,
  literal,
  logged,
  ownVisibility,
  tableOf,
} from "./select_rows.ts";

const COLUMNS = [
  column.word("dataset", EXPORT_DATASET_NAMES, "Its dataset"),
  column.uuid("id", "Its id"),
  column.timestamp("at", "When it was deleted or hidden"),
];

/** Counts the rows, but stops at `limit`. A result of `limit` means "at least". */
export async function countDeletedRows(
  sql: Sql,
  { increment, limit }: { increment: Increment; limit: number },
): Promise<number> {
  const query = `select count(*) from (${deletedRows(increment)}
    limit ${limit}) as counted`;
  return onlyValue(sql.unsafe<[{ count: number }]>(query));
}

/** Streams the file of deleted rows, ordered by dataset, time and id. A snapshot supports only one stream at a time. */
export function streamDeletedFile(
  snapshot: ExportSnapshot,
  { increment, format, meter }: { increment: Increment; format: TextExportFormat; meter?: RowMeter },
): AsyncGenerator<Uint8Array, void, void> {
  const { copy, fileOf } = FORMATS[format];
  const query = deletedQuery(increment, format);
  // No value of these columns needs quotes.
  const open = (counted?: RowMeter) => copyRows(snapshot, query, { ...copy([]), meter: counted });
  return fileOf({ table: "deleted", columns: COLUMNS }, open, meter);
}

/** Returns a query for the lines of deleted or hidden rows (dataset, id, time), ordered by dataset, time and id. */
export function deletedQuery(increment: Increment, format: TextExportFormat): string {
  const { line, source } = rowLine(COLUMNS, format);
  return `select ${line}
  from (${deletedRows(increment)}) as r ${source}
  order by r.position, r.at, r.id`;
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
 * Selects deleted rows. Skips a row that was inserted again, if an earlier export contained the new row and the flags do not hide
 * it. The check is necessary because changes have the start times of their transactions: the deletion can have a later time than
 * the insert that followed it.
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
    ${joinParents(dataset, increment, "left join")}
    where r.id is null
      or ${isHidden(dataset, increment)}
      or r.id in (
        select c.id
        from ${changesTableOf(increment)} as c
        where ${logged(increment, dataset.name, "row")} and c.at > ${since}
      )`;
}

/** Selects rows that earlier exports may contain, and that a change of the row or of a parent has hidden since. */
function hiddenRows(dataset: ExportDataset, increment: Increment): string[] {
  const hidden = isHidden(dataset, increment);
  if (hidden === "false") return [];
  return [
    `select r.id, k.at
    ${fromChanged(dataset, increment, changesOfOlderRows(dataset, increment))}
    where ${allOf([
      `r.${dataset.timeColumn} <= ${literal(increment.since)}`,
      ...isLastChange(dataset, increment),
      `(${hidden})`,
    ])}`,
  ];
}

/** Returns the condition that a row `r` is hidden, by its own columns or by a parent; `false` if the dataset has no hidden rows. */
function isHidden(dataset: ExportDataset, increment: Increment): string {
  const visible = ownVisibility(dataset, increment);
  const hidden = [
    ...(visible.length > 0 ? [`not (${allOf(visible)})`] : []),
    ...dataset.parents.map((parent) => hiddenParent(parent, increment, parent)),
  ];
  return hidden.length === 0 ? "false" : hidden.join(" or ");
}
