/**
 * Writes a ZIP while its entries are generated, in constant memory. No library is used, because the need for ZIP64 sizes is
 * known only at the end of an entry.
 */
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw } from "node:zlib";
import {
  dataDescriptor,
  directoryHeader,
  endRecords,
  localHeader,
  toZipTime,
  type ZipHeader,
  type ZipSizes,
} from "./zip_records.ts";

/** Level 2 reaches 85 % of level 6's ratio on exports in 75 % of its CPU time (measured on 265 MB of NDJSON). */
const LEVEL = 2;
const OUTPUT_CHUNK_BYTES = 128 * 1024;

export interface ZipEntry {
  /** The path in the archive, with `/` as separator. */
  name: string;
  content: AsyncIterable<Uint8Array>;
}

export function textEntry(name: string, text: string): ZipEntry {
  async function* content(): AsyncGenerator<Uint8Array, void, void> {
    yield new TextEncoder().encode(text);
  }
  return { name, content: content() };
}

/**
 * Yields the bytes of a ZIP of `entries`. Requests each entry after the previous entry is written, so that an entry can
 * describe earlier entries. All entries have the time `modifiedAt` (ISO 8601, in UTC), so that equal entries give equal
 * bytes.
 *
 * If an entry fails, rethrows the error and writes no central directory, so that no program opens the partial file. If the
 * consumer returns early, returns and awaits the current entry first, then `entries`, which may close the source of the
 * entry.
 */
export async function* streamZip(
  entries: AsyncGenerator<ZipEntry, void, void>,
  { modifiedAt }: { modifiedAt: string },
): AsyncGenerator<Uint8Array, void, void> {
  const time = toZipTime(modifiedAt);
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, content } of entries) {
    const entry = { name, modifiedAt: time, sizes: { crc32: 0, bytes: 0, compressedBytes: 0 } };
    const begin = offset;
    for await (const chunk of entryParts(entry, content)) {
      offset += chunk.length;
      yield chunk;
    }
    directory.push(directoryHeader(entry, begin));
  }
  const headers = Buffer.concat(directory);
  yield headers;
  yield endRecords({ entries: directory.length, bytes: headers.length, offset });
}

/** Yields the bytes of an entry, and sets its sizes. */
async function* entryParts(
  entry: ZipHeader,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  const { sizes } = entry;
  const chunks = content[Symbol.asyncIterator]();
  try {
    // If the content fails immediately, nothing has been yielded, and the caller can still report the error.
    const first = await chunks.next();
    yield localHeader(entry);
    for await (const chunk of deflate(measured(sizes, first, chunks))) {
      sizes.compressedBytes += chunk.length;
      yield chunk;
    }
    yield dataDescriptor(sizes);
  } finally {
    await chunks.return?.();
  }
}

/** Yields `first` and the remaining chunks, and adds their lengths and checksum to `sizes`. */
async function* measured(
  sizes: ZipSizes,
  first: IteratorResult<Uint8Array>,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  for (let next = first; !next.done; next = await chunks.next()) {
    sizes.crc32 = crc32(next.value, sizes.crc32);
    sizes.bytes += next.value.length;
    yield next.value;
  }
}

/** Compresses on another thread while the next chunk is read. */
async function* deflate(
  chunks: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  const stream = createDeflateRaw({ level: LEVEL, chunkSize: OUTPUT_CHUNK_BYTES });
  const writing = pipeline(chunks, stream);
  // The stream itself fails with the same error.
  writing.catch(() => {});
  try {
    yield* stream;
  } finally {
    stream.destroy();
    await writing.catch(() => {});
  }
}
