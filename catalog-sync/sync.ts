/** Runs a sync: loads the document, then compares, writes and records in one transaction. A failure changes nothing. */
import type { Log } from "../shared/process/log.ts";
import type { Tracing } from "../shared/tracing/tracing.ts";
import type { CatalogSyncOutcome } from "../shared/vocabulary.ts";
import type { Pool, Sql } from "../sql/connection/pool.ts";
import { insertModelEvents } from "../sql/events/events.ts";
import { tryLockTransaction } from "../sql/locks.ts";
import {
  findLastGoodSync,
  finishCatalogSync,
  type GoodSync,
  insertCatalogSync,
  type SyncCounts,
} from "../sql/models/catalog_syncs.ts";
import { listModelAliases } from "../sql/models/model_aliases.ts";
import { listModelProviders } from "../sql/models/model_providers.ts";
import { listModels } from "../sql/models/models.ts";
import { applyPlan } from "./apply.ts";
import { readDocument, type SkippedRow } from "./document.ts";
import { mapCatalog } from "./mapping.ts";
import { findSuspicion, isEmptyPlan, planSync, type StoredCatalog, type SyncPlan } from "./plan.ts";
import type { CatalogSource, LoadedSource } from "./source.ts";
import { SourceError } from "./source_error.ts";

/** Bounds a row of `catalog_syncs`. */
const MAX_NOTES = 100;
const MAX_NOTE_LENGTH = 300;
const MAX_ERROR_LENGTH = 500;

const NO_COUNTS: SyncCounts = { inserted: 0, updated: 0, gone: 0, unchanged: 0, skipped: 0 };

export interface SyncDeps {
  /** Two connections: a failure is recorded outside of the failed transaction. */
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
  /** Ignores the stored ETag and accepts a document that removes most models. */
  force?: boolean;
  /** How long a source on the network may take; 30 s when omitted. */
  timeoutMs?: number;
}

/**
 * The outcome of a sync. `busy`: another process is storing a catalog, or has stored one since this sync began; nothing is
 * recorded.
 */
export type SyncReport =
  | {
      outcome: "changed" | "unchanged";
      /** The newest date in the source's data; `null` when unknown. */
      dataDate: string | null;
      counts: SyncCounts;
      notes: readonly string[];
    }
  | {
      outcome: "refused" | "failed";
      error: string;
      /** The last good sync, whose catalog is served; `null` when there is none or the database cannot be read. */
      served: GoodSync | null;
    }
  | { outcome: "busy" };

/** A document that would damage the catalog. */
class SuspiciousDocument extends Error {
  override readonly name = "SuspiciousDocument";
}

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
  const startedAt = new Date();
  const log = deps.log.child({ source: options.source.label });
  let last: GoodSync | null = null;
  try {
    last = await findLastGoodSync(deps.sql);
    // Without a transaction, because a source may be slow.
    const loaded = await options.source.load({
      etag: etagToSend(last, options),
      signal: deps.shutdownSignal,
      timeoutMs: options.timeoutMs,
    });
    const report = await deps.sql.begin(async (tx): Promise<SyncReport> => {
      if (!(await tryLockTransaction(tx, "catalogSync"))) return { outcome: "busy" };
      const lastNow = await findLastGoodSync(tx);
      if (lastNow?.id !== last?.id) return { outcome: "busy" };
      return storeLoaded(tx, { ...options, loaded, last: lastNow, startedAt });
    });
    const durationMs = Date.now() - startedAt.getTime();
    logReport(log, report, { label: options.source.label, durationMs });
    return report;
  } catch (error) {
    return recordFailure(deps, { error, startedAt, source: options.source, served: last });
  }
}

function logReport(
  log: Log,
  report: SyncReport,
  { label, durationMs }: { label: string; durationMs: number },
): void {
  if (report.outcome === "busy") log.info({ event: "catalog_sync.busy" }, "another process has synced");
  if (!("counts" in report)) return;
  const origin = describeOrigin({ source: label, dataDate: report.dataDate });
  log.info({ event: "catalog_sync.done", ...report, durationMs }, `synced the model catalog with ${origin}`);
}

/** Returns what a sync would write, and why it would be refused. Writes nothing. Throws SourceError. */
export async function dryRunSync(
  { sql, shutdownSignal }: SyncDeps,
  { source }: SyncOptions,
): Promise<{ plan: SyncPlan; skipped: readonly SkippedRow[]; suspicion: string | null }> {
  const loaded = await source.load({ etag: null, signal: shutdownSignal });
  if (loaded.isUnchanged) throw new SourceError("it answered with status 304");
  return sql.begin("isolation level repeatable read read only", async (tx) =>
    makePlan(await readStored(tx), loaded.value),
  );
}

/** Returns the ETag for a conditional request: only that of the stored catalog, and only from the same source. */
function etagToSend(last: GoodSync | null, { source, force }: SyncOptions): string | null {
  return !force && last?.source === source.label ? last.etag : null;
}

