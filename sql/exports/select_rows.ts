/**
 * Builds the SQL that selects the rows of an export. A full export has the rows that match the cutoff, flags and filters. An
 * increment has only those that changed after `since` (docs/increments.md). COPY takes no parameters, so the SQL text
 * contains values as literals. Ids and times have already been parsed.
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
  /** Schema of the tracker tables or views. */
  trackerSchema: string;
  /** The project's shards by table name, if the export reads from a node. */
  shards?: Readonly<Record<string, string>> | null;
  projectId: string;
  /** The settled watermark; later rows are excluded. */
  asOf: string;
  visibility: ExportVisibility;
  /** Values by filter name. A row must match one value of every filter that is set. */
  filters: Readonly<Record<string, readonly string[]>>;
  /** Selects only rows that changed after this time (docs/increments.md); all rows if null or undefined. */
  since?: string | null;
  /** Bounds of the dataset's time column: `createdFrom` is inclusive, `createdTo` exclusive. */
  createdFrom?: string | null;
  createdTo?: string | null;
}

/** Selects the rows that changed between two cutoffs. */
export type Increment = ExportSelection & { since: string };

/** The SELECT list for a row `r`, and an addition to the FROM clause. */
export interface RowLine {
  line: string;
  source: string;
}

export type RowCounts = Record<ExportDatasetName, number>;

/**
 * Counts the rows of a dataset, but stops at `limit`. A result of `limit` means "at least". Throws WrongTimeError if a row
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

/** Returns a query that counts the rows of a dataset, up to `limit`. */
export function countQuery(dataset: ExportDataset, selection: ExportSelection, limit: number): string {
  const rows = isIncrement(selection)
    ? changedKeys(dataset, selection)
    : `select from ${tableOf(dataset, selection)} as r
    where ${allOf(conditionsOf(dataset, selection))}`;
  return `select count(*) from (
    ${rows}
    limit ${limit}) as counted`;
}

/** Returns a query for the lines of all rows, ordered by time column and id. `more` conditions select a part of a full export. */
export function selectLines(
  dataset: ExportDataset,
  selection: ExportSelection,
  { line, source, more = [] }: RowLine & { more?: readonly string[] },
): string {
  if (isIncrement(selection)) {
    // Sorts keys instead of lines, so that the sort fits in memory. Transactions of exports set `enable_sort` to off, so the
    // planner would rather read the whole project in index order. `materialized` and `offset 0` prevent that.
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

/** Returns the conditions for the project's rows up to the watermark. All conditions use the index that has the export's order. */
export function ofProject(dataset: ExportDataset, selection: ExportSelection): string[] {
  return [
    isOfProject("r", selection),
    `r.${dataset.timeColumn} <= ${literal(selection.asOf)}`,
    ...sliceConditions(dataset, selection),
  ];
}

/** Returns the conditions for a row `r` of a full export. Counts, samples and copies share them. */
function conditionsOf(dataset: ExportDataset, selection: ExportSelection): string[] {
  const conditions = [...ofProject(dataset, selection), ...ownVisibility(dataset, selection)];
  for (const parent of dataset.parents) {
    // The foreign key guarantees that the parent exists, so the query looks up only hidden parents. PostgreSQL runs `not in` over
    // non-null keys as a hashed subplan beside the scan. It would run `not exists` as a join, which loses the index order, and
    // would sort all lines before sending the first. The hash must fit in `work_mem` (sql/connection/snapshot.ts), which has room
    // for about 13 million hidden parents in one project.
    conditions.push(`r.${PARENT_KEYS[parent]} not in (
      select p.id from ${tableOf(EXPORT_DATASETS[parent], selection)} as p
      where ${isOfProject("p", selection)} and (${hiddenParent(parent, selection, "p")}))`);
  }
  return [...conditions, ...filterConditions(dataset, selection)];
}

type ParentTable = ExportDataset["parents"][number];

/** Returns the condition that a parent, the row `alias`, is hidden. Its children are then not exported either. */
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

/** Returns a query for the time and id of an increment's rows, in no particular order. */
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

/** Returns the condition that an entry `c` of the change log has this dataset and kind. */
export function logged(increment: Increment, dataset: ExportDatasetName, kind: TrackerChangeKind): string {
  return `${isOfProject("c", increment)} and c.dataset = ${literal(dataset)} and c.kind = ${literal(kind)}`;
}

/** Returns queries for the id and time of logged changes to rows, and of changes to parents that can show or hide older rows. */
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
        -- a child may be older than its parent, because both times are transaction starts
        select p.id, p.created_at
        from ${tableOf(EXPORT_DATASETS[parent], increment)} as p
        where ${isOfProject("p", increment)} and ${isBetween("p.created_at", increment)}
      ) as p
      join ${tableOf(dataset, increment)} as r on ${isOfProject("r", increment)} and r.${PARENT_KEYS[parent]} = p.id
      where r.${dataset.timeColumn} <= ${literal(increment.since)}`,
  );
  return [own, ...parents];
}

/** Returns a FROM clause with one row `r` per changed row, joined with its parents. `k.at` is the time of the row's last change. */
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

/** Returns joins for the parents of rows `r`. The alias of each parent is its table name. */
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

/** Returns conditions that exclude rows that changed again after the cutoff. The next increment contains these rows. */
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

/**
 * Thrown for a row with a time that cannot be exported (sql/tracker/wrong_times.ts). The message says what to do, without a
 * final period.
 */
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

/** The row and its wrong time. `column` is the JSON name of the column. */
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
  // Prepared once per connection, because planning takes longer than execution. Shards have too many names to prepare a plan
  // for each.
  const options = { prepare: !selection.shards, simple: false };
  const query = sql.unsafe<[{ isChecked: boolean }]>(`select ${checks} as is_checked`, [], options);
  if (await onlyValue(query)) return;
  // Check constraints of the tables below a view may also rule out wrong times. PostgreSQL then reads no row.
  await sql`select set_config('constraint_exclusion', 'on', true)`;
  const queries = datasets.map((dataset) => `(${wrongTimeQuery(dataset, selection)})`);
  const [{ wrongTime }] = await sql.unsafe<[{ wrongTime: WrongTime | null }]>(
    `select coalesce(${queries.join(", ")}) as wrong_time`,
  );
  if (wrongTime) throw new WrongTimeError(wrongTime, selection.projectId);
  await sql`select set_config('constraint_exclusion', 'partition', true)`;
}

/** Returns a query for the first WrongTime found, as JSON. It reads no rows if validated check constraints rule out wrong times. */
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

/** Returns the name of the change log's table, or of its shard. */
export function changesTableOf({ shards }: ExportSelection): string {
  return shards?.["tracker_changes"] ?? "tracker_changes";
}

/** Returns an SQL text literal. The pool pins `standard_conforming_strings`, so only single quotes need doubling. */
export function literal(value: string): string {
  if (value.includes("\0")) throw new RangeError("Cannot write a literal: the text holds a NUL");
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns text literals, separated by commas. */
function literals(values: readonly string[]): string {
  return values.map(literal).join(", ");
}

/** Returns the condition that a row belongs to the project. The project id is the first column of keys and indexes. */
export function isOfProject(row: string, { projectId }: { projectId: string }): string {
  return `${row}.project_id = ${literal(projectId)}`;
}
