/** Encodes the rows of a binary COPY as a stream of Parquet: row groups, which contain column chunks, which contain pages. */
import { ByteWriter } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { ExportColumn } from "../../../shared/exports/column.ts";
import type { ExportDataset } from "../../../shared/exports/datasets.ts";
import { gatherChunks } from "../../../shared/exports/gather_chunks.ts";
import { collectGarbage } from "../copy_rows.ts";
import { type FileMetadata, Page, readInt32, storedType } from "./page.ts";

/**
 * Size at which a row group is complete, before compression. Readers and this encoder need a whole group in memory. A group
 * stays below 64 MiB even with a last row of 32 MiB.
 */
const ROW_GROUP_BYTES = 32 * 2 ** 20;
const MAGIC = Buffer.from("PAR1");
/** Maximum number of pages that other threads compress at a time. More pages would only pile up. */
const MAX_COMPRESSING = 16;
/** Compression at a higher level takes longer than PostgreSQL takes to send the rows. */
const ZSTD_LEVEL = 1;

export type ParquetTable = Pick<ExportDataset, "table" | "columns">;

export interface ParquetOptions {
  /** Counts the rows as they are encoded. */
  meter?: { rows: number };
  /** Size of a row group in bytes before compression, for tests. */
  rowGroupBytes?: number;
}

/**
 * Yields the Parquet file of a dataset. `copied` yields chunks of whole rows in COPY's binary format, with columns in the
 * dataset's order. It may be the output of several COPYs. The same rows produce the same bytes, whatever the chunk
 * boundaries. The encoder keeps one row group in memory, compressed except for the pages that are being filled. The footer is
 * last, so a truncated file is not valid Parquet.
 */
export function encodeParquet(
  copied: AsyncGenerator<Uint8Array, void, void>,
  dataset: ParquetTable,
  options: ParquetOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  // Gathers small chunks, because a page of a narrow column has only a few bytes.
  return gatherChunks(encodeParts(copied, dataset, options));
}

async function* encodeParts(
  copied: AsyncGenerator<Uint8Array, void, void>,
  dataset: ParquetTable,
  { meter, rowGroupBytes = ROW_GROUP_BYTES }: ParquetOptions,
): AsyncGenerator<Uint8Array, void, void> {
  /** Pages that may still be compressing, oldest first. */
  const filled: Promise<WrittenPage>[] = [];
  const group = new RowGroup(dataset, filled, rowGroupBytes);
  const groups: RowGroupMetadata[] = [];
  let offset = MAGIC.length;
  async function* finishGroup(): AsyncGenerator<Uint8Array, void, void> {
    const finished = yield* group.finish(offset);
    for (const { meta_data } of finished.columns) offset += Number(meta_data?.total_compressed_size);
    groups.push(finished);
  }
  yield MAGIC;
  for await (const chunk of copied) {
    const source = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < source.length; ) {
      const before = group.rows;
      at = group.addRows(source, at);
      if (meter) meter.rows += group.rows - before;
      if (group.isFull) yield* finishGroup();
    }
    while (filled.length > MAX_COMPRESSING) await filled.shift();
  }
  if (group.rows > 0) yield* finishGroup();
  yield footer(dataset, groups);
}

function footer(dataset: ParquetTable, groups: RowGroupMetadata[]): Uint8Array {
  const writer = new ByteWriter();
  writeMetadata(writer, {
    version: 2,
    created_by: "ulr",
    schema: schemaOf(dataset),
    num_rows: groups.reduce((sum, group) => sum + group.num_rows, 0n),
    row_groups: groups,
    metadata_length: 0,
  });
  writer.appendBytes(MAGIC);
  return writer.getBytes();
}

/**
 * Returns the schema: the root and its columns. All columns are optional, because a tracker's view may return null where the
 * table cannot.
 */
function schemaOf({ table, columns }: ParquetTable): FileMetadata["schema"] {
  return [
    { name: table, num_children: columns.length },
    ...columns.map((column) => ({
      name: column.name,
      repetition_type: "OPTIONAL" as const,
      ...storedType(column).element,
    })),
  ];
}

type RowGroupMetadata = FileMetadata["row_groups"][number];

/** "PGCO", the start of the signature `PGCOPY\n\xff\r\n\0`. A row starts with its number of columns instead. */
const SIGNATURE = 0x5047_434f;
/** Size of the signature and the flags, which precede the length of the header extension. */
const HEADER_BYTES = 15;
const TRAILER = -1;

