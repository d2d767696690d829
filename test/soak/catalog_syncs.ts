/** Runs `bun run catalog-sync --once` repeatedly, each time with different prices. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { makeDocument, sourceRow } from "../helpers/models/catalog.ts";
import { runCommand } from "../helpers/process/command.ts";
import type { Soak } from "./soak.ts";

const LABS = 4;
const MODELS = 50;
const PAUSE_MS = 8000;
const MAIN = fileURLToPath(new URL("../../catalog-sync/main.ts", import.meta.url));

/** Returns a catalog document whose prices depend on its edition. */
function documentOf(edition: number): unknown {
  const models = Array.from({ length: MODELS }, (_, n) => `model-${n}`);
  const fields = (n: number) => ({ cost: { input: 1 + ((edition + n) % 7), output: 2 + edition } });
  const rows = Object.fromEntries(models.map((id, n) => [id, sourceRow(id, fields(n))]));
  return makeDocument(Object.fromEntries(Array.from({ length: LABS }, (_, n) => [`lab-${n}`, rows])));
}

/**
 * Syncs an edition of the catalog in a separate process. Returns the exit code and what the process printed: stderr, or stdout if
 * stderr is empty.
 */
export async function syncOnce(
  place: { databaseUrl: string; dataDir: string },
  edition: number,
): Promise<{ exitCode: number; said: string }> {
  const path = join(place.dataDir, "catalog.json");
  await writeFile(path, JSON.stringify(documentOf(edition)));
  const env = { DATABASE_URL: place.databaseUrl, DATA_DIR: place.dataDir, CATALOG_SOURCE: path };
  const { exitCode, stdout, stderr } = await runCommand([process.execPath, MAIN, "--once"], { env });
  return { exitCode, said: (stderr || stdout).trim() };
}

/** Syncs until the load ends. A run may fail only if the database was down. */
export async function keepSyncing(soak: Soak): Promise<void> {
  const place = { databaseUrl: soak.db.url, dataDir: soak.dataDir };
  for (let edition = 1; !soak.over.aborted; edition += 1) {
    const from = performance.now();
    const { exitCode, said } = await syncOnce(place, edition);
    soak.tally.add(exitCode === 0 ? "syncs" : "failed syncs");
    if (exitCode !== 0 && !soak.outages.cover("database", from, performance.now())) {
      soak.findings.add("a sync failed without a reason", said);
    }
    await delay(PAUSE_MS, undefined, { signal: soak.over }).catch(() => {});
  }
}
