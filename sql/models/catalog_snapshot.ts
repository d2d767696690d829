/** Reads all catalog rows at one point in time, to cache them or to compare them with a document. */
import type { Pool, Sql } from "../connection/pool.ts";
import { type CatalogVersion, findCatalogVersion } from "./catalog_syncs.ts";
import { listModelAliases, type ModelAliasRow } from "./model_aliases.ts";
import { listModelProviders, type ModelProviderRow } from "./model_providers.ts";
import { listModels, type ModelRow } from "./models.ts";

export interface CatalogRows {
  providers: readonly ModelProviderRow[];
  models: readonly ModelRow[];
  aliases: readonly ModelAliasRow[];
}

export interface CatalogSnapshot extends CatalogRows {
  version: CatalogVersion;
}

/** Reads the whole catalog in one snapshot, so that no reader sees half of a sync. */
export async function readCatalogSnapshot(pool: Pool): Promise<CatalogSnapshot> {
  return pool.begin("isolation level repeatable read read only", async (tx) => {
    const version = await findCatalogVersion(tx);
    return { version, ...(await readCatalogRows(tx)) };
  });
}

/** Reads all catalog rows. Call inside a transaction that has one snapshot or holds the sync lock. */
export async function readCatalogRows(tx: Sql): Promise<CatalogRows> {
  const providers = await listModelProviders(tx);
  const models = await listModels(tx);
  return { providers, models, aliases: await listModelAliases(tx) };
}
