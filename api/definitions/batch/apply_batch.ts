/** Creates and publishes the documents of a batch in one transaction, which a dry run rolls back. */
import { distinctNames, nameKey } from "../../../shared/definitions/name.ts";
import { countBelow, nextPatch } from "../../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { upsertLines } from "../../../sql/definitions/definition_lines.ts";
import { listVersionNumbersOf } from "../../../sql/definitions/versions.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { splitAddress } from "../address.ts";
import { requireDraftQuota } from "../create.ts";
import { listCycleErrors } from "../dependencies/cycle.ts";
import type { WrittenDocument } from "../document.ts";
import { requireStillWriter } from "../find_writable.ts";
import { groupBySize, MAX_CHARACTERS_AT_ONCE } from "../group_by_size.ts";
import { insertDrafts, type PlacedDraft, versionExists, type Writer } from "../new_draft.ts";
import { checkPublished, lockDependencies, storePublished } from "../publish.ts";
import { lineFull, lockQuotas } from "../quotas.ts";
import type { Warning } from "../schemas.ts";
import { type CheckedVersion, checkVersions } from "../warnings.ts";
import { type Batch, findInBatch, formatCycle, makeBatch, sortBatch } from "./order_and_cycles.ts";
import { noteLines, reportReferences } from "./report.ts";
import type { DocumentError } from "./schemas.ts";
import {
  isRead,
  isWritten,
  type ReadItem,
  type SubmittedItem,
  shifted,
  toDocumentError,
  type WrittenItem,
} from "./submission.ts";

interface BatchOptions {
  publish: boolean;
  /** Continues after errors, to find all of them. The caller must roll back the transaction. */
  isDryRun: boolean;
  /** Whether one request stores all documents. Published documents then do not count as drafts. Cycles of drafts are errors. */
  isBatch: boolean;
}

/**
 * Adds the documents to the writer's organization and records the outcome on each item. Publishes them in dependency order.
 * Skips documents that could not be parsed. If any item has errors, the caller must roll back the transaction.
 */
export async function applyBatch(
  tx: Sql,
  writer: Writer,
  { items, options }: { items: readonly SubmittedItem[]; options: BatchOptions },
): Promise<void> {
  const { publish, isDryRun, isBatch } = options;
  const read = items.filter(isRead);
  const [first] = read;
  if (!first) return;
  const documents = read.map(({ document }) => document);
  const batch = makeBatch(writer.org.slug, documents);
  const added = documents.map(({ type, name, content }) => {
    return { type, name, yamlBytes: Buffer.byteLength(content.yaml) };
  });
  if (!isDryRun && read.length > 1) await lockQuotas(tx, writer.org);
  const drafts = isBatch && publish ? 0 : added.length;
  await requireDraftQuota(tx, writer, added, drafts).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    first.errors.push(toDocumentError(error));
  });
  const { sorted, cycles } = await sortBatch(batch);
  if (isBatch && !publish) noteDraftCycles(read, cycles);
  await addDrafts(tx, writer, { read, isDryRun });
  const written = read.filter(isWritten);
  if (!isDryRun) await requireStillWriter(tx, writer);
  if (publish) {
    const byDocument = new Map(written.map((item) => [item.document, item]));
    const inOrder = sorted.flatMap((document) => byDocument.get(document) ?? []);
    await storePublished(tx, writer, inOrder);
  }
  await noteChecks(tx, writer, { written, batch, options });
  if (publish) await noteCycles(tx, writer, { written, isDryRun });
}

function noteDraftCycles(items: readonly ReadItem[], cycles: readonly WrittenDocument[][]): void {
  for (const documents of cycles) {
    const cycle = formatCycle(documents);
    const message = `These documents depend on each other: ${cycle.join(" → ")}`;
    const error: DocumentError = { code: "DEPENDENCY_CYCLE", message, details: { cycle } };
    items.find(({ document }) => document === documents[0])?.errors.push(error);
  }
}

/** Adds the drafts with a few statements per group. Skips drafts without a free version number. */
async function addDrafts(
  tx: Sql,
  writer: Writer,
  options: { read: readonly ReadItem[]; isDryRun: boolean },
): Promise<void> {
  const placed = await placeDrafts(tx, writer, options);
  const sizeOf = ({ draft: { document } }: PlacedDraft) =>
    document.content.yaml.length + (document.content.runtimeMd?.length ?? 0);
  for (const group of groupBySize(placed, { sizeOf, max: MAX_CHARACTERS_AT_ONCE })) {
    await insertDrafts(tx, writer, group);
    for (const { id, item, draft } of group) {
      const { lineId, visibility, document } = draft;
      const { type, name, version, content } = document;
      const address = { lineId, orgSlug: writer.org.slug, type, name, version };
      item.row = { id, ...address, status: "draft", visibility, hash: content.hash };
    }
    await yieldEventLoop();
  }
}

