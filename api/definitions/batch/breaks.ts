/** The published dependents that documents would break. */
import semver from "semver";
import { pickVersion } from "../../../shared/definitions/version_range.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { listDependents, listReferencedRanges } from "../../../sql/definitions/dependents.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { type OnStep, resolveInTurn } from "../dependencies/resolve_in_turn.ts";
import { filterRanges } from "../dependencies.ts";
import type { WrittenDocument } from "../document.ts";
import type { Writer } from "../new_draft.ts";
import type { Report } from "./schemas.ts";
import type { Predecessor, SubmittedItem } from "./submission.ts";

/** Further broken dependents are left out. */
const MAX_BREAKS = 200;

/** A document and the published version before it. */
interface Upgrade {
  document: WrittenDocument;
  predecessor: Predecessor;
}

/**
 * Returns, for each document that breaks any, the published dependents, visible to the author, whose ranges accept the
 * predecessor but not the version. Throws SERVICE_UNAVAILABLE if that takes too long, or if the request is over.
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
  const lines = Map.groupBy(upgrades, ({ predecessor }) => predecessor.lineId);
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

/** Reads the ranges of the line once, and the dependents once for all documents that leave the same ranges. */
async function breaksOfLine(
  sql: Sql,
  line: readonly Upgrade[],
  { writer: { viewer }, onStep }: { writer: Writer; onStep: OnStep },
): Promise<Map<WrittenDocument, Report["breaks"]>> {
  const [first] = line;
  if (!first) return new Map();
  const { type, name } = first.document;
  const { orgId, lineId } = first.predecessor;
  const target = { orgId, lineId, type, name };
  const named = await listReferencedRanges(sql, { target, viewer });
  onStep();
  const read = new Map<string, Report["breaks"]>([["[]", []]]);
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
