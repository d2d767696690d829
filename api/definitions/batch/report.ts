/** What a validation reports about a document besides errors and warnings. */

import semver from "semver";
import { distinctNames, nameKey } from "../../../shared/definitions/name.ts";
import { writtenName } from "../../../shared/definitions/references.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { findYaml, type LineVersionRow, listLineVersions } from "../../../sql/definitions/versions.ts";
import type { DocumentWork } from "../../documents/documents.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import type { Writer } from "../new_draft.ts";
import type { VersionCheck } from "../warnings.ts";
import { type Batch, findInBatch } from "./order_and_cycles.ts";
import type { Report } from "./schemas.ts";
import type { Predecessor, ReadItem, SubmittedItem } from "./submission.ts";

/** Notes the line of each document. */
export async function noteLines(
  sql: Sql,
  { org, viewer }: Writer,
  items: readonly ReadItem[],
): Promise<void> {
  const names = distinctNames(items.map(({ document }) => document));
  const lines = Map.groupBy(await listLineVersions(sql, { orgId: org.orgId, names, viewer }), nameKey);
  for (const item of items) {
    const line = lines.get(nameKey(item.document)) ?? [];
    const predecessor = findPredecessor(line, item.document.version);
    item.line = { versions: line.map(({ version }) => version), predecessor };
    // Comparing thousands of versions takes milliseconds.
    await yieldEventLoop();
  }
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

/** Returns references as their author resolves them; those to drafts of the batch count. */
export function reportReferences(references: VersionCheck["references"], batch: Batch): Report["references"] {
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
  { document, line: { predecessor } }: SubmittedItem,
): Promise<Report["diff"]> {
  const from = predecessor && (await findYaml(sql, predecessor.id));
  // A draft may have been deleted meanwhile.
  if (!document || !predecessor || from === null) return null;
  const { type, name, content } = document;
  const mode = { format: "fields", full: false } as const;
  const compared = await work.compare({ type, name, mode, from, to: content.yaml });
  // The predecessor may be invalid by now; the document is not.
  if (!compared.ok) return null;
  const {
    suggestedBump,
    classified,
  }: Omit<NonNullable<Report["diff"]>, "against"> = JSON.parse(compared.json);
  return { against: predecessor.version, suggestedBump, classified };
}
