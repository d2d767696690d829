/** Counts, estimates and streams the rows of an export inside a snapshot. */
import { BYTE_ORDER_MARK } from "../../shared/exports/csv_cell.ts";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
} from "../../shared/exports/datasets.ts";
import type { ExportSelection } from "../../shared/exports/selection.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import type { ExportLanes, ExportSnapshot } from "../connection/snapshot.ts";
import { hasTimeChecks } from "../tracker/tracker_times.ts";
import { copyLanes, KeyRanges } from "./copy_lanes.ts";
import { type CopyOptions, copyRows } from "./copy_rows.ts";
import { changedConditions, changedCountQuery, changedRowsQuery, type Increment } from "./increment_query.ts";
import { encodeParquet } from "./parquet/encode_parquet.ts";
import {
  countQuery,
  type KeyRange,
  quotedColumns,
  rangeQuery,
  rowsQuery,
  sampleQuery,
  tableOf,
  wrongTimeQuery,
} from "./query.ts";

/** Rows in the sample of an estimate: enough for a good mean, few enough to be cheap. */
const SAMPLE_ROWS = 100;

export type RowCounts = Record<ExportDatasetName, number>;

/** A row with a time that cannot be written (sql/tracker/tracker_times.ts). */
export interface WrongTime {
  dataset: ExportDatasetName;
  /** Name in JSON. */
  column: string;
  id: string;
  time: string;
}

/** Thrown for a row with such a time. The message names the row and says what to do, without a final period. */
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
  const [row] = await sql.unsafe<[{ count: number }]>(countOf(dataset, selection, limit));
  return row.count;
}

/** Limits the time of later statements of the transaction (SQLSTATE 57014 when exceeded); 0 means no limit. */
export async function limitStatements(sql: Sql, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
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
    (name) => `(${countOf(EXPORT_DATASETS[name], selection, limit)}) as "${name}"`,
  );
  await requireRightTimes(sql, selection);
  const [row] = await sql.unsafe<[RowCounts]>(`select ${counts.join(",\n")}`);
  return row;
}

/** Whether validated checks of the tables rule out times that cannot be exported. */
export async function areTimesChecked(
  sql: Sql,
  source: Pick<ExportSelection, "trackerSchema" | "shards">,
  datasets = Object.values(EXPORT_DATASETS),
): Promise<boolean> {
  const checks = hasTimeChecks(datasets, (dataset) => tableOf(dataset, source));
  const [{ isChecked }] = await sql.unsafe<[{ isChecked: boolean }]>(`select ${checks} as is_checked`);
  return isChecked;
}

/** Throws WrongTimeError if a row of the datasets has a time that cannot be exported. Call inside a transaction. */
export async function requireRightTimes(
  sql: Sql,
  selection: ExportSelection,
  datasets = Object.values(EXPORT_DATASETS),
): Promise<void> {
  if (await areTimesChecked(sql, selection, datasets)) return;
  // The checks of the tables below a view may also rule out such times. Then PostgreSQL reads no row.
  await sql`select set_config('constraint_exclusion', 'on', true)`;
  const queries = datasets.map((dataset) => `(${wrongTimeOf(dataset, selection)})`);
  const [{ wrongTime }] = await sql.unsafe<[{ wrongTime: WrongTime | null }]>(
    `select coalesce(${queries.join(", ")}) as wrong_time`,
  );
  if (wrongTime) throw new WrongTimeError(wrongTime, selection.projectId);
  await sql`select set_config('constraint_exclusion', 'partition', true)`;
}

/**
 * Returns, by project, the datasets whose tables have rows of the project, visible or not. Costs eight index probes per
 * project, 0.05 ms.
 */
export async function findPopulatedDatasets(
  sql: Sql,
  {
    projectIds,
    ...source
  }: Pick<ExportSelection, "trackerSchema" | "shards"> & { projectIds: readonly string[] },
): Promise<Map<string, ReadonlySet<ExportDatasetName>>> {
  const probes = EXPORT_DATASET_NAMES.map((name) => {
    const table = tableOf(EXPORT_DATASETS[name], source);
    return `case when exists (select from ${table} as r where r.project_id = p.id) then '${name}' end`;
  });
  const rows = await sql.unsafe<{ id: string; datasets: ExportDatasetName[] }[]>(
    `select p.id, array_remove(array[${probes.join(",\n")}], null) as datasets
    from unnest($1::uuid[]) as p (id)`,
    [[...projectIds]],
  );
  return new Map(rows.map(({ id, datasets }) => [id, new Set(datasets)]));
}

