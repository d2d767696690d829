/** What a validation reports about a document besides errors and warnings. */

import semver from "semver";
import { pickVersion, writtenName } from "../../../shared/definitions/ref.ts";
import type { ClassifiedChange } from "../../../shared/definitions/significance.ts";
import { nextPatch } from "../../../shared/definitions/versions.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import {
  listDependents,
  listReferencedRanges,
  listVersionCandidates,
} from "../../../sql/definitions/dependents.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import { findLineId } from "../../../sql/definitions/lines.ts";
import { listDefinitionReferences } from "../../../sql/definitions/references.ts";
import {
  findDefinitionById,
  findLatestDefinition,
  listVersionNumbers,
} from "../../../sql/definitions/versions.ts";
import type { DocumentWork } from "../../documents/documents.ts";
import { lineKeyOf } from "../create.ts";
import type { WrittenDocument } from "../document.ts";
import type { Writer } from "../new_draft.ts";
import { resolveReferences } from "../resolved_references.ts";
import { type Batch, findInBatch } from "./order.ts";

/** Further broken dependents are left out. */
const MAX_BREAKS = 200;

/** The version that a document is compared with. */
export interface Predecessor {
  version: string;
  yaml: string;
  isPublished: boolean;
}

/** The line of a document before the document is added. */
export interface LineState {
  versions: string[];
  predecessor: Predecessor | null;
}

/** Reads the line of a document. */
export async function readLineState(sql: Sql, writer: Writer, document: WrittenDocument): Promise<LineState> {
  const lineId = await findLineId(sql, lineKeyOf(writer, document));
  if (lineId === null) return { versions: [], predecessor: null };
  const versions = await listVersionNumbers(sql, lineId);
  return { versions, predecessor: await findPredecessor(sql, { lineId, writer, version: document.version }) };
}

/**
 * Finds the version to compare with: the highest published or deprecated one up to the given version, else the highest of
 * these, else the highest draft.
 */
async function findPredecessor(
  sql: Sql,
  { lineId, writer: { viewer }, version }: { lineId: string; writer: Writer; version: string },
): Promise<Predecessor | null> {
  const published = (await listVersionCandidates(sql, { lineId, viewer }))
    .filter(({ status }) => status !== "archived")
    .toSorted((a, b) => semver.rcompare(a.version, b.version));
  const found = published.find((candidate) => semver.lte(candidate.version, version)) ?? published[0];
  if (!found) {
    const latest = await findLatestDefinition(sql, lineId);
    return latest && { version: latest.version, yaml: latest.yaml, isPublished: false };
  }
  const row = await findDefinitionById(sql, { id: found.id, viewer });
  return row && { version: row.version, yaml: row.yaml, isPublished: true };
}

/** Returns `version` of the report. `nextAvailable` is the given version if it is free. */
export function reportVersion(given: string, versions: readonly string[]) {
  const exists = versions.includes(given);
  return { given, exists, nextAvailable: exists ? nextPatch(given, versions) : given };
}

export interface ReportedReference {
  type: DefinitionType;
  name: string;
  range: string;
  resolvedVersion: string | null;
  /** Slug of the organization that has the definition. */
  organization: string | null;
}

/** Returns the references of a stored version as its author resolves them; those to drafts of the batch count. */
export async function reportReferences(
  sql: Sql,
  { viewer }: Writer,
  { row, batch }: { row: DefinitionRow; batch: Batch },
): Promise<ReportedReference[]> {
  const references = await listDefinitionReferences(sql, row.id);
  const resolved = await resolveReferences(sql, { references, viewer });
  return resolved.map(({ reference, target }) => {
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

export interface BrokenDependent {
  /** Slug of its organization. */
  organization: string;
  type: DefinitionType;
  name: string;
  version: string;
  range: string;
}

/** Returns the published dependents, visible to the author, whose ranges accept the predecessor but not the version. */
export async function reportBreaks(
  sql: Sql,
  { viewer }: Writer,
  { row, version, predecessor }: { row: DefinitionRow; version: string; predecessor: Predecessor | null },
): Promise<BrokenDependent[]> {
  if (!predecessor?.isPublished || semver.gte(predecessor.version, version)) return [];
  const accepts = (range: string, candidate: string) =>
    pickVersion(range, [{ version: candidate, status: "published" as const }]) !== null;
  const ranges = (await listReferencedRanges(sql, row)).filter(
    (range) => accepts(range, predecessor.version) && !accepts(range, version),
  );
  if (ranges.length === 0) return [];
  const given = { target: row, ranges, viewer, limit: MAX_BREAKS, isPublished: true };
  const { dependents } = await listDependents(sql, given);
  return dependents.map(({ organization, type, name, version: own, range }) => {
    return { organization, type, name, version: own, range };
  });
}

export interface ReportedDiff {
  against: string;
  suggestedBump: string;
  classified: ClassifiedChange[];
}

/** Compares a document with its predecessor. */
export async function reportDiff(
  work: Pick<DocumentWork, "compare">,
  { type, name, content }: WrittenDocument,
  predecessor: Predecessor | null,
): Promise<ReportedDiff | null> {
  if (!predecessor) return null;
  const mode = { format: "fields", full: false } as const;
  const { yaml } = content;
  const compared = await work.compare({ type, name, mode, from: predecessor.yaml, to: yaml });
  const { suggestedBump, classified }: Omit<ReportedDiff, "against"> = JSON.parse(compared);
  return { against: predecessor.version, suggestedBump, classified };
}
