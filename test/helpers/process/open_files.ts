/** Files in a directory that running processes have open, including deleted ones without a name. */
import { readdir, readlink, stat } from "node:fs/promises";

/** Returns the size in bytes of each file; its key is the path that it has or had. */
export async function listOpenFiles(directory: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // Processes and their files end at any time.
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
