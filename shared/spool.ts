/**
 * Files on their way from a bucket to a client. `Bun.serve` announces the length of files only: of a stream it drops
 * `Content-Length` (https://github.com/oven-sh/bun/issues/10507). So a download from a bucket is fetched into a local
 * file first and sent from there. What the bucket does not deliver is known before the answer has begun, and a client
 * who takes hours holds some disk, and neither memory nor a connection to the bucket.
 */
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** By then the server has opened the file, whose space goes when it closes it. */
const UNLINK_AFTER_MS = 60_000;
/** What is older was left by a process that was killed. */
const STALE_MS = 24 * 3_600_000;

/**
 * Keeps the first `bytes` bytes of a stream as a file. Throws for a stream that is shorter, and when `signal` is aborted.
 */
export type Spool = (
  stream: ReadableStream<Uint8Array>,
  options: { bytes: number; signal: AbortSignal },
) => Promise<Blob>;

/** Spools into `directory`, which is made, and freed of what dead processes left, at the first use. */
export function openSpool(directory: string): Spool {
  let prepared: Promise<void> | undefined;
  return async (stream, { bytes, signal }) => {
    prepared ??= prepare(directory);
    await prepared;
    const path = join(directory, `${crypto.randomUUID()}.part`);
    try {
      const written = await save(stream, path, { bytes, signal });
      if (written !== bytes) throw new Error(`there are ${written} bytes of ${bytes}`);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    setTimeout(() => void rm(path, { force: true }).catch(() => {}), UNLINK_AFTER_MS).unref();
    return Bun.file(path);
  };
}

async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found && Date.now() - found.mtimeMs > STALE_MS) await rm(path, { force: true });
  }
}

/** Writes chunk after chunk, so that no more than one waits for the disk. Returns how many bytes there were. */
async function save(
  stream: ReadableStream<Uint8Array>,
  path: string,
  { bytes, signal }: { bytes: number; signal: AbortSignal },
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
      if (written === bytes) break;
    }
    return written;
  } finally {
    await file.close();
  }
}
