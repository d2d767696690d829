/** Builds the parts of a validation report other than errors and warnings. */
import semver from "semver";
import { distinctNames, nameKey } from "../../../shared/definitions/name.ts";
import { writtenName } from "../../../shared/definitions/references.ts";
import { pickVersion } from "../../../shared/definitions/version_range.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { listDependents, listReferencedRanges } from "../../../sql/definitions/dependents.ts";
import { findYaml, type LineVersionRow, listLineVersions } from "../../../sql/definitions/versions.ts";
import type { DocumentWork } from "../../documents/documents.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { type OnStep, resolveInTurn } from "../dependencies/resolve_in_turn.ts";
import { filterRanges } from "../dependencies.ts";
import type { WrittenDocument } from "../document.ts";
import type { Writer } from "../new_draft.ts";
import type { VersionCheck } from "../warnings.ts";
import { type Batch, findInBatch } from "./order_and_cycles.ts";
import type { Report } from "./schemas.ts";
import type { Predecessor, ReadItem, SubmittedItem } from "./submission.ts";

/** Sets the `line` of each item: the versions of its line, and the predecessor of its document. */
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
 * Finds the version to compare with. `line` must be in ascending order. Prefers the highest published or deprecated version up
 * to `version`, then the highest published or deprecated version, then the highest version.
 */
function findPredecessor(line: readonly LineVersionRow[], version: string): Predecessor | null {
  const published = line.filter(({ isResolvable }) => isResolvable);
  const found = published.findLast((row) => semver.lte(row.version, version)) ?? published.at(-1);
  const row = found ?? line.at(-1);
  return row ? { ...row, isPublished: found !== undefined } : null;
}

/** Returns the references as resolved for the author, including references to drafts of the batch. */
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
  // The predecessor may be a draft that has been deleted in the meantime.
  if (!document || !predecessor || from === null) return null;
  const { type, name, content } = document;
  const mode = { format: "fields", full: false } as const;
  const compared = await work.compare({ type, name, mode, from, to: content.yaml });
  // Only the predecessor can be invalid under the current rules.
  if (!compared.ok) return null;
  const {
    suggestedBump,
    classified,
  }: Pick<NonNullable<Report["diff"]>, "suggestedBump" | "classified"> = JSON.parse(compared.json);
  return { against: predecessor.version, isPublished: predecessor.isPublished, suggestedBump, classified };
}

/** Maximum broken dependents per document. */
const MAX_BREAKS = 200;

/** A document and the published version before it. */
interface Upgrade {
  document: WrittenDocument;
  predecessor: Predecessor;
}

/**
 * Returns the published dependents that each document breaks: their range accepts the predecessor but not the new version.
 * Includes only dependents visible to the author. Throws SERVICE_UNAVAILABLE if this takes too long or the client has gone.
 */
export async function listBreaks(
  deps: OperationDeps,
  { writer, request }: { writer: Writer; request: Request },
  items: readonly SubmittedItem[],
): Promise<Map<WrittenDocument, Report["breaks"]>> {
  const upgrades = items.flatMap(({ document, line: { predecessor } }) =>
    document && predecessor?.isPublished && semver.lt(predecessor.version, document.version)
      ? [{ document, predecessor }]
      : [],
  );
  if (upgrades.length === 0) return new Map();
  const lines = Map.groupBy(upgrades, ({ document }) => nameKey(document));
  return resolveInTurn(deps, request, async (tx, onStep) => {
    const breaks = new Map<WrittenDocument, Report["breaks"]>();
    for (const line of lines.values()) {
      for (const [document, found] of await breaksOfLine(tx, line, { writer, onStep })) {
        breaks.set(document, found);
      }
      onStep();
    }
    return breaks;
  });
}

/** Finds the broken dependents of one line. Queries its ranges once, and the dependents once per distinct set of ranges. */
async function breaksOfLine(
  sql: Sql,
  line: readonly Upgrade[],
  { writer: { org, viewer }, onStep }: { writer: Writer; onStep: OnStep },
): Promise<Map<WrittenDocument, Report["breaks"]>> {
  const [first] = line;
  if (!first) return new Map();
  const { type, name } = first.document;
  const target = { orgId: org.orgId, type, name };
  const named = await listReferencedRanges(sql, { target, viewer });
  onStep();
  const read = new Map<string, Report["breaks"]>();
  const breaks = new Map<WrittenDocument, Report["breaks"]>();
  for (const { document, predecessor } of line) {
    const leaves = (range: string) =>
      accepts(range, predecessor.version) && !accepts(range, document.version);
    const ranges = await filterRanges(named, leaves, { versions: 2, onStep });
    const key = JSON.stringify(ranges);
    const found = read.get(key) ?? (await breaksOfRanges(sql, { target, ranges, viewer }));
    read.set(key, found);
    breaks.set(document, found);
    onStep();
  }
  return breaks;
}

function accepts(range: string, version: string): boolean {
  return pickVersion(range, [{ version, status: "published" as const }]) !== null;
}

async function breaksOfRanges(
  sql: Sql,
  given: Pick<Parameters<typeof listDependents>[1], "target" | "ranges" | "viewer">,
): Promise<Report["breaks"]> {
  const { dependents } = await listDependents(sql, { ...given, limit: MAX_BREAKS, isPublished: true });
  return dependents.map(({ organization, type, name, version, range }) => {
    return { organization, type, name, version, range };
  });
}
