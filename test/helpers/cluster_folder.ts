/** Where the databases of tests keep their files. */
import { chmodSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux's file system in memory. */
const MEMORY = "/dev/shm";
/** Free there, and twice that in the machine or its container: all tests together use a quarter of it. */
const ROOM_BYTES = 3 * 1024 ** 3;

/**
 * True where it holds what tests write, with as much left for the programs. A database of a test is some 600 files that
 * are soon removed: on a disk, making them takes 50 ms where the file system is good at it, and up to a second on ext4
 * without a journal, which passes over every inode that was freed in the last five minutes. Here it takes 20.
 */
function memoryHasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES && process.availableMemory() >= 2 * ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Makes a folder that PostgreSQL's account can enter: in memory if that has room, or `onDisk` in any case. */
export function makeClusterFolder(name: string, { onDisk = false } = {}): string {
  const folder = mkdtempSync(join(!onDisk && memoryHasRoom() ? MEMORY : tmpdir(), `ulr-${name}-`));
  // Closed otherwise, and we may be root.
  chmodSync(folder, 0o755);
  return folder;
}