async function storeLoaded(
  tx: Sql,
  given: SyncOptions & { loaded: LoadedSource; last: GoodSync | null; startedAt: Date },
): Promise<SyncReport> {
  const { source, force = false, loaded, last, startedAt } = given;
  const stored = await readStored(tx);
  const run = { startedAt: startedAt.toISOString(), source: source.label, error: null };
  if (loaded.isUnchanged) {
    const unchanged = stored.models.filter((model) => model.removedAt === null).length;
    const counts = { ...NO_COUNTS, unchanged };
    const { etag = null, dataDate = null } = last ?? {};
    await insertCatalogSync(tx, { ...run, ...counts, etag, dataDate, outcome: "unchanged", notes: [] });
    return { outcome: "unchanged", dataDate, counts, notes: [] };
  }
  const { plan, skipped, suspicion, dataDate } = makePlan(stored, loaded.value);
  if (suspicion !== null && !force) throw new SuspiciousDocument(suspicion);
  const { counts } = plan;
  const notes = toNotes(skipped);
  const outcome = isEmptyPlan(plan) ? "unchanged" : "changed";
  const { etag } = loaded;
  const syncId = await insertCatalogSync(tx, { ...run, ...counts, etag, dataDate, outcome, notes });
  await applyPlan(tx, plan);
  await insertModelEvents(tx, plan);
  await finishCatalogSync(tx, syncId);
  return { outcome, dataDate, counts, notes };
}

async function readStored(tx: Sql): Promise<StoredCatalog> {
  const providers = await listModelProviders(tx);
  const models = await listModels(tx);
  const [{ today }] = await tx<[{ today: string }]>`select current_date as today`;
  return { providers, models, aliases: await listModelAliases(tx), today };
}

function makePlan(
  stored: StoredCatalog,
  value: unknown,
): { plan: SyncPlan; skipped: readonly SkippedRow[]; suspicion: string | null; dataDate: string | null } {
  const read = readDocument(value);
  if (!read.ok) throw new SuspiciousDocument(read.reason);
  const mapped = mapCatalog(read.document);
  const { skipped } = read.document;
  const { dataDate } = mapped;
  return {
    plan: planSync(stored, mapped, skipped),
    skipped,
    suspicion: findSuspicion(stored, mapped),
    dataDate,
  };
}

/** Describes skipped rows, one line each, up to the limits of a record. */
export function toNotes(skipped: readonly SkippedRow[]): string[] {
  const lines = skipped.slice(0, MAX_NOTES).map(({ provider, modelId, reason }) => {
    const name = modelId === null ? provider : `${provider}/${modelId}`;
    return toStorable(`${name}: ${reason}`, MAX_NOTE_LENGTH);
  });
  const rest = skipped.length - lines.length;
  return rest > 0 ? [...lines, `and ${rest} more`] : lines;
}

/** Makes text from the document storable in PostgreSQL. */
function toStorable(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "\uFFFD");
}

async function recordFailure(
  { sql, log, shutdownSignal }: SyncDeps,
  given: { error: unknown; startedAt: Date; source: CatalogSource; served: GoodSync | null },
): Promise<SyncReport> {
  const { error, startedAt, source, served } = given;
  if (shutdownSignal.aborted) return { outcome: "failed", error: "the process had to stop", served };
  const outcome: CatalogSyncOutcome = error instanceof SuspiciousDocument ? "refused" : "failed";
  const isKnown = error instanceof SuspiciousDocument || error instanceof SourceError;
  // Messages of PostgreSQL may contain values of rows.
  const reason = toStorable(isKnown ? error.message : "the catalog could not be stored", MAX_ERROR_LENGTH);
  const event = outcome === "refused" ? "catalog_sync.refused" : "catalog_sync.failed";
  const message = `cannot sync the model catalog from ${source.label}: ${reason}; ${describeServed(served)}`;
  // The words say everything about a source. The database's failures need the stack.
  if (isKnown) log.warn({ event }, message);
  else log.error({ event, err: error }, message);
  try {
    await insertCatalogSync(sql, {
      ...NO_COUNTS,
      startedAt: startedAt.toISOString(),
      source: source.label,
      etag: null,
      dataDate: null,
      outcome,
      notes: [],
      error: reason,
    });
  } catch (cause) {
    log.error({ event: "catalog_sync.unrecorded", err: cause }, "cannot record the failed sync");
  }
  return { outcome, error: reason, served };
}

/** Says which catalog is served, and how old its data is. */
export function describeServed(served: GoodSync | null): string {
  return served ? `serving ${describeOrigin(served)}` : "there is no catalog yet";
}

/** Such as `the bundled copy of 2026-07-01`. */
export function describeOrigin({ source, dataDate }: Pick<GoodSync, "source" | "dataDate">): string {
  const what = source === "bundled" ? "the bundled copy" : `the data from ${source}`;
  return dataDate === null ? what : `${what} of ${dataDate}`;
}
