/** Fills row groups of a Parquet file from the rows of a binary COPY. */
import type { ExportDataset } from "../../../shared/exports/datasets.ts";
import { type ChunkMetadata, ColumnChunk } from "./column_chunk.ts";
import type { PageCompressor } from "./compressor.ts";
import type { FileMetadata } from "./schema.ts";
import { readInt32 } from "./write_value.ts";

export type RowGroupMetadata = FileMetadata["row_groups"][number];

/** "PGCO" of the signature `PGCOPY\n\xff\r\n\0`; a row begins with the number of its columns. */
const SIGNATURE = 0x5047_434f;
/** The signature and the flags, before the length of the header's extension. */
const HEADER_BYTES = 15;
const TRAILER = -1;

export class RowGroup {
  readonly #columns: readonly ColumnChunk[];
  readonly #maxBytes: number;
  rows = 0;
  #bytes = 0;

  /** `maxBytes` is of values before compression; the row that reaches it is the last. */
  constructor(dataset: ExportDataset, compressor: PageCompressor, maxBytes: number) {
    this.#columns = dataset.columns.map((column) => new ColumnChunk(column, compressor));
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Adds whole rows until the group is full. Returns where the next row starts. */
  addRows(source: Uint8Array, start: number): number {
    let at = start;
    while (at < source.length && !this.isFull) {
      if (readInt32(source, at) === SIGNATURE) {
        at += HEADER_BYTES + 4 + readInt32(source, at + HEADER_BYTES);
      } else if (readInt32(source, at) >> 16 === TRAILER) {
        at += 2;
      } else {
        at = this.#addRow(source, at + 2);
      }
    }
    return at;
  }

  /** Yields the group, which starts at `offset` of the file, and begins the next one. Returns what the metadata say. */
  async *finish(offset: number): AsyncGenerator<Uint8Array, RowGroupMetadata, void> {
    const columns: ChunkMetadata[] = [];
    const rows = this.rows;
    this.rows = 0;
    this.#bytes = 0;
    let at = offset;
    let uncompressedBytes = 0n;
    for (const column of this.#columns) {
      const chunk = yield* column.finish(at);
      at += Number(chunk.meta_data?.total_compressed_size);
      uncompressedBytes += chunk.meta_data?.total_uncompressed_size ?? 0n;
      columns.push(chunk);
    }
    return { columns, total_byte_size: uncompressedBytes, num_rows: BigInt(rows) };
  }

  #addRow(source: Uint8Array, start: number): number {
    let at = start;
    for (const column of this.#columns) {
      const length = readInt32(source, at);
      this.#bytes += column.add(source, at + 4, length);
      at += 4 + Math.max(0, length);
    }
    this.rows += 1;
    return at;
  }
}
