/** Turns the rows of a binary COPY into a Parquet file while they come. */
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { ExportDataset } from "../../../shared/exports/datasets.ts";
import { PageCompressor } from "./compressor.ts";
import { BUFFER_BYTES } from "./page.ts";
import { RowGroup, type RowGroupMetadata } from "./row_group.ts";
import { parquetSchema } from "./schema.ts";

/** A reader needs a whole group to begin with, and so do we: it stays below 64 MiB with a last row of 32 MiB. */
const ROW_GROUP_BYTES = 32 * 2 ** 20;
/** What is small is put together: pages of a short column are a few bytes. */
const CHUNK_BYTES = 256 * 1024;
const MAGIC = Buffer.from("PAR1");

export interface ParquetOptions {
  /** Counts the rows as they are encoded. */
  meter?: { rows: number };
  /** Bytes of values in a row group; for tests. */
  rowGroupBytes?: number;
}

/**
 * Yields the file of a dataset. `copied` are chunks of whole rows, in COPY's binary format with the columns in the
 * dataset's order; several copies may follow each other. The same rows give the same bytes, however they are cut into
 * chunks. Holds one row group, compressed but for the pages that are being filled. The footer is last, so a file that
 * breaks off is not Parquet.
 */
export async function* encodeParquet(
  copied: AsyncGenerator<Uint8Array, void, void>,
  dataset: ExportDataset,
  { meter, rowGroupBytes = ROW_GROUP_BYTES }: ParquetOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of encodeParts(copied, dataset, { meter, rowGroupBytes })) {
    parts.push(part);
    bytes += part.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(parts, bytes);
    parts = [];
    bytes = 0;
  }
  yield Buffer.concat(parts, bytes);
}

async function* encodeParts(
  copied: AsyncGenerator<Uint8Array, void, void>,
  dataset: ExportDataset,
  { meter, rowGroupBytes }: { meter: { rows: number } | undefined; rowGroupBytes: number },
): AsyncGenerator<Uint8Array, void, void> {
  const compressor = new PageCompressor(BUFFER_BYTES);
  const group = new RowGroup(dataset, compressor, rowGroupBytes);
  const groups: RowGroupMetadata[] = [];
  let offset = MAGIC.length;
  async function* finishGroup(): AsyncGenerator<Uint8Array, void, void> {
    const finished = yield* group.finish(offset);
    for (const { meta_data } of finished.columns) offset += Number(meta_data?.total_compressed_size);
    groups.push(finished);
  }
  yield MAGIC;
  for await (const chunk of copied) {
    for (let at = 0; at < chunk.length; ) {
      const before = group.rows;
      at = group.addRows(chunk, at);
      if (meter) meter.rows += group.rows - before;
      if (group.isFull) yield* finishGroup();
    }
    await compressor.waitForRoom();
  }
  if (group.rows > 0) yield* finishGroup();
  yield footer(dataset, groups);
}

function footer(dataset: ExportDataset, groups: RowGroupMetadata[]): Uint8Array {
  const writer = new ByteWriter();
  writeMetadata(writer, {
    version: 2,
    created_by: "ulr",
    schema: parquetSchema(dataset),
    num_rows: groups.reduce((sum, group) => sum + group.num_rows, 0n),
    row_groups: groups,
    metadata_length: 0,
  });
  writer.appendBytes(MAGIC);
  return writer.getBytes();
}
