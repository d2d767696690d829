/**
 * Which rows an export has: those that the cutoff, flags and filters select, or in an increment those of them that changed
 * after `since` (docs/increments.md). COPY takes no parameters, so the SQL text contains values as literals; ids and times were
 * parsed before.
 */
import type { ExportColumn } from "../../shared/exports/column.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
  type ExportVisibility,
  PARENT_KEYS,
} from "../../shared/exports/datasets.ts";
import { RESOLVED_ISSUE_STATUSES, type TrackerChangeKind } from "../../shared/vocabulary.ts";
import { onlyRow, onlyValue, type Sql } from "../connection/pool.ts";
import { trackerTable } from "../tracker/tracker_tables.ts";
import { hasTimeChecks, hasWrongTime, isWrongTime, timeColumns } from "../tracker/wrong_times.ts";

export interface ExportSelection {
  /** Where the tracker tables, or views, are. */
  trackerSchema: string;
  /** The shards that hold the project, by table, where the tables are distributed and a node is read. */
  shards?: Readonly<Record<string, string>> | null;
  projectId: string;
  /** The settled watermark; later rows are excluded. */
  asOf: string;
  visibility: ExportVisibility;
  /** Values by filter name; a row has to match one of the values of every filter that is set. */
  filters: Readonly<Record<string, readonly string[]>>;
  /** Only rows that changed after it, docs/increments.md; all rows if it is null or missing. */
  since?: string | null;
  /** Only rows of a part of time, by the dataset's time column: from, inclusive, and to, exclusive. */
  createdFrom?: string | null;
  createdTo?: string | null;
}

/** Selects the rows that changed between two cutoffs. */
export type Increment = ExportSelection & { since: string };

/** What to select from a row `r`, and what to append to the FROM clause for it. */
export interface RowLine {
  line: string;
  source: string;
}

export type RowCounts = Record<ExportDatasetName, number>;

/**
 * Counts the rows of a dataset, but stops at `limit`: a result of `limit` means "at least". Throws WrongTimeError if a row
 * has a time that cannot be exported.
 */
export async function countDatasetRows(
  sql: Sql,
  dataset: ExportDataset,
  { selection, limit }: { selection: ExportSelection; limit: number },
): Promise<number> {
  await requireRightTimes(sql, selection, [dataset]);
  return onlyValue(sql.unsafe<[{ count: number }]>(countQuery(dataset, selection, limit)));
}

/**
 * Counts the rows of all eight datasets in one statement, each up to `limit`. Throws WrongTimeError if a row has a time
 * that cannot be exported.
 */
export async function countBundleRows(
  sql: Sql,
  { selection, limit }: { selection: ExportSelection; limit: number },
): Promise<RowCounts> {
  const counts = EXPORT_DATASET_NAMES.map(
    (name) => `(${countQuery(EXPORT_DATASETS[name], selection, limit)}) as "${name}"`,
  );
  await requireRightTimes(sql, selection);
  return onlyRow(sql.unsafe<[RowCounts]>(`select ${counts.join(",\n")}`));
}

/** Counts the rows, but never more than `limit` of them. */
export function countQuery(dataset: ExportDataset, selection: ExportSelection, limit: number): string {
  const rows = isIncrement(selection)
    ? changedKeys(dataset, selection)
    : `select from ${tableOf(dataset, selection)} as r
    where ${allOf(conditionsOf(dataset, selection))}`;
  return `select count(*) from (
    ${rows}
    limit ${limit}) as counted`;
}

/** Returns the lines of all rows, ordered by time column and id; `more` conditions select a part of a full export. */
export function selectLines(
  dataset: ExportDataset,
  selection: ExportSelection,
  { line, source, more = [] }: RowLine & { more?: readonly string[] },
): string {
  if (isIncrement(selection)) {
    // Sorts keys and not lines, so that the sort fits in memory. The order must not come from an index, because the
    // planner would then read the whole project: the transaction of an export makes sorting look expensive.
    return `with keys as materialized (
    ${changedKeys(dataset, selection)}
  )
  select ${line}
  from (select time, id from keys order by time, id offset 0) as k
  join ${tableOf(dataset, selection)} as r on ${isOfProject("r", selection)} and r.id = k.id ${source}
  order by k.time, k.id`;
  }
  return `select ${line}
  from ${tableOf(dataset, selection)} as r ${source}
  where ${allOf([...conditionsOf(dataset, selection), ...more])}
  order by r.${dataset.timeColumn}, r.id`;
}