/** Locks the lines of the documents. Checks that the version numbers are free and that the lines are not full. */
async function placeDrafts(
  tx: Sql,
  writer: Writer,
  { read, isDryRun }: { read: readonly ReadItem[]; isDryRun: boolean },
): Promise<(PlacedDraft & { item: ReadItem })[]> {
  const names = distinctNames(read.map(({ document }) => document));
  const lines = await upsertLines(tx, writer.org.orgId, names);
  const lineIds = new Map(lines.map((line) => [nameKey(line), line.id]));
  if (isDryRun) await noteLines(tx, writer, read);
  const stored = await listVersionNumbersOf(tx, [...lineIds.values()]);
  const placed: (PlacedDraft & { item: ReadItem })[] = [];
  for (const item of read) {
    const lineId = lineIds.get(nameKey(item.document));
    if (lineId === undefined) throw new Error(`Cannot find the line of ${nameKey(item.document)}`);
    const versions = stored.get(lineId) ?? [];
    const { document } = item;
    const first = placed.find(
      ({ draft }) => draft.lineId === lineId && draft.document.version === document.version,
    );
    const taken = versionTaken(writer, document, { versions, first: first?.item });
    const error = taken ?? lineFull(versions.length);
    if (error) item.errors.push(toDocumentError(error));
    // A dry run continues with a free version number to find the document's other problems.
    const free = taken && isDryRun ? nextPatch(document.version, versions) : null;
    const version = taken ? free : document.version;
    if (version !== null) {
      const { visibility, provenance } = item.submission;
      const action = "definition.create" as const;
      const draft = { lineId, document: { ...document, version }, visibility, provenance, action };
      placed.push({ id: crypto.randomUUID(), item, draft, versions });
      stored.set(lineId, versions.toSpliced(countBelow(version, versions), 0, version));
    }
    // Comparing thousands of versions takes milliseconds.
    await yieldEventLoop();
  }
  // Includes all versions of the batch, so that the change type does not depend on the order in the request.
  return placed.map((one) => ({ ...one, versions: stored.get(one.draft.lineId) ?? [] }));
}

/** Returns VERSION_EXISTS if the line has the version. `first` is the earlier document of the batch with that version, if any. */
function versionTaken(
  { org }: Writer,
  { type, name, version }: WrittenDocument,
  { versions, first }: { versions: readonly string[]; first: SubmittedItem | undefined },
): ApiError | null {
  if (!versions.includes(version)) return null;
  if (!first) return versionExists({ type, name, version, orgSlug: org.slug }, versions);
  const message = TEXTS.VERSION_EXISTS.batch({ type, name, version }, first.index);
  return new ApiError("VERSION_EXISTS", {
    message,
    details: { nextAvailable: nextPatch(version, versions) },
  });
}

async function noteChecks(
  tx: Sql,
  writer: Writer,
  { written, batch, options }: { written: readonly WrittenItem[]; batch: Batch; options: BatchOptions },
): Promise<void> {
  const { publish, isDryRun } = options;
  // Only members can read a draft, whatever its visibility.
  const checks = publish
    ? await checkPublished(tx, writer, written)
    : await checkVersions(tx, writer, written.map(asPrivate));
  for (const [index, item] of written.entries()) {
    const { warnings = [], references = [] } = checks[index] ?? {};
    item.warnings = [...warnings, ...item.earlyWarnings]
      .filter((warning) => publish || !resolvesInBatch(warning, batch))
      .map((warning) => shifted(warning, item.submission));
    if (!isDryRun) continue;
    item.references = reportReferences(references, batch);
    await yieldEventLoop();
  }
}

function asPrivate({ row, ...version }: WrittenItem): CheckedVersion {
  return { ...version, row: { ...row, visibility: "private" } };
}

/** Searches for cycles after publishing the whole batch, because each version may depend on any other. */
async function noteCycles(
  tx: Sql,
  writer: Writer,
  { written, isDryRun }: { written: readonly WrittenItem[]; isDryRun: boolean },
): Promise<void> {
  // A dry run is rolled back, so other publications need not see its versions.
  if (!isDryRun) await lockDependencies(tx, written);
  const cycles = await listCycleErrors(tx, writer, written);
  for (const item of written) {
    const cycle = cycles.get(item.row.id);
    if (cycle) item.errors.push(toDocumentError(cycle));
    item.row = { ...item.row, status: "published" };
  }
}

/** Returns true if an unresolved reference will resolve once the drafts of the batch are published. */
function resolvesInBatch({ code, details }: Warning, batch: Batch): boolean {
  if (code !== "UNRESOLVED_REFERENCE") return false;
  const { type, name, range } = details as { type: DefinitionType; name: string; range: string };
  return findInBatch(batch, { type, range, ...splitAddress(name) }) !== null;
}
