/** Metrics of the artifact directory. A bucket needs no such metrics, because its provider manages the space. */
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Registry } from "prom-client";
import type { Log } from "../process/log.ts";
import { registerMeasuredGauges } from "./measured_gauge.ts";

/** Registers the gauges if the artifact store is a directory. */
export function registerDirectoryMetrics(
  registry: Registry,
  { artifactUrl, log }: { artifactUrl: string; log: Log },
): void {
  if (artifactUrl.startsWith("s3://")) return;
  const directory = fileURLToPath(artifactUrl);
  registerMeasuredGauges(
    { registry, log },
    [
      {
        name: "artifact_store_free_bytes",
        help: "Bytes that the process can still write to the file system of the artifact directory",
      },
      {
        name: "artifact_store_size_bytes",
        help: "Size in bytes of the file system of the artifact directory",
      },
      {
        name: "artifact_store_writable",
        help: "1 while the process may write to the artifact directory, 0 while it may not",
      },
    ],
    async () => {
      const existing = await findExisting(directory);
      const { bavail, blocks, bsize } = await statfs(existing);
      const isWritable = await mayAccess(existing, constants.W_OK | constants.X_OK);
      return [bavail * bsize, blocks * bsize, Number(isWritable)];
    },
  );
}

/** Returns the directory or its nearest existing ancestor, because the directory is created with the first file. */
async function findExisting(directory: string): Promise<string> {
  for (let path = directory; ; path = dirname(path)) {
    if ((await mayAccess(path, constants.F_OK)) || path === dirname(path)) return path;
  }
}

function mayAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
