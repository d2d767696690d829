/**
 * Writes a ZIP (ZIP64, which zip.js uses for entries of unknown size) while its entries are generated: constant memory,
 * and no central directory if an entry fails.
 */
import { crc32 } from "node:zlib";
import { configure, Uint8ArrayReader, ZipWriter } from "@zip.js/zip.js";
import { deflateWhole, NativeDeflateStream } from "./deflate_stream.ts";

/** `rw-r--r--` of a regular file. */
const REGULAR_FILE_MODE = 0o100_644;
/** The level at which zip.js uses the configured class, see deflate_stream.ts. */
const NATIVE_LEVEL = 6;
/**
 * zip.js limits concurrent entries per process, by default to the number of processors: two stalled clients would stop
 * all archives. The stream slots are the limit.
 */
const MAX_ARCHIVES = 100_000;
/** Up to this size an entry is compressed in one piece: the streams of zip.js cost more than its compression. */
const SMALL_BYTES = 128 * 1024;
/** The ZIP format's number for deflate. */
const DEFLATE_METHOD = 8;
/** The range of times in a ZIP entry. */
const FIRST_DOS_TIME = Date.UTC(1980, 0, 1);
const LAST_DOS_TIME = Date.UTC(2107, 11, 31, 23, 59, 58);

export interface ZipEntry {
  /** Path in the archive, with `/`. */
  name: string;
  content: AsyncIterable<Uint8Array>;
}

/** Returns an entry for a text. */
export function textEntry(name: string, text: string): ZipEntry {
  async function* content(): AsyncGenerator<Uint8Array, void, void> {
    yield new TextEncoder().encode(text);
  }
  return { name, content: content() };
}

/**
 * Yields the bytes of a ZIP of `entries`. Takes each entry after the previous one is written, so that an entry can
 * describe earlier ones. All have the time `modifiedAt` (ISO 8601, in UTC), so that equal entries give equal bytes.
 *
 * If an entry fails, passes on the error and writes no central directory, so that no program opens the partial file. If
 * the consumer returns early or zip.js fails, the current entry is returned and awaited first, then `entries`, which
 * may close the source of the entry.
 */
export async function* streamZip(
  entries: AsyncGenerator<ZipEntry, void, void>,
  { modifiedAt }: { modifiedAt: string },
): AsyncGenerator<Uint8Array, void, void> {
  configure({ useWebWorkers: false, CompressionStream: NativeDeflateStream, maxWorkers: MAX_ARCHIVES });
  const { pipe, fail } = openPipe();
  const writer = new ZipWriter(pipe.writable, entryOptions(modifiedAt));
  const writing = writeEntries(writer, entries);
  // After a failed entry zip.js would still write a directory, so the pipe fails before anything can close it.
  writing.catch(fail);
  const reader = pipe.readable.getReader();
  let isDone = false;
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
    await writing;
    isDone = true;
  } finally {
    if (!isDone) {
      await reader.cancel().catch(() => {});
      await writing.catch(() => {});
    }
  }
}

async function writeEntries(
  writer: ZipWriter<unknown>,
  entries: AsyncGenerator<ZipEntry, void, void>,
): Promise<void> {
  for await (const { name, content } of entries) {
    const chunks = content[Symbol.asyncIterator]();
    try {
      const { head, isWhole } = await readHead(chunks);
      if (isWhole) await addSmall(writer, name, Buffer.concat(head));
      else await writer.add(name, toReadable(head, chunks));
    } finally {
      // zip.js does not always cancel the entry it was reading when its reader is gone.
      await chunks.return?.();
    }
  }
  await writer.close();
}

/** Reads the chunks of an entry until they are more than SMALL_BYTES, or to its end. */
async function readHead(
  chunks: AsyncIterator<Uint8Array>,
): Promise<{ head: Uint8Array[]; isWhole: boolean }> {
  const head: Uint8Array[] = [];
  for (let bytes = 0; bytes <= SMALL_BYTES; ) {
    const next = await chunks.next();
    if (next.done) return { head, isWhole: true };
    head.push(next.value);
    bytes += next.value.length;
  }
  return { head, isWhole: false };
}

async function addSmall(
  writer: ZipWriter<unknown>,
  name: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<void> {
  if (content.length === 0) {
    // Stored, for which zip.js opens no stream.
    await writer.add(name, undefined, { level: 0 });
    return;
  }
  await writer.add(name, new Uint8ArrayReader(deflateWhole(content)), {
    passThrough: true,
    compressionMethod: DEFLATE_METHOD,
    uncompressedSize: content.length,
    signature: crc32(content),
  });
}

/** A pipe of one chunk that can be made to fail while zip.js has its writing end locked. */
function openPipe(): { pipe: TransformStream<Uint8Array, Uint8Array>; fail: (error: unknown) => void } {
  let fail: (error: unknown) => void = () => {};
  const pipe = new TransformStream<Uint8Array, Uint8Array>(
    {
      start(controller) {
        fail = (error) => controller.error(error);
      },
    },
    { highWaterMark: 1 },
    { highWaterMark: 1 },
  );
  return { pipe, fail: (error) => fail(error) };
}

function entryOptions(modifiedAt: string) {
  const time = Math.min(Math.max(Date.parse(modifiedAt), FIRST_DOS_TIME), LAST_DOS_TIME);
  const date = new Date(time);
  return {
    // Parquet too, although it is compressed already: programs that read a ZIP as a stream, such as Java's
    // ZipInputStream, cannot open a stored entry whose size follows it.
    level: NATIVE_LEVEL,
    unixMode: REGULAR_FILE_MODE,
    lastModDate: date,
    // Without it the entry's clock would show the time zone of this machine.
    rawLastModDate: toDosTime(date),
  };
}

/** The 32-bit date and time of the ZIP format, in UTC, to two seconds. */
function toDosTime(date: Date): number {
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}

/** A stream of `head`, then of what the iterator has: it is asked for one chunk at a time and none ahead. */
function toReadable(
  head: readonly Uint8Array[],
  chunks: AsyncIterator<Uint8Array>,
): ReadableStream<Uint8Array> {
  const begun = [...head];
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = begun.shift();
        if (chunk) return controller.enqueue(chunk);
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
