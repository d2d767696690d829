/** Artifacts in a directory: written under a temporary name, there as a whole or not at all. */
import { mkdir, open, opendir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ArtifactStore, StoredFile } from "./artifact_store.ts";
import { storageError, storing } from "./artifact_store.ts";
import { type ContentDigest, digestContent } from "./content_digest.ts";
import { keepPart, partPathOf } from "./part_files.ts";

/** Opens the store in `directory`, which is made when the first file is written. */
export function openArtifactDirectory(directory: string): ArtifactStore {
  /** Bytes of the file; `null` when it is not there. */
  const sizeOf = async (name: string): Promise<number | null> => {
    const found = await storing(stat(join(directory, name)).catch(ifAbsent));
    if (found) return found.size;
    // A file that is gone is one thing, a volume that is not mounted another.
    await storing(stat(directory));
    return null;
  };
  return {
    fetchesToRead: false,
    write: (name, content) => writeWhole(join(directory, name), content),
    exists: async (name) => (await sizeOf(name)) !== null,
    async read(name, { bytes, range }) {
      const found = await sizeOf(name);
      if (found === null) return null;
      if (found !== bytes) throw storageError(`there are ${found} bytes of ${bytes} in "${name}"`);
      const file = Bun.file(join(directory, name));
      return range ? file.slice(range.first, range.last + 1) : file;
    },
    list: () => listFiles(directory),
    remove: (name) => storing(rm(join(directory, name), { force: true })),
  };
}

function ifAbsent(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}

async function* listFiles(directory: string): AsyncGenerator<StoredFile, void, void> {
  const entries = await storing(opendir(directory).catch(ifAbsent));
  if (!entries) return;
  for await (const entry of entries) {
    const found = await storing(stat(join(directory, entry.name)).catch(ifAbsent));
    if (found?.isFile()) yield { name: entry.name, size: found.size, modifiedAt: found.mtime };
  }
}

async function writeWhole(
  path: string,
  content: AsyncGenerator<Uint8Array, void, void>,
): Promise<ContentDigest> {
  const part = partPathOf(path);
  try {
    await storing(mkdir(dirname(path), { recursive: true, mode: 0o700 }));
    const digest = await writeAndSync(part, content);
    await storing(keepPart(part, path));
    return digest;
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  } finally {
    await content.return();
  }
}

async function writeAndSync(
  path: string,
  content: AsyncGenerator<Uint8Array, void, void>,
): Promise<ContentDigest> {
  let digest: ContentDigest | null = null;
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
  if (!digest) throw storageError("the content has no end");
  return digest;
}
