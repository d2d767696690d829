/** A catalogue document of the size of today's models.dev, made from the bundled copy. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundledSource } from "../../catalog-sync/source.ts";
import { runSync } from "./catalog_sync_process.ts";

/** As many as models.dev had in July 2026. */
export const MODEL_COUNT = 5276;

interface Provider {
  id: string;
  models: Record<string, object>;
}

/** The bundled providers again and again, under new ids, until there are `MODEL_COUNT` models. */
async function makeLargeDocument(): Promise<Record<string, Provider>> {
  const loaded = await bundledSource().load({ etag: null, signal: new AbortController().signal });
  if (loaded.isUnchanged) throw new Error("Cannot make a document: the bundled one is not there");
  const bundled = Object.values(loaded.value as Record<string, Provider>);
  const document: Record<string, Provider> = {};
  let count = 0;
  for (let copy = 0; count < MODEL_COUNT; copy += 1) {
    for (const provider of bundled) {
      const id = copy === 0 ? provider.id : `${provider.id}-${copy}`;
      const models = Object.fromEntries(Object.entries(provider.models).slice(0, MODEL_COUNT - count));
      document[id] = { ...provider, id, models };
      count += Object.keys(models).length;
    }
  }
  return document;
}

/** Writes the document to a folder that goes when `work` is done. */
export async function withLargeDocument<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    const path = join(directory, "models.json");
    await writeFile(path, JSON.stringify(await makeLargeDocument()));
    return await work(path);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Fills a database's catalogue. */
export async function seedCatalog(root: string, databaseUrl: string): Promise<void> {
  await withLargeDocument((documentPath) => runSync(root, { databaseUrl, documentPath }));
}
