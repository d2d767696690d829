/** Loads the first catalog of an empty database, and the price history from before that catalog. */

import { addBundledHistory, hasBundledHistory } from "../sql/models/bundled_history.ts";
import { existsCatalog } from "../sql/models/catalog_syncs.ts";
import { bundledSource, type CatalogSource } from "./source.ts";
import { type SyncDeps, type SyncOptions, type SyncReport, syncCatalog } from "./sync.ts";

/** The maximum time to wait for a source on the network before an empty catalog gets the bundled copy. */
const FIRST_TIMEOUT_MS = 5_000;

export interface FilledCatalog {
  /** The sync from the source; `null` if the source was not read. */
  report: SyncReport | null;
  /** The sync from the bundled copy; `null` if the copy was not used. */
  bundled: SyncReport | null;
}

/**
 * Fills an empty database. Returns `null` if there is a catalog already. If the source is models.dev, loads the bundled copy,
 * which needs no network; the caller syncs from models.dev later. Any other source is read first, and the bundled copy is
 * loaded if that fails.
 */
export async function fillIfEmpty(deps: SyncDeps, source: CatalogSource): Promise<FilledCatalog | null> {
  if (await existsCatalog(deps.sql)) {
    await addPast(deps);
    return null;
  }
  const report = hasBundledHistory(source.label)
    ? null
    : await syncCatalog(deps, { source, timeoutMs: FIRST_TIMEOUT_MS });
  return { report, bundled: await useBundledIfEmpty(deps) };
}

/**
 * Syncs from the source. If the database is empty, loads the bundled copy too: before the sync from models.dev, or after a
 * failed sync from another source.
 */
export async function fillAndSync(deps: SyncDeps, options: SyncOptions): Promise<FilledCatalog> {
  const { label } = options.source;
  const first = hasBundledHistory(label) && label !== "bundled" ? await useBundledIfEmpty(deps) : null;
  const report = await syncCatalog(deps, options);
  const standIn = await useBundledIfEmpty(deps);
  return { report, bundled: first ?? standIn };
}

/**
 * Syncs at the start of a process. If the bundled copy was loaded first, syncs from the source afterwards, with the usual timeout.
 */
export async function syncAtStart(deps: SyncDeps, source: CatalogSource): Promise<void> {
  const filled = await fillIfEmpty(deps, source);
  const isSynced = filled !== null && (filled.bundled === null || source.label === "bundled");
  if (!isSynced) await syncCatalog(deps, { source });
}

async function useBundledIfEmpty(deps: SyncDeps): Promise<SyncReport | null> {
  if (deps.shutdownSignal.aborted) return null;
  const report = (await existsCatalog(deps.sql))
    ? null
    : await syncCatalog(deps, { source: bundledSource(), onlyIfEmpty: true });
  await addPast(deps);
  return report;
}

async function addPast({ sql, log }: SyncDeps): Promise<void> {
  const past = await addBundledHistory(sql);
  if (past) {
    const { changes, models, since } = past;
    log.info(
      { event: "catalog_sync.past_added" },
      `added ${changes} price changes of ${models} models since ${since}`,
    );
  }
}
