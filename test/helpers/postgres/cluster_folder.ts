/** Where test databases keep their files. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostmaster } from "../../../deploy/local/embedded_postgres.ts";
import { identifyProcess, signalProcess } from "../process/identity.ts";

/** Linux's in-memory file system. */
const MEMORY = "/dev/shm";
/** Required free space there; the machine or its container needs twice as much. A whole run uses a quarter of it. */
const ROOM_BYTES = 3 * 1024 ** 3;
/** The name of a folder has the number of the process that created it. */
const OWNER = /^ulr-[a-z]+-(\d+)-[^-]{6}$/;

/**
 * Creates a folder that PostgreSQL's account can enter: in memory if there is room, otherwise or with `onDisk` on
 * the disk.
 */
export function makeClusterFolder(name: string, { onDisk = false } = {}): string {
  const isInMemory = !onDisk && memoryHasRoom();
  for (const parent of [MEMORY, tmpdir()]) sweep(parent);
  const folder = mkdtempSync(join(isInMemory ? MEMORY : tmpdir(), `ulr-${name}-${process.pid}-`));
  // The folder is private by default, and we may be root.
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * True if it has room for what tests write and as much again for programs. A test database is about 600 files that
 * are soon deleted. On a disk, creating them takes 50 ms on a good file system, and up to a second on ext4 without
 * a journal, which visits every inode freed in the last five minutes. In memory it takes 20 ms.
 */
function memoryHasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES && process.availableMemory() >= 2 * ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Deletes folders of killed processes in `parent`, and stops their servers, which outlive them. */
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
      // It belongs to another user, or another process is deleting it.
    }
  }
}

/** Deletes a cluster, a folder or a link to one, and stops a server that still runs on it. */
export function removeCluster(location: string): void {
  if (!existsSync(location)) return;
  const path = realpathSync(location);
  const pid = findPostmaster(path);
  if (pid) signalProcess(pid, "SIGQUIT");
  rmSync(path, { recursive: true, force: true });
}
