/** Reads an untrusted ZIP with random access, one entry at a time, in bounded memory. */
import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { BlobReader, type FileEntry, ZipReader } from "@zip.js/zip.js";

/** Maximum compression ratio. Deflate can reach 1,032 to 1. Exported rows reach 10 or 20 to 1. */
const MAX_RATIO = 200;
/** Content up to this size may have any compression ratio. */
const HARMLESS_BYTES = 64 * 1024 * 1024;

/** The file is not a valid ZIP archive or is unsafe to read. The message states the reason. */
export class ZipFileError extends Error {
  override readonly name = "ZipFileError";
}

export interface ZipFileEntry {
  name: string;
  /** Uncompressed size according to the archive's directory. `read` checks it. */
  bytes: number;
  /** Reads the content. Throws ZipFileError if its size or CRC-32 does not match the archive's directory. */
  read: () => AsyncGenerator<Uint8Array, void, void>;
}

/** Opens the archive and returns its files by name. The names are never used as paths. */
export async function openZipFile(path: string): Promise<ReadonlyMap<string, ZipFileEntry>> {
  const reader = new ZipReader(new BlobReader(await openFile(path)), {
    useWebWorkers: false,
    // Rejects duplicate names, `..` in names, data between entries, and inconsistent headers.
    strictness: "strict",
    checkCrc32: true,
    checkOverlappingEntry: true,
  });
  const files = new Map<string, ZipFileEntry>();
  for (const entry of await reader.getEntries().catch(fail)) {
    if (entry.directory) continue;
    if (entry.encrypted) throw new ZipFileError(`entry "${entry.filename}" is encrypted`);
    files.set(entry.filename, {
      name: entry.filename,
      bytes: entry.uncompressedSize,
      read: () => readEntry(entry),
    });
  }
  return files;
}

async function openFile(path: string): Promise<Blob> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new ZipFileError("no such file");
  if (!found.isFile()) throw new ZipFileError("not a regular file");
  // A file-backed Blob of any size is read on demand.
  return openAsBlob(path);
}

async function* readEntry(entry: FileEntry): AsyncGenerator<Uint8Array, void, void> {
  const { filename, uncompressedSize, compressedSize } = entry;
  const limit = Math.max(HARMLESS_BYTES, compressedSize * MAX_RATIO);
  if (uncompressedSize > limit) {
    throw new ZipFileError(`entry "${filename}" is compressed more than ${MAX_RATIO} to 1`);
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const written = entry.getData(writable);
  // The error is thrown below, after the readable content has been yielded.
  written.catch(() => {});
  let bytes = 0;
  try {
    for await (const chunk of readable) {
      bytes += chunk.length;
      if (bytes > uncompressedSize) throw new ZipFileError(`entry "${filename}" is larger than declared`);
      yield chunk;
    }
  } catch (error) {
    fail(error, filename);
  }
  await written.catch((error: unknown) => fail(error, filename));
  if (bytes < uncompressedSize) throw new ZipFileError(`entry "${filename}" is smaller than declared`);
}

/** Rethrows an error of zip.js as a ZipFileError. */
function fail(error: unknown, filename?: string): never {
  if (error instanceof ZipFileError) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  const subject = filename === undefined ? "the archive" : `entry "${filename}"`;
  throw new ZipFileError(`${subject} cannot be read (${reason})`, { cause: error });
}
