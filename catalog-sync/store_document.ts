/** Stores a loaded document: compares, writes and records in the caller's transaction. */
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
  /** The newest date in the source's data; `null` when unknown. */
  dataDate: string | null;
  counts: SyncCounts;
  notes: readonly string[];
}

export interface DocumentToStore {
  loaded: LoadedSource;
  /** Names the source. */
  label: string;
  /** `performance.now()` at the start of the sync. */
  startedMs: number;
  last: GoodSync | null;
  /** Accepts doubtful prices and documents. */
  force: boolean;
}

/** A document that would damage the catalog. */
export class SuspiciousDocument extends Error {
  override readonly name = "SuspiciousDocument";
  /** Empty if no later sync can confirm it. */
  readonly doubts: readonly Doubt[];

  constructor(message: string, doubts: readonly Doubt[] = []) {
    super(message);
    this.doubts = doubts;
  }
}

/** Stores the document. Throws SuspiciousDocument. */
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
 * The source still has the stored document, so this sync confirms the document's waiting prices. Rows that could not be read
 * confirm none: their prices come from an earlier document. Family names depend on the day, as with any sync.
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

/** Reads everything that a document is compared with. */
async function readStored(tx: Sql): Promise<StoredCatalog> {
  const rows = await readCatalogRows(tx);
  const [{ today }] = await tx<[{ today: string }]>`select current_date as today`;
  return { ...rows, held: await listHeldPrices(tx), today };
}

export interface PlannedSync {
  plan: SyncPlan;
  /** What could not be read. */
  notes: readonly string[];
  dataDate: string | null;
  /** Why the document waits unless the sync is forced; `null` if it does not. */
  hold: DocumentHold | null;
}

/** Compares a document with the stored catalog. Throws SuspiciousDocument if it is no catalog at all. */
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
  // The bundled copy says the same every time, and people have looked at it.
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
 * Returns null if an earlier sync had the same doubts long enough ago, or an operator has accepted them. A document that takes
 * more meanwhile has other doubts. What an operator has rejected stays rejected, however much it takes.
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

/** Writes the plan, one statement per table. */
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
