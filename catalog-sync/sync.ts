/** Runs a sync: loads the document, then stores it in one transaction. A failure changes nothing. */
import type { Log } from "../shared/process/log.ts";
import type { Tracing } from "../shared/tracing/tracing.ts";
import type { CatalogSyncOutcome } from "../shared/vocabulary.ts";
import { isDatabaseFault } from "../sql/connection/database_fault.ts";
import { isConnectionError, type Pool } from "../sql/connection/pool.ts";
import { tryLockTransaction } from "../sql/locks.ts";
import {
  existsCatalog,
  findLastGoodSync,
  type GoodSync,
  insertCatalogSync,
} from "../sql/models/catalog_syncs.ts";
import { SourceError } from "./download.ts";
import { describeOrigin, describeServed, toStorable } from "./notes.ts";
import type { CatalogSource } from "./source.ts";
import {
  NO_COUNTS,
  type PlannedSync,
  planDocument,
  type StoredSync,
  SuspiciousDocument,
  storeDocument,
} from "./store_document.ts";

const MAX_ERROR_LENGTH = 500;

export interface SyncDeps {
  /** A pool of two connections, because a failure is recorded outside the failed transaction. */
  sql: Pool;
  log: Log;
  /** Called at the end of every sync. */
  onOutcome?: (outcome: SyncReport["outcome"]) => void;
  /** Unset or null if tracing is off. */
  tracing?: Tracing | null;
  /** Aborted when the process shuts down. */
  shutdownSignal: AbortSignal;
}

export interface SyncOptions {
  source: CatalogSource;
  /** Ignores the stored ETag, and accepts doubtful prices and documents. */
  force?: boolean;
  /** Stores nothing if a catalog exists by the time the document has been loaded. */
  onlyIfEmpty?: boolean;
  /** The timeout for a source on the network; 30 s if omitted. */
  timeoutMs?: number;
}

/**
 * The outcome of a sync. `busy` means that another process is storing a catalog, or has stored one since this sync began. A
 * busy sync is not recorded.
 */
export type SyncReport = StoredSync | { outcome: "refused" | "failed"; error: string } | { outcome: "busy" };

/** Runs a sync. Never throws: a failure is reported, logged and, if possible, recorded in `catalog_syncs`. */
export async function syncCatalog(deps: SyncDeps, options: SyncOptions): Promise<SyncReport> {
  const span = deps.tracing?.startSpan("sync catalog", { kind: "internal" });
  const log = span ? deps.log.child({ traceId: span.traceId }) : deps.log;
  const report = await runSync({ ...deps, log }, options);
  deps.onOutcome?.(report.outcome);
  span?.setAttributes({ "ulr.sync.outcome": report.outcome });
  if (report.outcome === "failed" || report.outcome === "refused") span?.fail(report.outcome);
  span?.end();
  return report;
}

async function runSync(deps: SyncDeps, options: SyncOptions): Promise<SyncReport> {
  const startedMs = performance.now();
  const { label } = options.source;
  const log = deps.log.child({ source: label });
  let last: GoodSync | null = null;
  try {
    last = await findLastGoodSync(deps.sql);
    // The source is loaded outside a transaction, because it may be slow.
    const loaded = await options.source.load({
      etag: etagToSend(last, options),
      signal: deps.shutdownSignal,
      timeoutMs: options.timeoutMs,
    });
    const stored = await deps.sql.begin(async (tx): Promise<StoredSync | null> => {
      if (!(await tryLockTransaction(tx, "catalogSync"))) return null;
      const lastNow = await findLastGoodSync(tx);
      if (lastNow?.id !== last?.id) return null;
      if (options.onlyIfEmpty && (await existsCatalog(tx))) return null;
      const run = { label, startedMs, force: options.force ?? false };
      return storeDocument(tx, { ...run, loaded, last: lastNow });
    });
    if (!stored) {
      log.info({ event: "catalog_sync.busy" }, "another process has synced");
      return { outcome: "busy" };
    }
    const durationMs = Math.round(performance.now() - startedMs);
    const origin = describeOrigin({ source: label, dataDate: stored.dataDate });
    log.info(
      { event: "catalog_sync.done", ...stored, durationMs },
      `synced the model catalog with ${origin}`,
    );
    return stored;
  } catch (error) {
    return recordFailure(deps, { error, startedMs, source: options.source, served: last });
  }
}

/** Returns the changes that a sync would make, and whether it would hold the document. Writes nothing. Throws SourceError. */
export async function dryRunSync(
  { sql, shutdownSignal }: SyncDeps,
  { source, force = false }: SyncOptions,
): Promise<PlannedSync> {
  const loaded = await source.load({ etag: null, signal: shutdownSignal });
  if (loaded.isUnchanged) throw new SourceError("it answered with status 304");
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const last = await findLastGoodSync(tx);
    return planDocument(tx, loaded.value, { label: source.label, last, force });
  });
}

/** Returns the ETag for a conditional request: the ETag of the stored catalog, if it came from the same source. */
function etagToSend(last: GoodSync | null, { source, force }: SyncOptions): string | null {
  return !force && last?.source === source.label ? last.etag : null;
}

async function recordFailure(
  { sql, log, shutdownSignal }: SyncDeps,
  options: { error: unknown; startedMs: number; source: CatalogSource; served: GoodSync | null },
): Promise<SyncReport> {
  const { error, startedMs, source, served } = options;
  if (shutdownSignal.aborted) return { outcome: "failed", error: "the process had to stop" };
  const outcome: CatalogSyncOutcome = error instanceof SuspiciousDocument ? "refused" : "failed";
  const isKnown = error instanceof SuspiciousDocument || error instanceof SourceError;
  const reason = toStorable(isKnown ? error.message : describeStorageFailure(error), MAX_ERROR_LENGTH);
  const event = outcome === "refused" ? "catalog_sync.refused" : "catalog_sync.failed";
  const message = `cannot sync the model catalog from ${source.label}: ${reason}; ${describeServed(served)}`;
  // For a source, the message is sufficient. Database failures need the stack.
  if (isKnown) log.warn({ event }, message);
  else log.error({ event, err: error }, message);
  try {
    await insertCatalogSync(sql, {
      ...NO_COUNTS,
      startedMs,
      source: source.label,
      etag: null,
      dataDate: null,
      outcome,
      notes: [],
      error: reason,
      doubts: error instanceof SuspiciousDocument ? error.doubts : [],
    });
  } catch (cause) {
    log.error({ event: "catalog_sync.unrecorded", err: cause }, "cannot record the failed sync");
  }
  return { outcome, error: reason };
}

/** Returns the text to store for a database failure. PostgreSQL's messages may contain row values, except those about its state. */
function describeStorageFailure(error: unknown): string {
  const isAboutState = error instanceof Error && isDatabaseFault(error) && !isConnectionError(error);
  return `the catalog could not be stored${isAboutState ? `: ${error.message}` : ""}`;
}
