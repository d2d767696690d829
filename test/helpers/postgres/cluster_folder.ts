/** Creates and deletes the folders of test clusters. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostmaster } from "../../../deploy/local/embedded_postgres.ts";
import { identifyProcess, signalProcess } from "../process/identity.ts";

/** Linux's in-memory file system. */
const MEMORY = "/dev/shm";
/**
 * The free space that the in-memory file system must have. The machine or its container must have twice as much
 * available memory. A whole run uses a quarter of this space.
 */
const ROOM_BYTES = 3 * 1024 ** 3;
/** The pattern of folder names, which contain the id of the process that created the folder. */
const OWNER = /^ulr-[a-z]+-(\d+)-[^-]{6}$/;

/** Creates a folder that PostgreSQL's account can enter. The folder is in memory if there is room, unless `onDisk` is set. */
export function makeClusterFolder(name: string, { onDisk = false } = {}): string {
  const isInMemory = !onDisk && memoryHasRoom();
  for (const parent of [MEMORY, tmpdir()]) sweep(parent);
  const folder = mkdtempSync(join(isInMemory ? MEMORY : tmpdir(), `ulr-${name}-${process.pid}-`));
  // `mkdtempSync` makes the folder private to this account, which may be root. PostgreSQL then runs as another account.
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * Returns true if memory has room for the tests' files, and as much again for programs. A test database has about 600
 * files, which are soon deleted. In memory, creating them takes 20 ms. On disk, it takes 50 ms on a good file system.
 * On ext4 without a journal, it takes up to a second, because ext4 then visits every inode freed in the last five
 * minutes.
 */
function memoryHasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES && process.availableMemory() >= 2 * ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Deletes the folders in `parent` whose processes were killed, and stops the servers that those processes left running. */
function sweep(parent: string): void {
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent)) {
    const [, pid] = OWNER.exec(name) ?? [];
    if (!pid || identifyProcess(Number(pid))) continue;
    try {
      removeCluster(join(parent, name, "postgres"));
      removeCluster(join(parent, name, "data", "postgres"));
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // The folder belongs to another user, or another process is deleting the folder.
    }
  }
}

/** Deletes a cluster and stops a server that still runs on it. `location` is the cluster's folder or a link to it. */
export function removeCluster(location: string): void {
  if (!existsSync(location)) return;
  const path = realpathSync(location);
  const pid = findPostmaster(path);
  if (pid) signalProcess(pid, "SIGQUIT");
  rmSync(path, { recursive: true, force: true });
}
