/** Streams the file of a dataset, and defines the export formats: the SQL of each value and the bytes of the file. */
import type { ExportColumn } from "../../shared/exports/column.ts";
import { BYTE_ORDER_MARK, escapeFormulaSql } from "../../shared/exports/csv_cell.ts";
import type { ExportDataset } from "../../shared/exports/datasets.ts";
import { escapeLineEndBytes } from "../../shared/json_lines.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import { onlyValue, type Sql } from "../connection/pool.ts";
import type { ExportLanes, ExportSnapshot } from "../connection/snapshot.ts";
import { isoText } from "../iso_text.ts";
import { type CopyOptions, type CopyPart, copyLanes, copyRows, type RowMeter } from "./copy_rows.ts";
import { encodeParquet } from "./parquet/encode_parquet.ts";
import { storedType } from "./parquet/page.ts";
import {
  allOf,
  type ExportSelection,
  literal,
  ofProject,
  type RowLine,
  selectLines,
  tableOf,
} from "./select_rows.ts";

type Chunks = AsyncGenerator<Uint8Array, void, void>;
type Columns = readonly ExportColumn[];

interface Format {
  title: string;
  /** Description of the format in the OpenAPI document. */
  description: string;
  contentType: string;
  /** Whether the bytes are compressed already. */
  isCompressed: boolean;
  /** Returns the SQL of a column's value. */
  sqlOf: (column: ExportColumn) => string;
  /** Returns the query parts for a row with the SELECT list `values`. */
  lineOf: (values: string) => RowLine;
  copy: (columns: Columns) => CopyOptions;
  /** Turns the rows that `copy` yields into the file. `copy` counts the rows if it gets a meter. */
  fileOf: (
    dataset: Pick<ExportDataset, "table" | "columns">,
    copy: (meter?: RowMeter) => Chunks,
    meter?: RowMeter,
  ) => Chunks;
}

/**
 * The export formats. If an export fails, the stream stops at any byte and the connection is closed early. Only Parquet's
 * footer marks the end of a complete file.
 */
export const FORMATS: Readonly<Record<ExportFormat, Format>> = {
  /** One JSON object per line, terminated by LF. A file without rows is empty. */
  ndjson: {
    title: "NDJSON",
    description: "One JSON object per line, which keeps every value",
    contentType: "application/x-ndjson; charset=utf-8",
    isCompressed: false,
    sqlOf: ({ column, type }) => (type === "timestamp" ? isoText(`r."${column}"`) : `r."${column}"`),
    // The JSON is built in a lateral subselect, so that parallel workers build it and the leader only merges the lines (1.5
    // times as fast on two cores).
    lineOf: (values) => ({
      line: "row_to_json(line)",
      source: `cross join lateral (select ${values}) as line`,
    }),
    // Writes the JSON column unchanged. The quote and the delimiter are control characters, which JSON text always escapes.
    // COPY's text format would double every backslash.
    copy: () => ({ options: `format csv, quote E'\\x01', delimiter E'\\x02'`, finish: escapeLineEndBytes }),
    fileOf: (_dataset, copy, meter) => copy(meter),
  },
  /** RFC 4180 with a byte order mark. A file without rows contains only the header. */
  csv: {
    title: "CSV",
    description: "RFC 4180 in UTF-8 with a byte order mark and a header; formulas are neutralized",
    contentType: "text/csv; charset=utf-8; header=present",
    isCompressed: false,
    sqlOf: csvValue,
    lineOf: (values) => ({ line: values, source: "" }),
    copy: (columns) => ({ options: `format csv${forceQuotes(columns)}`, isCrlf: true }),
    fileOf: ({ columns }, copy, meter) => prefix(csvHeader(columns), copy(meter)),
  },
  /** A file without rows contains only the schema. */
  parquet: {
    title: "Parquet",
    description: "Apache Parquet; JSON columns have the logical type JSON",
    contentType: "application/vnd.apache.parquet",
    isCompressed: true,
    // Casts the value, because a column of a tracker's view may have another type with a different binary format. JSON is
    // sent as text, because binary jsonb starts with a version number.
    sqlOf: (column) => {
      const value = `r."${column.column}"`;
      return column.type === "json" ? jsonText(value) : `${value}::${storedType(column).cast}`;
    },
    lineOf: (values) => ({ line: values, source: "" }),
    // A binary COPY sends more messages than rows, so `copy` cannot count rows by messages. The encoder counts the rows.
    copy: () => ({ options: "format binary" }),
    fileOf: (dataset, copy, meter) => encodeParquet(copy(), dataset, meter ? { meter } : {}),
  },
};

/**
 * Returns the SQL of a CSV value. Formulas in text columns are escaped, even in columns with a fixed list of words: a tracker's
 * view may return other words. The cast is for enum columns. JSON is not escaped, because JSON text that starts with a sign is a
 * number.
 */
