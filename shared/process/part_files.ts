/** Writes files under a name ending in `.part` and renames them when they are complete and synced. */
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const ENDING = ".part";
/** No writer pauses this long: older files were left by killed processes. */
const STALE_MS = 24 * 3_600_000;
const CLEAN_EVERY_MS = 3_600_000;

/** Returns a unique name, so that writers never share a file. */
export function partPathOf(path: string): string {
  return `${path}.${crypto.randomUUID()}${ENDING}`;
}

/** Renames a synced part to its final name, durably. */
export async function keepPart(part: string, path: string): Promise<void> {
  await rename(part, path);
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Returns a function to call before writing a part into `directory`. It creates the directory, private to its owner,
 * and deletes parts of dead processes at the first call and then hourly.
 */
export function createPartDirectory(directory: string): () => Promise<void> {
  let cleanedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (performance.now() - cleanedAt < CLEAN_EVERY_MS) return;
    cleanedAt = performance.now();
    for (const name of await readdir(directory)) {
      if (!name.endsWith(ENDING)) continue;
      const path = join(directory, name);
      // Another process may do the same.
      const found = await stat(path).catch(() => null);
      if (found && Date.now() - found.mtimeMs > STALE_MS) await rm(path, { force: true });
    }
  };
}
