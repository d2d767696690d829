/** Reads Parquet exports with DuckDB, into values comparable to those of an NDJSON export. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { ExportColumn } from "../../../shared/exports/column.ts";
import { EXPORT_DATASETS, type ExportDatasetName } from "../../../shared/exports/datasets.ts";

export type ExportedRow = Record<string, unknown>;

export interface ParquetFile {
  rows: ExportedRow[];
  /** The DuckDB type of each column. */
  types: Record<string, string>;
  /** The number of rows and uncompressed bytes of each row group. */
  groups: { rows: number; bytes: number }[];
}

/** Parses JSON and keeps numbers as source text, because JavaScript would round them. */
function parseJson(text: string): unknown {
  // TypeScript's type of a reviver lacks the third argument.
  const keepNumbers = (_key: string, value: unknown, context?: { source: string }): unknown =>
    typeof value === "number" ? context?.source : value;
  return JSON.parse(text, keepNumbers);
}

function jsonNumbers(dataset: ExportDatasetName): ReadonlySet<string> {
  return new Set(
    EXPORT_DATASETS[dataset].columns.filter(({ type }) => type === "number").map(({ name }) => name),
  );
}

/** Reads an NDJSON export. Integers, and numbers in JSON columns, are returned as text. */
export function readNdjson(text: string, dataset: ExportDatasetName): ExportedRow[] {
  const numbers = jsonNumbers(dataset);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => {
    const row = parseJson(line) as ExportedRow;
    for (const name of numbers) if (row[name] !== null) row[name] = Number(row[name]);
    return row;
  });
}

/** Reads a Parquet export into the same values as `readNdjson`. Throws DuckDB's error for an invalid file. */
export async function readParquet(bytes: Uint8Array, dataset: ExportDatasetName): Promise<ParquetFile> {
  const { columns } = EXPORT_DATASETS[dataset];
  const directory = await mkdtemp(join(tmpdir(), "ulr-parquet-"));
  const path = join(directory, "file.parquet");
  await writeFile(path, bytes);
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const query = async (sql: string): Promise<ExportedRow[]> =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as ExportedRow[];
  try {
    const described = await query(`describe select * from '${path}'`);
    const rows = await query(`select ${columns.map(selected).join(", ")} from '${path}'`);
    const groups = await query(
      `select any_value(row_group_num_rows) as rows, sum(total_uncompressed_size) as bytes
       from parquet_metadata('${path}') group by row_group_id order by row_group_id`,
    );
    return {
      rows: rows.map((row) =>
        Object.fromEntries(columns.map((column) => [column.name, toValue(column, row)])),
      ),
      types: Object.fromEntries(described.map((row) => [row["column_name"], row["column_type"]])),
      groups: groups.map(({ rows, bytes }) => ({ rows: Number(rows), bytes: Number(bytes) })),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(directory, { recursive: true, force: true });
  }
}

function selected({ name, type }: ExportColumn): string {
  const value = `"${name}"`;
  if (type === "timestamp") return `epoch_ms(${value}) as ${value}`;
  // DuckDB's JavaScript binding drops a byte order mark when it decodes text.
  if (type === "text" || type === "json") return `to_base64(encode(${value}::varchar)) as ${value}`;
  return value;
}

function toValue({ name, type }: ExportColumn, row: ExportedRow): unknown {
  const value = row[name];
  if (value === null) return null;
  if (type === "timestamp") return new Date(Number(value)).toISOString();
  if (type === "text") return Buffer.from(String(value), "base64").toString();
  if (type === "json") return parseJson(Buffer.from(String(value), "base64").toString());
  if (type === "integer") return String(value);
  return value;
}
