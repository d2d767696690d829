/** Mounts a small file system that a test can fill up. Needs root. */
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OBSTACLE = "obstacle";

export interface SmallDisk extends AsyncDisposable {
  directory: string;
  /** Fills all free space. */
  fill(): void;
  /** Frees the space that `fill()` used. */
  free(): void;
}

/** Mounts an in-memory file system of this many MiB. `await using` unmounts it. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), "ulr-disk-"));
  const { exitCode, stderr } = Bun.spawnSync([
    ...["mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", directory],
  ]);
  if (exitCode !== 0) throw new Error(`Cannot mount a file system: ${stderr.toString().trim()}`);
  // Servers that write here run as other users.
  chmodSync(directory, 0o777);
  return {
    directory,
    fill() {
      const { bavail, bsize } = statfsSync(directory);
      writeFileSync(join(directory, OBSTACLE), Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(join(directory, OBSTACLE)),
    async [Symbol.asyncDispose]() {
      Bun.spawnSync(["umount", "--lazy", directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
