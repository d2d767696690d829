/** Describes syncs for people: unreadable rows, and the catalog that is served. */
import type { GoodSync } from "../sql/models/catalog_syncs.ts";
import type { RowProblem, SourceDocument } from "./source_document.ts";

/** The limits of the notes in a row of `catalog_syncs`. */
const MAX_NOTES = 100;
const MAX_NOTE_LENGTH = 300;

/** Describes skipped rows, then unknown fields, one per line, within the limits of a `catalog_syncs` row. */
export function toNotes({ skipped, unknown }: Pick<SourceDocument, "skipped" | "unknown">): string[] {
  const all: [string, RowProblem][] = [
    ...skipped.map((problem): [string, RowProblem] => ["skipped", problem]),
    ...unknown.map((problem): [string, RowProblem] => ["unknown", problem]),
  ];
  const lines = all.slice(0, MAX_NOTES).map(([what, { provider, modelId, reason }]) => {
    const name = modelId === null ? provider : `${provider}/${modelId}`;
    return toStorable(`${what} ${name}: ${reason}`, MAX_NOTE_LENGTH);
  });
  const rest = all.length - lines.length;
  return rest > 0 ? [...lines, `and ${rest} more`] : lines;
}

export function toStorable(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "\uFFFD");
}

/** Describes the served catalog and the age of its data. */
export function describeServed(served: GoodSync | null): string {
  return served ? `serving ${describeOrigin(served)}` : "there is no catalog yet";
}

/** Describes the origin of a catalog, such as `the bundled copy of 2026-07-01`. */
export function describeOrigin({ source, dataDate }: Pick<GoodSync, "source" | "dataDate">): string {
  const what = source === "bundled" ? "the bundled copy" : `the data from ${source}`;
  return dataDate === null ? what : `${what} of ${dataDate}`;
}