class RowGroup {
  readonly #columns: readonly ColumnChunk[];
  readonly #maxBytes: number;
  rows = 0;
  #bytes = 0;

  /** `maxBytes` is the size of the values before compression. The row that reaches it is the last row of the group. */
  constructor(dataset: ParquetTable, filled: Promise<WrittenPage>[], maxBytes: number) {
    this.#columns = dataset.columns.map((column) => new ColumnChunk(column, filled));
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Adds whole rows until the group is full. Returns the offset of the next row. */
  addRows(source: Buffer, start: number): number {
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

  /** Yields the group, which starts at `offset` in the file, and starts the next group. Returns the group's metadata. */
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

  #addRow(source: Buffer, start: number): number {
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

/** The length field of a null in COPY's binary format. */
const NULL_LENGTH = -1;

type ChunkMetadata = FileMetadata["row_groups"][number]["columns"][number];

/** A page as written to the file: the header, then the content. */
interface WrittenPage {
  header: Uint8Array;
  content: Uint8Array;
  uncompressedBytes: number;
}

class ColumnChunk {
  readonly #name: string;
  readonly #stored: ReturnType<typeof storedType>;
  readonly #filled: Promise<WrittenPage>[];
  readonly #page = new Page();
  #pages: Promise<WrittenPage>[] = [];
  #rows = 0;
  #nulls = 0;

  constructor(column: ExportColumn, filled: Promise<WrittenPage>[]) {
    this.#name = column.name;
    this.#stored = storedType(column);
    this.#filled = filled;
  }

  /** Adds a value in COPY's binary format; length -1 means null. Returns the value's size in the page, in bytes. */
  add(source: Buffer, at: number, length: number): number {
    const page = this.#page;
    const before = page.end;
    if (length === NULL_LENGTH) page.addNull();
    else this.#stored.write(page, source, at, length);
    const bytes = page.end - before;
    if (page.isFull) this.#endPage();
    return bytes;
  }

  /**
   * Yields the pages of the column chunk, which starts at `offset` in the file, and starts the next chunk. Returns the
   * chunk's metadata.
   */
  async *finish(offset: number): AsyncGenerator<Uint8Array, ChunkMetadata, void> {
    if (this.#page.rows > 0) this.#endPage();
    const pages = this.#pages;
    const [rows, nulls] = [this.#rows, this.#nulls];
    this.#pages = [];
    this.#rows = 0;
    this.#nulls = 0;
    let compressedBytes = 0;
    let uncompressedBytes = 0;
    for (const pending of pages) {
      const page = await pending;
      compressedBytes += page.header.length + page.content.length;
      uncompressedBytes += page.header.length + page.uncompressedBytes;
      yield page.header;
      yield page.content;
    }
    return {
      file_offset: 0n,
      meta_data: {
        type: this.#stored.element.type,
        encodings: ["PLAIN", "RLE"],
        path_in_schema: [this.#name],
        codec: "ZSTD",
        num_values: BigInt(rows),
        total_uncompressed_size: BigInt(uncompressedBytes),
        total_compressed_size: BigInt(compressedBytes),
        data_page_offset: BigInt(offset),
        statistics: { null_count: BigInt(nulls) },
      },
    };
  }

  #endPage(): void {
    const page = this.#page;
    const written = writePage(page);
    // Avoids an unhandled rejection, because nothing awaits the page if the copy fails.
    written.catch(() => {});
    this.#pages.push(written);
    this.#filled.push(written);
    this.#rows += page.rows;
    this.#nulls += page.nulls;
    page.reset();
  }
}

async function writePage(page: Page): Promise<WrittenPage> {
  const { bytes, end, rows } = page;
  const start = page.writeLevels();
  const content = await Bun.zstdCompress(bytes.subarray(start, end), { level: ZSTD_LEVEL });
  collectGarbage(bytes.length);
  const header = new ByteWriter(64);
  writePageHeader(header, {
    type: "DATA_PAGE",
    uncompressed_page_size: end - start,
    compressed_page_size: content.length,
    data_page_header: {
      num_values: rows,
      encoding: "PLAIN",
      definition_level_encoding: "RLE",
      repetition_level_encoding: "RLE",
    },
  });
  return { header: header.getBytes(), content, uncompressedBytes: end - start };
}