function csvValue({ column, type }: ExportColumn): string {
  const value = `r."${column}"`;
  if (type === "timestamp") return isoText(value);
  if (type === "boolean") return `${value}::text`;
  if (type === "json") return jsonText(value);
  return type === "text" ? escapeFormulaSql(`${value}::text`) : value;
}

/** Turns a JSON null into an SQL null, because NDJSON cannot distinguish them. */
function jsonText(value: string): string {
  return `nullif(${value}::text, 'null')`;
}

/**
 * Quotes all text values. By default, COPY quotes only values with a comma, a quote or a line break, but spreadsheets also
 * split fields at semicolons and tabs. Null remains an empty field.
 */
function forceQuotes(columns: Columns): string {
  const texts = columns.filter(({ type }) => type === "text" || type === "json");
  return texts.length === 0 ? "" : `, force_quote (${texts.map(({ name }) => `"${name}"`).join(", ")})`;
}

/** Column names are camelCase identifiers and need no quotes. */
function csvHeader(columns: Columns): Uint8Array {
  return Buffer.from(`${BYTE_ORDER_MARK}${columns.map(({ name }) => name).join(",")}\r\n`);
}

/** Yields `head` together with the first chunk, so that nothing is sent before the first row is available. */
async function* prefix(head: Uint8Array, chunks: Chunks): Chunks {
  try {
    const first = await chunks.next();
    yield first.done ? head : Buffer.concat([head, first.value]);
    yield* chunks;
  } finally {
    await chunks.return();
  }
}

/** Returns the query parts for a row `r` with these columns. */
export function rowLine(columns: Columns, format: ExportFormat): RowLine {
  const { sqlOf, lineOf } = FORMATS[format];
  return lineOf(columns.map((column) => `${sqlOf(column)} as "${column.name}"`).join(", "));
}

/** Returns the query for the lines of a dataset's file, one per row. */
export function rowsQuery(dataset: ExportDataset, selection: ExportSelection, format: ExportFormat): string {
  return selectLines(dataset, selection, rowLine(dataset.columns, format));
}

export interface DatasetFileOptions {
  selection: ExportSelection;
  format: ExportFormat;
  /** Counts the rows as they arrive. */
  meter?: RowMeter;
  /** Opens a second connection for a large file, if one is free. The bytes of the file stay the same. */
  lanes?: ExportLanes;
}

/**
 * Streams a dataset's file, ordered by time column and id. A snapshot supports only one stream at a time. To stop a stream
 * early, call `return()` and await it before using the snapshot again.
 */
export function streamDatasetFile(
  snapshot: ExportSnapshot,
  dataset: ExportDataset,
  options: DatasetFileOptions,
): Chunks {
  const { format, meter } = options;
  const copy = (counted?: RowMeter) => copyDataset(snapshot, dataset, { ...options, counted });
  return FORMATS[format].fileOf(dataset, copy, meter);
}

async function* copyDataset(
  snapshot: ExportSnapshot,
  dataset: ExportDataset,
  { selection, format, lanes, counted }: DatasetFileOptions & { counted: RowMeter | undefined },
): Chunks {
  const options = { ...FORMATS[format].copy(dataset.columns), meter: counted };
  // Increments and datasets with parents have no ranges. With parents, every range would look up all hidden parents again.
  const isRanged = dataset.parents.length === 0 && !selection.since;
  const twin = isRanged ? ((await lanes?.openTwin(snapshot)) ?? null) : null;
  if (twin === null) {
    yield* copyRows(snapshot, rowsQuery(dataset, selection, format), options);
    return;
  }
  try {
    const ranges = new KeyRanges(dataset, selection);
    const nextPart = (sql: Sql) =>
      ranges.nextPart(sql, (range) => rangeQuery(dataset, selection, { format, range }));
    yield* copyLanes([snapshot, twin.opened], nextPart, options);
  } finally {
    await twin.close();
  }
}

/** Target size of a range. It is large enough that the start of a COPY, about 2 ms, costs little in comparison. */
const RANGE_BYTES = 4 * 2 ** 20;
/**
 * Rows in each of the first ranges. They are short, because the line length is still unknown and the reader waits for the
 * first lines.
 */
const FIRST_ROWS = 500;
/** Maximum number of rows in a range. It limits the duration of a range when few rows match the filters. */
const ROWS_MAX = 50_000;
/** Maximum factor by which the next range may be longer than the last. */
const GROWTH_MAX = 4;

/**
 * Minimum number of rows for a second connection. With at least this many rows, the connection saves a sixth to a quarter of the
 * time (issues of 1 KB, two cores). With 10,000 rows, it may save nothing. With fewer than 5,000 rows, opening it takes longer than
 * it saves.
 */
export const LANES_MIN_ROWS = 20_000;

/** The position of a row in the order of an export. */
export interface RowKey {
  /** Value of the time column, as PostgreSQL prints it. */
  time: string;
  id: string;
}

