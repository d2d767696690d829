/** The parts of a CSV export that are not rows: RFC 4180, UTF-8 with a byte order mark, CRLF. */
import { BYTE_ORDER_MARK } from "../../shared/exports/csv_syntax.ts";
import type { ExportDataset } from "../../shared/exports/datasets.ts";

/** Byte order mark and header line. Column names are camelCase identifiers and need no quotes. */
export function csvHeader(dataset: ExportDataset): Uint8Array {
  const names = dataset.columns.map((column) => column.name);
  return new TextEncoder().encode(`${BYTE_ORDER_MARK}${names.join(",")}\r\n`);
}