/** Conditions for the project's rows up to the watermark, all answered by the index of the order. */
export function ofProject(dataset: ExportDataset, selection: ExportSelection): string[] {
  return [
    isOfProject("r", selection),
    `r.${dataset.timeColumn} <= ${literal(selection.asOf)}`,
    ...sliceConditions(dataset, selection),
  ];
}

/** Conditions for a row `r` of a full export: the same for counting, sampling and copying. */
function conditionsOf(dataset: ExportDataset, selection: ExportSelection): string[] {
  const conditions = [...ofProject(dataset, selection), ...ownVisibility(dataset, selection)];
  for (const parent of dataset.parents) {
    // The foreign key guarantees that the parent exists, so only hidden parents are looked up. `not in` over keys that
    // are never null becomes a hash beside the scan. `not exists` would become a join, which loses the order of the
    // index, so that all lines would be sorted before the first is sent. The hash has to fit in memory
    // (sql/connection/snapshot.ts): about 13 million hidden parents in one project.
    conditions.push(`r.${PARENT_KEYS[parent]} not in (
      select p.id from ${tableOf(EXPORT_DATASETS[parent], selection)} as p
      where ${isOfProject("p", selection)} and (${hiddenParent(parent, selection, "p")}))`);
  }
  return [...conditions, ...filterConditions(dataset, selection)];
}

type ParentTable = ExportDataset["parents"][number];

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

function filterConditions(dataset: ExportDataset, selection: ExportSelection): string[] {
  return dataset.filters.flatMap((filter) => {
    const values = selection.filters[filter.name];
    return values ? [`r."${filter.column}" in (${literals(values)})`] : [];
  });
}

function sliceConditions(dataset: ExportDataset, { createdFrom, createdTo }: ExportSelection): string[] {
  return [
    ...(createdFrom ? [`r.${dataset.timeColumn} >= ${literal(createdFrom)}`] : []),
    ...(createdTo ? [`r.${dataset.timeColumn} < ${literal(createdTo)}`] : []),
  ];
}

function isIncrement(selection: ExportSelection): selection is Increment {
  return Boolean(selection.since);
}

/** Selects time and id of the rows of an increment, in no order. */
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

export function isBetween(time: string, { since, asOf }: Increment): string {
  return `${time} > ${literal(since)} and ${time} <= ${literal(asOf)}`;
}

/** Selects entries of the log as `c`. */
export function logged(increment: Increment, dataset: ExportDatasetName, kind: TrackerChangeKind): string {
  return `${isOfProject("c", increment)} and c.dataset = ${literal(dataset)} and c.kind = ${literal(kind)}`;
}

