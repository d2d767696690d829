/**
 * Files on their way from a bucket to a client. `Bun.serve` announces the length of files only: of a stream it drops
 * `Content-Length` (https://github.com/oven-sh/bun/issues/10507). So a download from a bucket is fetched into a local
 * file first and sent from there. What the bucket does not deliver is known before the response has begun, and a client
 * who takes hours holds some disk, and neither memory nor a connection to the bucket.
 */
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { createPartDirectory, partPathOf } from "../process/part_files.ts";

/** How often it is asked whether a file was sent. */
const CHECK_INTERVAL_MS = 1_000;

export interface SpoolOptions {
  /** How many bytes of the stream to keep, from its first on. */
  bytes: number;
  signal: AbortSignal;
  /** Whether the file was sent, or nobody waits for it any more: then it is deleted. */
  isOver: () => boolean;
}

/**
 * Keeps the stream that `open` gives as a file; `null` when it gives none. Throws for a stream that is shorter, when
 * `signal` is aborted, and, before anything is opened, when the disk has no room for all that is being fetched.
 */
export type Spool = (
  options: SpoolOptions,
  open: () => Promise<ReadableStream<Uint8Array> | null>,
) => Promise<Blob | null>;

/** Spools into `directory`, which is made, and freed of what dead processes left, when it is used. */
export function openSpool(directory: string): Spool {
  const prepare = createPartDirectory(directory);
  /** Bytes that are still to come, of all files together: they are not on the disk yet, and will be. */
  let expected = 0;
  return async (options, openStream) => {
    await prepare();
    let missing = options.bytes;
    expected += missing;
    try {
      await requireRoom(directory, expected);
      const stream = await openStream();
      if (!stream) return null;
      return await keep(stream, partPathOf(join(directory, "download")), options, (bytes) => {
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
  path: string,
  options: SpoolOptions,
  onBytes: (bytes: number) => void,
): Promise<Blob> {
  try {
    const written = await save(stream, path, options, onBytes);
    if (written !== options.bytes) throw new Error(`there are ${written} bytes of ${options.bytes}`);
  } catch (error) {
    // Does nothing where reading it has ended it.
    await stream.cancel().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
  const look = setInterval(() => {
    if (!options.isOver()) return;
    clearInterval(look);
    void rm(path, { force: true }).catch(() => {});
  }, CHECK_INTERVAL_MS).unref();
  return Bun.file(path);
}

/** Writes chunk after chunk, so that no more than one waits for the disk. Returns how many bytes there were. */
async function save(
  stream: ReadableStream<Uint8Array>,
  path: string,
  { bytes, signal }: SpoolOptions,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const file = await open(path, "wx", 0o600);
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
