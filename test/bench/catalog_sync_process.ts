/** The catalogue's sync as the process it is in production. */
import { join } from "node:path";

/** Runs one sync of a document to its end; throws when it fails. */
export async function runSync(
  root: string,
  { databaseUrl, documentPath }: { databaseUrl: string; documentPath: string },
): Promise<{ processSeconds: number; peakBytes: number }> {
  const begun = performance.now();
  const child = Bun.spawn([process.execPath, join(root, "catalog-sync/main.ts"), "--once"], {
    env: { DATABASE_URL: databaseUrl, CATALOG_SOURCE: documentPath },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("Cannot measure: the sync failed");
  return {
    processSeconds: (performance.now() - begun) / 1000,
    peakBytes: child.resourceUsage()?.maxRSS ?? Number.NaN,
  };
}

/** Starts the process that syncs at its start and then on a schedule that does not come while somebody measures. */
export function startScheduledSync(
  root: string,
  { databaseUrl, documentPath }: { databaseUrl: string; documentPath: string },
): AsyncDisposable & { pid: number } {
  const child = Bun.spawn([process.execPath, join(root, "catalog-sync/main.ts")], {
    env: {
      DATABASE_URL: databaseUrl,
      CATALOG_SOURCE: documentPath,
      CATALOG_SYNC_CRON: "0 0 1 1 *",
      LOG_LEVEL: "warn",
    },
    stdout: "ignore",
    stderr: "inherit",
  });
  return {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
