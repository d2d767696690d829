/** The pages of one column in one row group. */
import { ByteWriter } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import type { ExportColumn } from "../../../shared/exports/column.ts";
import type { PageCompressor } from "./compressor.ts";
import { Page } from "./page.ts";
import { type FileMetadata, type PhysicalType, parquetType } from "./schema.ts";
import { type WriteValue, writerOf } from "./write_value.ts";

/** COPY's length of a null. */
const NULL_LENGTH = -1;

export type ChunkMetadata = FileMetadata["row_groups"][number]["columns"][number];

/** What a page is in the file: its header and its content, in the order in which they are written. */
interface WrittenPage {
  header: Uint8Array;
  content: Uint8Array;
  uncompressedBytes: number;
}

export class ColumnChunk {
  readonly #name: string;
  readonly #type: PhysicalType;
  readonly #writeValue: WriteValue;
  readonly #compressor: PageCompressor;
  readonly #page: Page;
  #pages: Promise<WrittenPage>[] = [];
  #rows = 0;
  #nulls = 0;

  constructor(column: ExportColumn, compressor: PageCompressor) {
    this.#name = column.name;
    this.#type = parquetType(column).type;
    this.#writeValue = writerOf(column);
    this.#compressor = compressor;
    this.#page = new Page(compressor);
  }

  /** Adds a value of COPY's binary format, null when its length is -1. Returns the bytes that it takes in the page. */
  add(source: Uint8Array, at: number, length: number): number {
    const page = this.#page;
    const before = page.end;
    if (length === NULL_LENGTH) page.addNull();
    else this.#writeValue(page, source, at, length);
    const bytes = page.end - before;
    if (page.isFull) this.#endPage();
    return bytes;
  }

  /**
   * Yields the pages that it has, and starts a new chunk. `offset` is where in the file it starts. Returns what the file's
   * metadata say about it.
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
        type: this.#type,
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
    const written = writePage(this.#compressor, page);
    // It is awaited with the row group, which may be never.
    written.catch(() => {});
    this.#pages.push(written);
    this.#rows += page.rows;
    this.#nulls += page.nulls;
    page.reset();
  }
}

async function writePage(compressor: PageCompressor, page: Page): Promise<WrittenPage> {
  const { bytes, end, rows } = page;
  const start = page.writeLevels();
  const content = await compressor.compress(bytes, start, end);
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
