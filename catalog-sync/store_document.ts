/** Stores a loaded document in the caller's transaction: compares it, writes the changes and records the sync. */
import type { Sql } from "../sql/connection/pool.ts";
import { insertModelEvents } from "../sql/events/events.ts";
import { readCatalogRows } from "../sql/models/catalog_snapshot.ts";
import {
  finishCatalogSync,
  type GoodSync,
  insertCatalogSync,
  listRefusedDoubts,
  type SyncCounts,
} from "../sql/models/catalog_syncs.ts";
import {
  deleteHeldPrices,
  listHeldPrices,
  takeHeldPrices,
  upsertHeldPrices,
} from "../sql/models/held_prices.ts";
import { upsertGeneratedAliases } from "../sql/models/model_aliases.ts";
import { markModelProvidersGone, upsertModelProviders } from "../sql/models/model_providers.ts";
import { markModelsGone, markModelsStale, modelKeyText, upsertModels } from "../sql/models/models.ts";
import { type DocumentHold, type Doubt, describeHold, findDoubts } from "./document_doubts.ts";
import { mapCatalog } from "./map_catalog.ts";
import { toNotes } from "./notes.ts";
import { isEmptyPlan, planAliases, planSync, type StoredCatalog, type SyncPlan } from "./plan.ts";
import type { LoadedSource } from "./source.ts";
import { readDocument } from "./source_document.ts";

export const NO_COUNTS: SyncCounts = { inserted: 0, updated: 0, gone: 0, unchanged: 0, skipped: 0, held: 0 };

/** A sync that changed or confirmed the catalog. */
export interface StoredSync {
  outcome: "changed" | "unchanged";
  /** The newest date in the source's data; `null` if unknown. */
  dataDate: string | null;
  counts: SyncCounts;
  notes: readonly string[];
}

export interface DocumentToStore {
  loaded: LoadedSource;
  /** The name of the source. */
  label: string;
  /** The value of `performance.now()` at the start of the sync. */
  startedMs: number;
  last: GoodSync | null;
  /** True to accept doubtful prices and documents. */
  force: boolean;
}

/** The document would damage the catalog. */
export class SuspiciousDocument extends Error {
  override readonly name = "SuspiciousDocument";
  /** The doubts that a later sync can confirm; empty if none can be confirmed. */
  readonly doubts: readonly Doubt[];

  constructor(message: string, doubts: readonly Doubt[] = []) {
    super(message);
    this.doubts = doubts;
  }
}

/** Stores the document. Throws SuspiciousDocument if the document is held or unusable. */
export async function storeDocument(tx: Sql, options: DocumentToStore): Promise<StoredSync> {
  if (options.loaded.isUnchanged) return confirmStored(tx, options);
  const { label, startedMs, force } = options;
  const { plan, notes, dataDate, hold } = await planDocument(tx, options.loaded.value, options);
  if (hold && !force) throw new SuspiciousDocument(describeHold(hold), hold.doubts);
  const { counts } = plan;
  const outcome = isEmptyPlan(plan) ? "unchanged" : "changed";
  const { etag } = options.loaded;
  const run = { startedMs, source: label, error: null };
  const syncId = await insertCatalogSync(tx, { ...run, ...counts, etag, dataDate, outcome, notes });
  await applyPlan(tx, plan);
  await insertModelEvents(tx, plan);
  await finishCatalogSync(tx, syncId);
  return { outcome, dataDate, counts, notes };
}

/**
 * Records a sync whose source still has the stored document. The sync confirms the document's held prices. It does not
 * confirm the prices of unreadable rows, which come from an earlier document. Aliases are planned again, because family names
 * depend on the day.
 */
