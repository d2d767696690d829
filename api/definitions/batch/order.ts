/** The order of a batch: dependencies come before the documents that need them. */
import {
  type DefinitionReference,
  pickVersion,
  writtenName,
} from "../../../shared/definitions/references.ts";
import type { WrittenDocument } from "../document.ts";

/** The documents of a batch, which all belong to one organization. */
export interface Batch {
  orgSlug: string;
  documents: readonly WrittenDocument[];
  /** The documents by type and name. */
  lines: ReadonlyMap<string, readonly WrittenDocument[]>;
}

export function makeBatch(orgSlug: string, documents: readonly WrittenDocument[]): Batch {
  return { orgSlug, documents, lines: Map.groupBy(documents, lineKey) };
}

function lineKey({ type, name }: Pick<WrittenDocument, "type" | "name">): string {
  return `${type} ${name}`;
}

type ReferenceName = Pick<DefinitionReference, "type" | "orgSlug" | "name" | "range">;

/** Returns the document of the batch that a reference resolves to once it is published, or null. */
export function findInBatch({ orgSlug, lines }: Batch, reference: ReferenceName): WrittenDocument | null {
  if (reference.orgSlug !== null && reference.orgSlug !== orgSlug) return null;
  const candidates = (lines.get(lineKey(reference)) ?? []).map((document) => ({
    document,
    version: document.version,
    status: "published" as const,
  }));
  return pickVersion(reference.range, candidates)?.document ?? null;
}

/**
 * Sorts the documents so that each comes after those it needs, and lists the circles: chains of documents of which the last
 * needs the first. Documents of a circle are in no particular order.
 */
export function sortBatch(batch: Batch): { sorted: WrittenDocument[]; circles: WrittenDocument[][] } {
  const needed = new Map(batch.documents.map((document) => [document, listNeeded(batch, document)]));
  const sorted: WrittenDocument[] = [];
  const circles: WrittenDocument[][] = [];
  const done = new Set<WrittenDocument>();
  const chain: WrittenDocument[] = [];
  // A batch has at most 200 documents, so the recursion is at most 200 deep.
  const visit = (document: WrittenDocument): void => {
    if (done.has(document)) return;
    const start = chain.indexOf(document);
    if (start >= 0) {
      circles.push(chain.slice(start));
      return;
    }
    chain.push(document);
    for (const other of needed.get(document) ?? []) visit(other);
    chain.pop();
    done.add(document);
    sorted.push(document);
  };
  for (const document of batch.documents) visit(document);
  return { sorted, circles };
}

function listNeeded(batch: Batch, { references }: WrittenDocument): Set<WrittenDocument> {
  const inTree = references.filter((reference) => reference.inTree);
  // A document may name another one thousands of times.
  const distinct = new Map(
    inTree.map((reference) => [
      JSON.stringify([reference.type, writtenName(reference), reference.range]),
      reference,
    ]),
  );
  return new Set([...distinct.values()].flatMap((reference) => findInBatch(batch, reference) ?? []));
}

/** Formats a circle for a message: `agent a@1.0.0 → agent b@1.0.0 → agent a@1.0.0`. */
export function formatCircle(circle: readonly WrittenDocument[]): string[] {
  return [...circle, ...circle.slice(0, 1)].map(({ type, name, version }) => `${type} ${name}@${version}`);
}
