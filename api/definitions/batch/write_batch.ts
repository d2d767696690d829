/** Creates and publishes documents in one transaction, or tries to and rolls back. */
import { ApiError } from "../../../shared/errors.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import { splitAddress } from "../address.ts";
import { addNewDraft, lineKeyOf, requireDraftQuota } from "../create.ts";
import type { WrittenDocument } from "../document.ts";
import type { Writer } from "../new_draft.ts";
import { listCycleErrors, listWarningsOf, lockDependencies, storePublished } from "../publish.ts";
import type { Warning } from "../warnings/warnings.ts";
import { type Batch, findInBatch, formatCircle, makeBatch, sortBatch } from "./order.ts";
import { type DocumentError, type SubmittedItem, shifted, toDocumentError } from "./submission.ts";

/** An item whose document could be read. */
export type ReadItem = SubmittedItem & { document: WrittenDocument };

/** A document in the transaction. */
export interface WrittenItem {
  item: ReadItem;
  row: DefinitionRow;
  warnings: Warning[];
}

export interface BatchOptions {
  publish: boolean;
  /** Goes on after errors, to find all of them. The transaction must be rolled back. */
  isDryRun: boolean;
  /** Rejects documents that need each other in a circle, although they stay drafts. */
  rejectsCircles: boolean;
}

/**
 * Adds the documents to the writer's organization, in dependency order. Problems are added to the items; if there are any,
 * the transaction has to be rolled back. Documents that could not be read are skipped.
 */
export async function applyBatch(
  tx: Sql,
  writer: Writer,
  { items, options }: { items: readonly SubmittedItem[]; options: BatchOptions },
): Promise<WrittenItem[]> {
  const read = items.filter(isRead);
  const batch = makeBatch(
    writer.org.slug,
    read.map(({ document }) => document),
  );
  if (options.publish) await lockDependencies(tx, batch.documents);
  const added = read.map(({ document }) => ({
    key: lineKeyOf(writer, document),
    yamlBytes: Buffer.byteLength(document.content.yaml),
  }));
  if (added.length > 0) await collect(read.slice(0, 1), () => requireDraftQuota(tx, writer, added));
  const { sorted, circles } = sortBatch(batch);
  if (options.rejectsCircles) noteCircles(read, circles);
  const written = await addDrafts(tx, writer, { read, options });
  written.sort((a, b) => sorted.indexOf(a.item.document) - sorted.indexOf(b.item.document));
  if (options.publish) await publishAll(tx, writer, written);
  for (const one of written)
    one.warnings = await warningsOf(tx, writer, { one, batch, publish: options.publish });
  return written.sort((a, b) => a.item.index - b.item.index);
}

export function isRead(item: SubmittedItem): item is ReadItem {
  return item.document !== null;
}

/** Adds the errors that a step throws to the items. */
async function collect(items: readonly SubmittedItem[], step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    for (const { errors } of items) errors.push(toDocumentError(error));
  }
}

function noteCircles(items: readonly ReadItem[], circles: readonly WrittenDocument[][]): void {
  for (const circle of circles) {
    const cycle = formatCircle(circle);
    const message = `These documents depend on each other: ${cycle.join(" → ")}`;
    const error: DocumentError = { code: "DEPENDENCY_CYCLE", message, details: { cycle } };
    items.find(({ document }) => document === circle[0])?.errors.push(error);
  }
}

/** Adds the drafts in the order of their names: writers that lock several lines lock them in the same order. */
async function addDrafts(
  tx: Sql,
  writer: Writer,
  { read, options }: { read: readonly ReadItem[]; options: BatchOptions },
): Promise<WrittenItem[]> {
  const written: WrittenItem[] = [];
  for (const item of read.toSorted(compareNames)) {
    const { visibility, provenance } = item.submission;
    const add = async (document: WrittenDocument) => {
      const row = await addNewDraft(tx, writer, { document, visibility, provenance });
      written.push({ item, row, warnings: [] });
    };
    await collect([item], async () => {
      try {
        await add(item.document);
      } catch (error) {
        // A dry run goes on with a free version, to report everything else about the document.
        const version = options.isDryRun ? nextAvailable(error) : null;
        if (version !== null) await add({ ...item.document, version });
        throw error;
      }
    });
  }
  return written;
}

function compareNames({ document: a }: ReadItem, { document: b }: ReadItem): number {
  const [first, second] = [`${a.type} ${a.name}`, `${b.type} ${b.name}`];
  return first < second ? -1 : Number(first > second);
}

function nextAvailable(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.code !== "VERSION_EXISTS") return null;
  const next = error.details?.["nextAvailable"];
  return typeof next === "string" ? next : null;
}

/** Publishes the drafts in this order, then looks for cycles: each may need any other. */
async function publishAll(tx: Sql, writer: Writer, written: readonly WrittenItem[]): Promise<void> {
  const publications = written.map(({ item, row }) => ({ ...item, row }));
  for (const publication of publications) await storePublished(tx, writer, publication);
  const cycles = await listCycleErrors(tx, writer, publications);
  for (const one of written) {
    const cycle = cycles.get(one.row);
    if (cycle) one.item.errors.push(toDocumentError(cycle));
    one.row = { ...one.row, status: "published" };
  }
}

async function warningsOf(
  tx: Sql,
  writer: Writer,
  { one: { item, row }, batch, publish }: { one: WrittenItem; batch: Batch; publish: boolean },
): Promise<Warning[]> {
  // Until it is published, a version is for members, whatever its visibility.
  const shownTo = publish ? row : { ...row, visibility: "private" as const };
  const warnings = await listWarningsOf(tx, writer, { ...item, row: shownTo });
  return warnings
    .filter((warning) => publish || !resolvesInBatch(warning, batch))
    .map((warning) => shifted(warning, item.submission));
}

/** Drafts of a batch resolve to each other as soon as they are published. */
function resolvesInBatch({ code, details }: Warning, batch: Batch): boolean {
  if (code !== "UNRESOLVED_REFERENCE") return false;
  const { type, name, range } = details as { type: DefinitionType; name: string; range: string };
  return findInBatch(batch, { type, range, ...splitAddress(name) }) !== null;
}
