/**
 * Copies downloads from a bucket to local files. `Bun.serve` sends the length of files only; for a stream it drops
 * `Content-Length` (https://github.com/oven-sh/bun/issues/10507). A download is therefore fetched to a local file first and
 * sent from that file. Failures of the bucket are detected before the response starts. A slow client uses disk space, but no
 * memory and no connection to the bucket.
 */
import { type FileHandle, mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

/** The interval between checks whether a response is finished. */
const CHECK_INTERVAL_MS = 1_000;

interface SpoolOptions {
  /** The number of bytes to keep, from the start of the stream. */
  bytes: number;
  signal: AbortSignal;
  /** Returns true if the response is finished or aborted. The file is then closed, which frees its disk space. */
  isOver: () => boolean;
}

/** A copy in progress. */
interface Copying {
  missingBytes: number;
}

/**
 * Opens a spool in `directory`, which is created with access for its owner only. The returned function copies the stream of
 * `openStream` to a file, and returns null if there is no stream. It throws if the stream is too short or `signal` is
 * aborted. Before opening the stream, it throws if the disk has no space for all copies in progress.
 */
export function openSpool(directory: string) {
  const running = new Set<Copying>();
  return async (
    options: SpoolOptions,
    openStream: () => Promise<ReadableStream<Uint8Array> | null>,
  ): Promise<Blob | null> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const copying = { missingBytes: options.bytes };
    running.add(copying);
    try {
      const missing = [...running].reduce((sum, { missingBytes }) => sum + missingBytes, 0);
      await requireRoom(directory, missing);
      const stream = await openStream();
      return stream && (await keep(stream, directory, { ...options, copying }));
    } finally {
      running.delete(copying);
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
  { bytes, signal, isOver, copying }: SpoolOptions & { copying: Copying },
): Promise<Blob> {
  let reader: FileHandle | null = null;
  try {
    const file = await openNameless(directory);
    reader = file.reader;
    await save(stream, file.writer, { signal, copying });
    const written = bytes - copying.missingBytes;
    if (written !== bytes) throw new Error(`there are ${written} bytes of ${bytes}`);
  } catch (error) {
    // Has no effect if the stream has ended.
    await stream.cancel().catch(() => {});
    await reader?.close();
    throw error;
  }
  const { fd } = reader;
  const look = setInterval(() => {
    if (!isOver()) return;
    clearInterval(look);
    void reader.close().catch(() => {});
  }, CHECK_INTERVAL_MS).unref();
  return Bun.file(fd);
}

/** Creates a file and removes its name. The file exists while its handles are open, so a killed process leaves no file behind. */
async function openNameless(directory: string): Promise<{ writer: FileHandle; reader: FileHandle }> {
  const path = join(directory, crypto.randomUUID());
  const writer = await open(path, "wx", 0o600);
  try {
    // The reader needs its own position, at the start of the file.
    return { writer, reader: await open(path, "r") };
  } catch (error) {
    await writer.close();
    throw error;
  } finally {
    await rm(path);
  }
}

/** Writes one chunk at a time, so that only one chunk waits for the disk. Closes the file. */
async function save(
  stream: ReadableStream<Uint8Array>,
  file: FileHandle,
  { signal, copying }: { signal: AbortSignal; copying: Copying },
): Promise<void> {
  try {
    // Leaving the loop cancels the stream. Some servers send more bytes than the requested range.
    for await (const chunk of stream) {
      signal.throwIfAborted();
      const wanted = chunk.subarray(0, copying.missingBytes);
      await file.appendFile(wanted);
      copying.missingBytes -= wanted.length;
      if (copying.missingBytes === 0) break;
    }
  } finally {
    await file.close();
  }
}