async function confirmStored(tx: Sql, { label, startedMs, last }: DocumentToStore): Promise<StoredSync> {
  const stored = await readStored(tx);
  const { held } = stored;
  const models = stored.models.filter((model) => model.removedAt === null);
  const stale = new Set(models.filter((model) => model.staleSince !== null).map(modelKeyText));
  const confirmed = held.filter((row) => !stale.has(modelKeyText(row)));
  const due = confirmed.filter(({ isDue }) => isDue);
  const waiting = confirmed.filter(({ isDue }) => !isDue);
  const { etag = null, dataDate = null, skipped = 0 } = last ?? {};
  const counts = {
    ...NO_COUNTS,
    updated: due.length,
    unchanged: models.length - stale.size - due.length,
    skipped,
    held: held.length - due.length,
  };
  const aliases = planAliases(stored, models);
  const outcome = due.length > 0 || aliases.length > 0 ? "changed" : "unchanged";
  const run = { startedMs, source: label, error: null, notes: [] };
  const syncId = await insertCatalogSync(tx, { ...run, ...counts, etag, dataDate, outcome });
  await upsertHeldPrices(tx, waiting);
  const priceChanges = await takeHeldPrices(tx, due);
  await upsertGeneratedAliases(tx, aliases);
  await insertModelEvents(tx, { added: [], gone: [], priceChanges });
  await finishCatalogSync(tx, syncId);
  return { outcome, dataDate, counts, notes: [] };
}

/** Reads the stored catalog for the comparison with a document. */
async function readStored(tx: Sql): Promise<StoredCatalog> {
  const rows = await readCatalogRows(tx);
  const [{ today }] = await tx<[{ today: string }]>`select current_date as today`;
  return { ...rows, held: await listHeldPrices(tx), today };
}

export interface PlannedSync {
  plan: SyncPlan;
  /** The rows and fields that could not be read. */
  notes: readonly string[];
  dataDate: string | null;
  /** The reason why the document is held unless the sync is forced; `null` if it is not held. */
  hold: DocumentHold | null;
}

/** Compares a document with the stored catalog. Throws SuspiciousDocument if the document contains no catalog. */
export async function planDocument(
  tx: Sql,
  value: unknown,
  { label, last, force }: Pick<DocumentToStore, "label" | "last" | "force">,
): Promise<PlannedSync> {
  const stored = await readStored(tx);
  const read = readDocument(value);
  if (!read.ok) throw new SuspiciousDocument(read.reason);
  const mapped = mapCatalog(read.document);
  if (!force && mapped.models.length === 0) {
    throw new SuspiciousDocument(
      `the document has no ${mapped.providers.length === 0 ? "provider" : "model"}`,
    );
  }
  // The bundled copy is always the same and has been reviewed, so it raises no doubts.
  const isBundled = label === "bundled";
  const doubts = isBundled ? [] : findDoubts(stored, mapped, { isOldCopy: last?.source === "bundled" });
  return {
    plan: planSync(stored, mapped, { takesAll: force || isBundled }),
    notes: toNotes(read.document),
    dataDate: mapped.dataDate,
    hold: await findHold(tx, doubts, label),
  };
}

/**
 * Returns the doubts that hold a document. Returns null if an operator has accepted each doubt, or an earlier sync had the
 * same doubt long enough ago. If the document removes more than it did then, its doubts are different. A document with a
 * rejected doubt stays held, regardless of how much it removes.
 */
async function findHold(tx: Sql, doubts: readonly Doubt[], label: string): Promise<DocumentHold | null> {
  if (doubts.length === 0) return null;
  const earlier = (await listRefusedDoubts(tx)).filter(({ source }) => source === label);
  const isRejected = earlier.some(
    ({ doubt, decision }) => decision === "rejected" && doubts.some(({ code }) => code === doubt),
  );
  const isConfirmed = ({ code, extent }: Doubt) =>
    earlier.some(
      (row) => row.doubt === code && row.extent === extent && (row.decision === "accepted" || row.isDue),
    );
  return !isRejected && doubts.every(isConfirmed) ? null : { doubts, isRejected };
}

/** Writes the plan with one statement per table. */
async function applyPlan(tx: Sql, plan: SyncPlan): Promise<void> {
  await upsertModelProviders(tx, plan.providers);
  await upsertModels(tx, [...plan.inserted, ...plan.updated]);
  await markModelsGone(tx, plan.gone);
  await markModelsStale(tx, plan.stale);
  await deleteHeldPrices(tx, plan.released);
  await upsertHeldPrices(tx, plan.held);
  await markModelProvidersGone(tx, plan.goneProviders);
  await upsertGeneratedAliases(tx, plan.aliases);
}
