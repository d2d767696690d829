/** The bundled catalog as a document: as many models as models.dev had in July 2026. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundledSource } from "../../catalog-sync/source.ts";
import { runSync } from "./catalog_sync_process.ts";

export const MODEL_COUNT = 5276;

/** Writes the document to a folder that goes when `work` is done. */
export async function withLargeDocument<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    const path = join(directory, "models.json");
    const loaded = await bundledSource().load({ etag: null, signal: new AbortController().signal });
    if (loaded.isUnchanged) throw new Error("Cannot make a document: the bundled one is not there");
    await writeFile(path, JSON.stringify(loaded.value));
    return await work(path);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Fills a database's catalogue. */
export async function seedCatalog(root: string, databaseUrl: string): Promise<void> {
  await withLargeDocument((documentPath) => runSync(root, { databaseUrl, documentPath }));
}
