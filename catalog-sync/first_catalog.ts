/** The first catalog of an empty database, and the past of its prices. */

import { addBundledHistory, hasBundledHistory } from "../sql/models/bundled_history.ts";
import { existsCatalog } from "../sql/models/catalog_syncs.ts";
import { bundledSource, type CatalogSource } from "./source.ts";
import { type SyncDeps, type SyncOptions, type SyncReport, syncCatalog } from "./sync.ts";

/** How long an empty catalog waits for a source on the network before the bundled copy takes its place. */
const FIRST_TIMEOUT_MS = 5_000;

export interface FilledCatalog {
  /** The sync from the source; `null` if there was none. */
  report: SyncReport | null;
  /** The sync from the bundled copy; `null` if there was none. */
  bundled: SyncReport | null;
}

/**
 * Fills an empty database; `null` when there is a catalog already. The bundled copy of models.dev is there without a network,
 * and a sync from models.dev follows. Any other source is read at once, and the bundled copy stands in for it.
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

/** Syncs from the source, even if the database was empty and the bundled copy had to come first. */
export async function fillAndSync(deps: SyncDeps, options: SyncOptions): Promise<FilledCatalog> {
  const { label } = options.source;
  const first = hasBundledHistory(label) && label !== "bundled" ? await useBundledIfEmpty(deps) : null;
  const report = await syncCatalog(deps, options);
  const standIn = await useBundledIfEmpty(deps);
  return { report, bundled: first ?? standIn };
}

/** Syncs when a process starts. If the bundled copy had to come first, the source follows, with more time. */
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
