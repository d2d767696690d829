/**
 * Stores artifacts in a directory. Files are written under a temporary name and become visible as a whole or not at
 * all.
 */
import { constants } from "node:fs";
import { chown, copyFile, link, mkdir, open, opendir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { keepPart, partPathOf } from "../process/part_files.ts";
import {
  type ArtifactStore,
  type ContentDigest,
  digestContent,
  MARKER_NAME,
  type StoredFile,
  storageError,
  storing,
} from "./store.ts";

/** Errors of file systems without hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Opens the store in `directory`, which is created with the first file. */
export function openArtifactDirectory(directory: string): ArtifactStore {
  /** Returns the size of the file in bytes; null if it does not exist. */
  const sizeOf = async (name: string): Promise<number | null> => {
    const found = await storing(stat(join(directory, name)).catch(ifAbsent));
    if (found) return found.size;
    // A missing file is not an error, an unmounted volume is.
    await storing(stat(directory));
    return null;
  };
  return {
    write: (name, content) => writeWhole(join(directory, name), content),
    exists: async (name) => (await sizeOf(name)) !== null,
    async read(name, { bytes, range }) {
      const found = await sizeOf(name);
      if (found === null) return null;
      if (found !== bytes) throw storageError(`there are ${found} bytes of ${bytes} in "${name}"`);
      const file = Bun.file(join(directory, name));
      return range ? file.slice(range.first, range.last + 1) : file;
    },
    list: (start = "") => listFiles(directory, start),
    remove: (name) => storing(rm(join(directory, name), { force: true })),
    readMarker: () => storing(readFile(join(directory, MARKER_NAME), "utf8").catch(ifAbsent)),
    createMarker: (text) => storing(writeMarker(directory, text, createFrom)),
    replaceMarker: (text) => storing(writeMarker(directory, text, keepPart)),
  };
}

function ifAbsent(error: unknown): null {
  if (hasCode(error, "ENOENT")) return null;
  throw error;
}

/** Writes the text to a temporary file, and returns the result of `keep`, which gives it the marker's name. */
async function writeMarker<Result>(
  directory: string,
  text: string,
  keep: (part: string, path: string) => Promise<Result>,
): Promise<Result> {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (made !== undefined) await giveToOwner(directory, dirname(made));
  const path = join(directory, MARKER_NAME);
  const part = partPathOf(path);
  try {
    await writeFile(part, text, { flag: "wx", mode: 0o600, flush: true });
    await giveToOwner(part, directory);
    return await keep(part, path);
  } finally {
    await rm(part, { force: true });
  }
}

/**
 * Gives what root has made to the owner of `folder`, which is above it: an operator's command must leave nothing that the
 * service cannot read.
 */
async function giveToOwner(path: string, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  for (let each = path; each !== folder; each = dirname(each)) await chown(each, uid, gid);
}

async function createFrom(part: string, path: string): Promise<boolean> {
  try {
    // Fails if the name exists; a rename would replace it.
    await link(part, path).catch((error: unknown) => {
      if (hasCode(error, ...NO_LINKS)) return copyFile(part, path, constants.COPYFILE_EXCL);
      throw error;
    });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

async function* listFiles(directory: string, start: string): AsyncGenerator<StoredFile, void, void> {
  const entries = await storing(opendir(directory).catch(ifAbsent));
  if (!entries) return;
  for await (const entry of entries) {
    if (!entry.name.startsWith(start)) continue;
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
    // Not `for await`: when the disk is full, the part is deleted before the content has taken its time to end.
    for (let next = await digested.next(); !next.done; next = await digested.next()) {
      await storing(file.appendFile(next.value));
    }
    await storing(file.sync());
  } finally {
    await file.close();
  }
  if (!digest) throw storageError("the content has no end");
  return digest;
}
