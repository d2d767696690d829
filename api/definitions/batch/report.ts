/** What a validation reports about a document besides errors and warnings. */

import semver from "semver";
import { distinctNames, nameKey } from "../../../shared/definitions/name.ts";
import { writtenName } from "../../../shared/definitions/references.ts";
import { nextPatch } from "../../../shared/definitions/versions.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { findYaml, type LineVersionRow, listLineVersions } from "../../../sql/definitions/versions.ts";
import type { DocumentWork } from "../../documents/documents.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import type { WrittenDocument } from "../document.ts";
import type { Writer } from "../new_draft.ts";
import type { WrittenItem } from "./apply_batch.ts";
import { type Batch, findInBatch } from "./order_and_cycles.ts";
import type { Report } from "./schemas.ts";

/** The version that a document is compared with. */
export interface Predecessor extends Pick<LineVersionRow, "id" | "orgId" | "lineId" | "version"> {
  isPublished: boolean;
}

/** The line of a document before the document is added. */
export interface LineState {
  versions: string[];
  predecessor: Predecessor | null;
}

/** Reads the lines of documents, in the same order. */
export async function readLineStates(
  sql: Sql,
  { org, viewer }: Writer,
  documents: readonly WrittenDocument[],
): Promise<LineState[]> {
  const names = distinctNames(documents);
  const rows = await listLineVersions(sql, { orgId: org.orgId, names, viewer });
  const lines = Map.groupBy(rows, nameKey);
  const states: LineState[] = [];
  for (const document of documents) {
    const line = lines.get(nameKey(document)) ?? [];
    const predecessor = findPredecessor(line, document.version);
    states.push({ versions: line.map(({ version }) => version), predecessor });
    // Comparing thousands of versions takes milliseconds.
    await yieldEventLoop();
  }
  return states;
}

/**
 * Finds the version to compare with, of a line in ascending order: the highest published or deprecated one up to the given
 * version, else the highest of these, else the highest draft.
 */
function findPredecessor(line: readonly LineVersionRow[], version: string): Predecessor | null {
  const published = line.filter(({ isResolvable }) => isResolvable);
  const found = published.findLast((row) => semver.lte(row.version, version)) ?? published.at(-1);
  const row = found ?? line.at(-1);
  return row ? { ...row, isPublished: found !== undefined } : null;
}

/** Returns `version` of the report. `nextAvailable` is the given version if it is free. */
export function reportVersion(value: string, versions: readonly string[]) {
  const exists = versions.includes(value);
  return { given: value, exists, nextAvailable: exists ? nextPatch(value, versions) : value };
}

/** Returns references as their author resolves them; those to drafts of the batch count. */
export function reportReferences(references: WrittenItem["references"], batch: Batch): Report["references"] {
  return references.map(({ reference, target }) => {
    const { type, range } = reference;
    const own = target ? null : findInBatch(batch, reference);
    return {
      type,
      name: writtenName(reference),
      range,
      resolvedVersion: target?.version ?? own?.version ?? null,
      organization: target?.organization ?? (own ? batch.orgSlug : null),
    };
  });
}

export async function reportDiff(
  { sql, work }: { sql: Sql; work: Pick<DocumentWork, "compare"> },
  { type, name, content }: WrittenDocument,
  predecessor: Predecessor | null,
): Promise<Report["diff"]> {
  const from = predecessor && (await findYaml(sql, predecessor.id));
  // A draft may have been deleted meanwhile.
  if (!predecessor || from === null) return null;
  const mode = { format: "fields", full: false } as const;
  const { yaml } = content;
  const compared = await work.compare({ type, name, mode, from, to: yaml });
  // The predecessor may be invalid by now; the document is not.
  if (!compared.ok) return null;
  const {
    suggestedBump,
    classified,
  }: Omit<NonNullable<Report["diff"]>, "against"> = JSON.parse(compared.json);
  return { against: predecessor.version, suggestedBump, classified };
}
