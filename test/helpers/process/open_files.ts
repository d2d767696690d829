/** Finds the files in a directory that running processes have open, including deleted files. */
import { readdir, readlink, stat } from "node:fs/promises";

/** Returns the size of each open file in bytes, by path. Linux appends ` (deleted)` to the path of a deleted file. */
export async function listOpenFiles(directory: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // A process may exit, or close a file, at any time.
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const entry = `/proc/${pid}/fd/${fd}`;
      const path = await readlink(entry).catch(() => "");
      if (!path.startsWith(`${directory}/`)) continue;
      const size = (await stat(entry).catch(() => null))?.size;
      if (size !== undefined) found.set(path, size);
    }
  }
  return found;
}
