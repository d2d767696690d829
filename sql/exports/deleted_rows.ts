/** Reads the rows that left an export between two cutoffs (docs/increments.md), inside a snapshot. */
import { BYTE_ORDER_MARK } from "../../shared/exports/csv_syntax.ts";
import type { TextExportFormat } from "../../shared/vocabulary.ts";
import type { Sql } from "../connection/pool.ts";
import type { ExportSnapshot } from "../connection/snapshot.ts";
import { type CopyOptions, copyRows } from "./copy_rows.ts";
import { deletedCountQuery, deletedQuery, type Increment } from "./increment_query.ts";

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
