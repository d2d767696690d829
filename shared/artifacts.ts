/** Where finished organization exports are kept: written under a temporary name, there as a whole or not at all. */
import { mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ContentDigest, digestContent } from "./content_digest.ts";

/** The store failed, not what was to be stored. */
export class ArtifactStorageError extends Error {
  override readonly name = "ArtifactStorageError";
}

export interface ArtifactStore {
  /**
   * Writes `content` and makes it visible under `key` once all of it is safe on disk. Throws ArtifactStorageError
   * when the store fails, and what `content` throws.
   */
  write(key: string, content: AsyncGenerator<Uint8Array, void, void>): Promise<ContentDigest>;
  /** The file, read as it is sent; `null` when there is none. */
  find(key: string): Promise<Blob | null>;
  /** Deletes what has the name, if anything has. */
  remove(name: string): Promise<void>;
  /**
   * Everything there is, in no order: artifacts by their key, and as `<key>.<anything>.part` what is being written or
   * was never finished. What comes or goes meanwhile may be told or not.
   */
  list(): AsyncGenerator<StoredFile, void, void>;
}

/** Something that lies in a store. */
export interface StoredFile {
  name: string;
}

/** Opens the store of a `file://` URL. Its directory is made when the first file is written. */
export function openArtifactStore(url: string): ArtifactStore {
  const directory = fileURLToPath(url);
  return {
    write: (key, content) => writeWhole(join(directory, key), content),
    async find(key) {
      const path = join(directory, key);
      return (await stat(path).catch(ifAbsent)) ? Bun.file(path) : null;
    },
    remove: (name) => rm(join(directory, name), { force: true }),
    list: () => listFiles(directory),
  };
}

async function* listFiles(path: string): AsyncGenerator<StoredFile, void, void> {
  const directory = await opendir(path).catch(ifAbsent);
  if (!directory) return;
  for await (const entry of directory) {
    if (entry.isFile()) yield { name: entry.name };
  }
}

function ifAbsent(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}

/** Tells the store's own failures from those of the content. */
async function storing<Result>(step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ArtifactStorageError(`Cannot store the artifact: ${reason}`, { cause });
  }
}

async function writeWhole(
  path: string,
  content: AsyncGenerator<Uint8Array, void, void>,
): Promise<ContentDigest> {
  // A name of its own: what a dead attempt left, or another is writing, is nobody else's business.
  const temporary = `${path}.${crypto.randomUUID()}.part`;
  try {
    await storing(mkdir(dirname(path), { recursive: true, mode: 0o700 }));
    const digest = await writeAndSync(temporary, content);
    await storing(rename(temporary, path));
    await storing(syncDirectory(dirname(path)));
    return digest;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  } finally {
    await content.return();
  }
}

async function writeAndSync(
  path: string,
  content: AsyncGenerator<Uint8Array, void, void>,
): Promise<ContentDigest> {
  let digest: ContentDigest = { bytes: 0, sha256: "" };
  const digested = digestContent(content, (end) => {
    digest = end;
  });
  const file = await storing(open(path, "wx", 0o600));
  try {
    for await (const chunk of digested) await storing(file.appendFile(chunk));
    await storing(file.sync());
  } finally {
    await file.close();
  }
  return digest;
}

/** So that the new name survives a power cut. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
