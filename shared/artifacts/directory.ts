/** Stores artifacts in a directory. Files are written under a temporary name and become visible only when they are complete. */
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

/** Error codes of file systems without hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Opens the store in `directory`. The directory is created with the first file. */
export function openArtifactDirectory(directory: string): ArtifactStore {
  /** Returns the size of the file in bytes; null if it does not exist. */
  const sizeOf = async (name: string): Promise<number | null> => {
    const found = await storing(stat(join(directory, name)).catch(ifAbsent));
    if (found) return found.size;
    // A missing file is not an error, but an unmounted volume is.
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

/** Writes the text to a temporary file, and returns the result of `keep`, which renames or links the file to the marker's name. */
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
 * Changes the owner of `path` and of its parents below `folder` to the owner of `folder`, if the process runs as root. The
 * service must be able to read the files that an operator's command creates.
 */
async function giveToOwner(path: string, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  for (let each = path; each !== folder; each = dirname(each)) await chown(each, uid, gid);
}

async function createFrom(part: string, path: string): Promise<boolean> {
  try {
    // A link fails if the name exists. A rename would replace the existing file.
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
    // Not `for await`: if the disk is full, the part must be deleted before the content ends, which may take a while.
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
