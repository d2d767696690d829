/** Sorts the documents of a batch, dependencies first, and finds cycles. */
import { nameKey } from "../../../shared/definitions/name.ts";
import type { DefinitionReference } from "../../../shared/definitions/references.ts";
import { pickVersion } from "../../../shared/definitions/version_range.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import type { WrittenDocument } from "../document.ts";

/** The documents of a batch, which all belong to one organization. */
export interface Batch {
  orgSlug: string;
  documents: readonly WrittenDocument[];
  /** The documents by type and name. */
  lines: ReadonlyMap<string, readonly WrittenDocument[]>;
  /** Cached results of `findInBatch`, because a document may reference another one thousands of times. */
  found: Map<string, WrittenDocument | null>;
}

export function makeBatch(orgSlug: string, documents: readonly WrittenDocument[]): Batch {
  return { orgSlug, documents, lines: Map.groupBy(documents, nameKey), found: new Map() };
}

type ReferenceName = Pick<DefinitionReference, "type" | "orgSlug" | "name" | "range">;

/** Returns the document that a reference will resolve to once the batch is published, or null. */
export function findInBatch(
  { orgSlug, lines, found }: Batch,
  reference: ReferenceName,
): WrittenDocument | null {
  if (reference.orgSlug !== null && reference.orgSlug !== orgSlug) return null;
  const line = nameKey(reference);
  const documents = lines.get(line);
  if (!documents) return null;
  const key = `${line} ${reference.range}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const candidates = documents.map((document) => {
    return { document, version: document.version, status: "published" as const };
  });
  const document = pickVersion(reference.range, candidates)?.document ?? null;
  found.set(key, document);
  return document;
}

/** Ranges resolved per turn of the event loop (about 8 ms with 200 candidate versions). */
const RANGES_PER_TURN = 20;
/** References checked per turn if their range is cached or their line is not in the batch. */
const REFERENCES_PER_TURN = 1000;

/**
 * Sorts the documents so that each follows its dependencies. Also returns cycles, at most one per starting document. In a
 * cycle, each document needs the next, and the last needs the first. The documents of a cycle are in no particular order.
 */
export async function sortBatch(
  batch: Batch,
): Promise<{ sorted: WrittenDocument[]; cycles: WrittenDocument[][] }> {
  const needed = new Map<WrittenDocument, Set<WrittenDocument>>();
  for (const document of batch.documents) needed.set(document, await listNeeded(batch, document));
  const sorted: WrittenDocument[] = [];
  const cycles = new Map<WrittenDocument, WrittenDocument[]>();
  const done = new Set<WrittenDocument>();
  const chain: WrittenDocument[] = [];
  // A batch has at most 200 documents, so the recursion is at most 200 deep.
  const visit = (document: WrittenDocument): void => {
    if (done.has(document)) return;
    const start = chain.indexOf(document);
    if (start >= 0) {
      if (!cycles.has(document)) cycles.set(document, chain.slice(start));
      return;
    }
    chain.push(document);
    for (const other of needed.get(document) ?? []) visit(other);
    chain.pop();
    done.add(document);
    sorted.push(document);
  };
  for (const document of batch.documents) visit(document);
  return { sorted, cycles: [...cycles.values()] };
}

async function listNeeded(batch: Batch, { references }: WrittenDocument): Promise<Set<WrittenDocument>> {
  const needed = new Set<WrittenDocument>();
  let resolved = batch.found.size;
  for (const [index, reference] of references.entries()) {
    if (index % REFERENCES_PER_TURN === 0 || batch.found.size - resolved >= RANGES_PER_TURN) {
      await yieldEventLoop();
      resolved = batch.found.size;
    }
    const found = findInBatch(batch, reference);
    if (found && reference.inTree) needed.add(found);
  }
  return needed;
}

/** Formats a cycle as a list that repeats its start: `agent a@1.0.0`, `agent b@1.0.0`, `agent a@1.0.0`. */
export function formatCycle(cycle: readonly WrittenDocument[]): string[] {
  return [...cycle, ...cycle.slice(0, 1)].map(({ type, name, version }) => `${type} ${name}@${version}`);
}