/** The rows after the key `after`, up to and including the key `upTo`. Null means the beginning or the end of the dataset. */
export interface KeyRange {
  after: RowKey | null;
  upTo: RowKey | null;
  /** Number of rows of the project in the range, before filters; an upper bound in the last range. */
  rows: number;
}

/**
 * Returns conditions that compare the whole key, which allows an index search, and also the time alone. If the query has another
 * bound on the time, a row comparison alone does not stop the index scan at the key. Every range would then read to the end of the
 * project.
 */
function compareKey(dataset: ExportDataset, operator: ">" | "<=", key: RowKey | null): string[] {
  if (key === null) return [];
  const [time, id] = [literal(key.time), literal(key.id)];
  return [
    `r.${dataset.timeColumn} ${operator === ">" ? ">=" : "<="} ${time}`,
    `(r.${dataset.timeColumn}, r.id) ${operator} (${time}, ${id})`,
  ];
}

/** Returns the query for the rows of `rowsQuery` that are in the range. */
export function rangeQuery(
  dataset: ExportDataset,
  selection: ExportSelection,
  { format, range }: { format: ExportFormat; range: KeyRange },
): string {
  const more = [...compareKey(dataset, ">", range.after), ...compareKey(dataset, "<=", range.upTo)];
  return selectLines(dataset, selection, { ...rowLine(dataset.columns, format), more });
}

/**
 * Returns a query for the key of the row that is `rows` rows after `after`. Rows that the export excludes also count. The query
 * returns no row if fewer rows follow. It reads only the index if the table is vacuumed.
 */
export function boundaryQuery(
  dataset: ExportDataset,
  selection: ExportSelection,
  { after, rows }: { after: RowKey | null; rows: number },
): string {
  return `select r.${dataset.timeColumn}::text as time, r.id
  from ${tableOf(dataset, selection)} as r
  where ${allOf([...ofProject(dataset, selection), ...compareKey(dataset, ">", after)])}
  order by r.${dataset.timeColumn}, r.id
  offset ${rows - 1}
  limit 1`;
}

/**
 * Splits a dataset into consecutive ranges of about the same size in bytes. The end of a range is read from the index during the
 * copy. This takes 0.5 ms for 4,000 rows. The position of the end cannot change the result, because each range has all conditions
 * of the whole query.
 */
export class KeyRanges {
  readonly #dataset: ExportDataset;
  readonly #selection: ExportSelection;
  readonly #bytes: number;
  #after: RowKey | null = null;
  #isOver = false;
  #rows: number;

  constructor(
    dataset: ExportDataset,
    selection: ExportSelection,
    { bytes = RANGE_BYTES, firstRows = FIRST_ROWS } = {},
  ) {
    this.#dataset = dataset;
    this.#selection = selection;
    this.#bytes = bytes;
    this.#rows = firstRows;
  }

  /** Returns the next range, or null after the last range, which has no end. Call it inside the snapshot, one call at a time. */
  async next(sql: Sql): Promise<KeyRange | null> {
    if (this.#isOver) return null;
    const start = { after: this.#after, rows: this.#rows };
    const [upTo = null] = await sql.unsafe<RowKey[]>(boundaryQuery(this.#dataset, this.#selection, start));
    this.#after = upTo;
    this.#isOver = upTo === null;
    return { ...start, upTo };
  }

  /** Returns the next range as a part of a copy. The size of the copied part adjusts the length of later ranges. */
  async nextPart(sql: Sql, queryOf: (range: KeyRange) => string): Promise<CopyPart | null> {
    const range = await this.next(sql);
    if (range === null) return null;
    return {
      query: queryOf(range),
      isLast: range.upTo === null,
      onCopied: (bytes) => this.#adapt(range, bytes),
    };
  }

  #adapt({ rows }: KeyRange, bytes: number): void {
    const wanted = Math.min((rows * this.#bytes) / bytes, rows * GROWTH_MAX, ROWS_MAX);
    this.#rows = Math.max(1, Math.floor(wanted));
  }
}

/** Rows in the sample for an estimate: enough for a good mean, few enough to be cheap. */
const SAMPLE_ROWS = 100;

/** Returns the mean length of a dataset's lines in bytes, from a sample of its oldest rows; 0 without rows. */
export async function sampleLineBytes(
  sql: Sql,
  dataset: ExportDataset,
  { selection, format }: { selection: ExportSelection; format: ExportFormat },
): Promise<number> {
  const query = sampleQuery(rowsQuery(dataset, selection, format), format);
  return onlyValue(sql.unsafe<[{ bytes: number }]>(query));
}

/**
 * Returns a query for the mean line length of the first rows of the query `rows`. For CSV and Parquet, the length of a row
 * cast to text is close enough.
 */
export function sampleQuery(rows: string, format: ExportFormat): string {
  const text = format === "ndjson" ? "row_to_json::text || E'\\n'" : "sampled::text";
  return `select coalesce(avg(octet_length(${text})), 0)::float8 as bytes
  from (${rows} limit ${SAMPLE_ROWS}) as sampled`;
}