/** Selects id and time of changes to existing rows, and to the parents that decide whether they are visible. */
export function changesOfOlderRows(dataset: ExportDataset, increment: Increment): string[] {
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
      join ${tableOf(dataset, increment)} as r on ${isOfProject("r", increment)} and r.${PARENT_KEYS[parent]} = p.id
      where r.${dataset.timeColumn} <= ${literal(increment.since)}`,
  );
  return [own, ...parents];
}

/** Selects the changed rows `r` with the time of their last change `k.at`, each once, and their parents. */
export function fromChanged(
  dataset: ExportDataset,
  increment: Increment,
  changes: readonly string[],
): string {
  return `from (
      select id, max(at) as at
      from (${changes.join("\n      union all\n      ")}) as changes
      group by id
    ) as k
    join ${tableOf(dataset, increment)} as r on ${isOfProject("r", increment)} and r.id = k.id
    ${joinParents(dataset, increment, "join")}`;
}

/** Joins the parents of rows `r`, each by the name of its table. */
export function joinParents(
  dataset: ExportDataset,
  increment: Increment,
  join: "join" | "left join",
): string {
  const joins = dataset.parents.map(
    (parent) => `${join} ${tableOf(EXPORT_DATASETS[parent], increment)} as ${parent}
      on ${isOfProject(parent, increment)} and ${parent}.id = r.${PARENT_KEYS[parent]}`,
  );
  return joins.join("\n    ");
}

/** Rows that changed again after the cutoff come with the next increment. */
export function isLastChange(dataset: ExportDataset, increment: Increment): string[] {
  const later = (name: ExportDatasetName, kind: TrackerChangeKind): string => `(
      select c.id
      from ${changesTableOf(increment)} as c
      where ${logged(increment, name, kind)} and c.at > ${literal(increment.asOf)}
    )`;
  return [
    `r.${dataset.timeColumn} <= ${literal(increment.asOf)}`,
    `r.id not in ${later(dataset.name, "row")}`,
    ...dataset.parents.map((parent) => `r.${PARENT_KEYS[parent]} not in ${later(parent, "visibility")}`),
  ];
}

/** Thrown for a row with a time that cannot be written (sql/tracker/wrong_times.ts). Says what to do, without a period. */
export class WrongTimeError extends Error {
  override readonly name = "WrongTimeError";
  readonly row: WrongTime;

  constructor(row: WrongTime, projectId: string) {
    const { dataset, column, id, time } = row;
    super(
      `${column} of row ${id} of ${dataset} is ${time}, outside the years 1 to 9999. Correct it in the tracker, in table ` +
        `"${EXPORT_DATASETS[dataset].table}" of project ${projectId}, then export again`,
    );
    this.row = row;
  }
}

/** `column` is its name in JSON. */
interface WrongTime {
  dataset: ExportDatasetName;
  column: string;
  id: string;
  time: string;
}

/** Throws WrongTimeError if a row of the datasets has a time that cannot be exported. Call inside a transaction. */
export async function requireRightTimes(
  sql: Sql,
  selection: ExportSelection,
  datasets = Object.values(EXPORT_DATASETS),
): Promise<void> {
  const checks = hasTimeChecks(datasets, (dataset) => tableOf(dataset, selection));
  // Planned once for each connection, as that takes longer than the answer. Shards have too many names to keep a plan for each.
  const options = { prepare: !selection.shards, simple: false };
  const query = sql.unsafe<[{ isChecked: boolean }]>(`select ${checks} as is_checked`, [], options);
  if (await onlyValue(query)) return;
  // The checks of the tables below a view may also rule out such times. Then PostgreSQL reads no row.
  await sql`select set_config('constraint_exclusion', 'on', true)`;
  const queries = datasets.map((dataset) => `(${wrongTimeQuery(dataset, selection)})`);
  const [{ wrongTime }] = await sql.unsafe<[{ wrongTime: WrongTime | null }]>(
    `select coalesce(${queries.join(", ")}) as wrong_time`,
  );
  if (wrongTime) throw new WrongTimeError(wrongTime, selection.projectId);
  await sql`select set_config('constraint_exclusion', 'partition', true)`;
}

/** Returns a WrongTime as JSON if any row has one. Reads no rows if validated checks rule it out. */
export function wrongTimeQuery(dataset: ExportDataset, selection: ExportSelection): string {
  const columns = timeColumns(dataset);
  const choose = (value: (column: ExportColumn) => string): string => {
    const cases = columns.map(
      (column) => `when ${isWrongTime(`r."${column.column}"`)} then ${value(column)}`,
    );
    return `case ${cases.join(" ")} end`;
  };
  const conditions = isIncrement(selection)
    ? [
        isOfProject("r", selection),
        `r.id in (select changed.id from (${changedKeys(dataset, selection)}) as changed)`,
      ]
    : conditionsOf(dataset, selection);
  return `select json_build_object(
      'dataset', ${literal(dataset.name)},
      'column', ${choose(({ name }) => literal(name))},
      'id', r.id,
      'time', ${choose(({ column }) => `r."${column}"::text`)}
    )
    from ${tableOf(dataset, selection)} as r
    where ${allOf([...conditions, `(${hasWrongTime(dataset)})`])}
    limit 1`;
}

export function allOf(conditions: readonly string[]): string {
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

/** Returns a text literal. The pool pins `standard_conforming_strings`, so only the quote needs doubling. */
export function literal(value: string): string {
  if (value.includes("\0")) throw new RangeError("Cannot write a literal: the text holds a NUL");
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns text literals, separated by commas. */
function literals(values: readonly string[]): string {
  return values.map(literal).join(", ");
}

/** Returns the condition that a row is of the project, whose id is a literal too. It comes first in keys and indexes. */
export function isOfProject(row: string, { projectId }: { projectId: string }): string {
  return `${row}.project_id = ${literal(projectId)}`;
}
