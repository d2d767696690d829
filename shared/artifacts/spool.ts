/**
 * Copies downloads from a bucket to local files. `Bun.serve` sends the length of files only: of a stream it drops
 * `Content-Length` (https://github.com/oven-sh/bun/issues/10507). So a download is fetched into a local file first and
 * sent from there. A failing bucket is noticed before the response begins, and a slow client holds disk space, but no
 * memory and no connection to the bucket.
 */
import { type FileHandle, mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

/** Pause between checks whether a file is sent. */
const CHECK_INTERVAL_MS = 1_000;

export interface SpoolOptions {
  /** The number of bytes to keep, from the start of the stream. */
  bytes: number;
  signal: AbortSignal;
  /** Returns true if the response is finished or aborted; then the file is closed, which frees its room on the disk. */
  isOver: () => boolean;
}

/**
 * Copies the stream of `open` to a file; null if there is no stream. Throws if the stream is too short, if `signal` is
 * aborted, and, before opening anything, if the disk has no room for all running copies.
 */
export type Spool = (
  options: SpoolOptions,
  open: () => Promise<ReadableStream<Uint8Array> | null>,
) => Promise<Blob | null>;

/** Spools into `directory`, which is created, private to its owner. */
export function openSpool(directory: string): Spool {
  /** Bytes that all running copies have still to write. */
  let expected = 0;
  return async (options, openStream) => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    let missing = options.bytes;
    expected += missing;
    try {
      await requireRoom(directory, expected);
      const stream = await openStream();
      if (!stream) return null;
      return await keep(stream, directory, options, (bytes) => {
        missing -= bytes;
        expected -= bytes;
      });
    } finally {
      expected -= missing;
    }
  };
}

async function requireRoom(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < bytes) throw new Error(`there is room for ${free} bytes of ${bytes} in "${directory}"`);
}

async function keep(
  stream: ReadableStream<Uint8Array>,
  directory: string,
  options: SpoolOptions,
  onBytes: (bytes: number) => void,
): Promise<Blob> {
  let reader: FileHandle | null = null;
  try {
    const file = await openNameless(directory);
    reader = file.reader;
    const written = await save(stream, file.writer, options, onBytes);
    if (written !== options.bytes) throw new Error(`there are ${written} bytes of ${options.bytes}`);
  } catch (error) {
    // Does nothing if the stream has ended.
    await stream.cancel().catch(() => {});
    await reader?.close();
    throw error;
  }
  const { fd } = reader;
  const look = setInterval(() => {
    if (!options.isOver()) return;
    clearInterval(look);
    void reader.close().catch(() => {});
  }, CHECK_INTERVAL_MS).unref();
  return Bun.file(fd);
}

/** Creates a file without a name: it lasts as long as its handles, so a process that is killed leaves nothing behind. */
async function openNameless(directory: string): Promise<{ writer: FileHandle; reader: FileHandle }> {
  const path = join(directory, crypto.randomUUID());
  const writer = await open(path, "wx", 0o600);
  try {
    // It has a position of its own, at the start.
    return { writer, reader: await open(path, "r") };
  } catch (error) {
    await writer.close();
    throw error;
  } finally {
    await rm(path);
  }
}

/** Writes one chunk at a time, so that only one waits for the disk. Returns the number of bytes; closes the file. */
async function save(
  stream: ReadableStream<Uint8Array>,
  file: FileHandle,
  { bytes, signal }: SpoolOptions,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let written = 0;
  try {
    // Leaving the loop cancels the stream. Some servers send more than the range they were asked for.
    for await (const chunk of stream) {
      signal.throwIfAborted();
      const wanted = chunk.subarray(0, bytes - written);
      await file.appendFile(wanted);
      written += wanted.length;
      onBytes(wanted.length);
      if (written === bytes) break;
    }
    return written;
  } finally {
    await file.close();
  }
}