/**
 * Lets later copies of the transaction use two parallel workers. Formatting the lines takes most of the time and can run in
 * parallel, but PostgreSQL's default costs prevent it, and it does not consider small tables. Count rows before this call:
 * counting gains nothing from workers. Call inside a transaction.
 */
export async function preferParallelCopies(sql: Sql): Promise<void> {
  await sql`
    select
      set_config('max_parallel_workers_per_gather', '2', true),
      set_config('parallel_setup_cost', '0', true),
      set_config('parallel_tuple_cost', '0', true)`;
}

/** Returns the mean length of a dataset's lines in bytes, from a sample of its oldest rows; 0 if it has none. */
export async function sampleLineBytes(
  sql: Sql,
  dataset: ExportDataset,
  options: { selection: ExportSelection; format: ExportFormat },
): Promise<number> {
  const { selection, format } = options;
  const query = sampleQuery(rowsOf(dataset, selection, format), SAMPLE_ROWS);
  const [row] = await sql.unsafe<[{ bytes: number }]>(query);
  return row.bytes;
}

export interface DatasetFileOptions extends CopyOptions {
  selection: ExportSelection;
  /** Set if the dataset is known to have no rows; then nothing is read. */
  isEmpty?: boolean;
  /** Opens a second connection for a large file, if one is free. The bytes stay the same. */
  lanes?: ExportLanes;
}

/**
 * Streams a dataset's file, ordered by time column and id. Run one at a time on a snapshot. To end a stream early, call
 * `return()` and await it before the snapshot is used again.
 */
export async function* streamDatasetFile(
  snapshot: ExportSnapshot,
  dataset: ExportDataset,
  options: DatasetFileOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const { meter, ...rest } = options;
  if (options.format === "parquet") {
    // In this format COPY sends more messages than rows, so the encoder counts the rows.
    yield* encodeParquet(copyDataset(snapshot, dataset, rest), dataset, meter ? { meter } : {});
    return;
  }
  if (options.format === "csv") {
    const quoted = quotedColumns(dataset);
    yield* prefix(csvHeader(dataset), copyDataset(snapshot, dataset, { ...options, quoted }));
  } else {
    yield* copyDataset(snapshot, dataset, options);
  }
}

/** Yields `head` together with the first chunk, so that nothing is sent before the first row is available. */
async function* prefix(
  head: Uint8Array,
  chunks: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    const first = await chunks.next();
    yield first.done ? head : Buffer.concat([head, first.value]);
    yield* chunks;
  } finally {
    await chunks.return();
  }
}

async function* copyDataset(
  snapshot: ExportSnapshot,
  dataset: ExportDataset,
  options: DatasetFileOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const { selection, format, lanes, isEmpty } = options;
  if (isEmpty) return;
  // A dataset with parents would look up all hidden parents again for every range. Increments have no ranges.
  const isRanged = dataset.parents.length === 0 && !selection.since;
  const twin = isRanged ? ((await lanes?.openTwin(snapshot)) ?? null) : null;
  if (twin === null) {
    yield* copyRows(snapshot, rowsOf(dataset, selection, format), options);
    return;
  }
  try {
    const ranges = new KeyRanges(dataset, selection);
    const queryOf = (range: KeyRange) => rangeQuery(dataset, selection, { format, range });
    yield* copyLanes([snapshot, twin.opened], { ranges, queryOf }, options);
  } finally {
    await twin.close();
  }
}

/** Byte order mark and header line. Column names are camelCase identifiers and need no quotes. */
function csvHeader(dataset: ExportDataset): Uint8Array {
  const names = dataset.columns.map((column) => column.name);
  return new TextEncoder().encode(`${BYTE_ORDER_MARK}${names.join(",")}\r\n`);
}

/** Null for a full export. */
function incrementOf(selection: ExportSelection): Increment | null {
  return selection.since ? { ...selection, since: selection.since } : null;
}

function countOf(dataset: ExportDataset, selection: ExportSelection, limit: number): string {
  const increment = incrementOf(selection);
  return increment ? changedCountQuery(dataset, increment, limit) : countQuery(dataset, selection, limit);
}

function rowsOf(dataset: ExportDataset, selection: ExportSelection, format: ExportFormat): string {
  const increment = incrementOf(selection);
  return increment ? changedRowsQuery(dataset, increment, format) : rowsQuery(dataset, selection, format);
}

function wrongTimeOf(dataset: ExportDataset, selection: ExportSelection): string {
  const increment = incrementOf(selection);
  return wrongTimeQuery(dataset, selection, ...(increment ? [changedConditions(dataset, increment)] : []));
}
