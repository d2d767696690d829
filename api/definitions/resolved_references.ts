/** What the references of a version come to for a reader: the `refs` of a full definition. */
import { pickVersion } from "../../shared/definition_ref.ts";
import {
  type DefinitionReferenceRow,
  listReferenceCandidates,
  type ReferenceCandidateRow,
  type ReferenceKey,
} from "../../sql/definition_references.ts";
import type { DefinitionViewer } from "../../sql/definition_visibility.ts";
import type { Sql } from "../../sql/pool.ts";

export interface ResolvedReference<Reference extends ReferenceLike> {
  reference: Reference;
  /** `null` when nothing that the reader sees fits. */
  target: ReferenceCandidateRow | null;
}

/** A reference, and the organization of the document that holds it. */
type ReferenceLike = Pick<DefinitionReferenceRow, "type" | "name" | "range"> & { orgId: string };

/**
 * Looks up what references name, in their order: the highest published version that fits, else the highest deprecated
 * one; an archived one only when it is named exactly.
 */
export async function resolveReferences<Reference extends ReferenceLike>(
  sql: Sql,
  given: { references: readonly Reference[]; viewer: DefinitionViewer },
): Promise<ResolvedReference<Reference>[]> {
  const keys = new Map<string, ReferenceKey & { index: number }>();
  for (const reference of given.references) {
    const { type, name, orgId } = reference;
    const key = keyOf(reference);
    if (!keys.has(key)) keys.set(key, { type, name, orgId, index: keys.size });
  }
  const rows = await listReferenceCandidates(sql, { keys: [...keys.values()], viewer: given.viewer });
  const candidates = Map.groupBy(rows, ({ keyIndex }) => keyIndex);
  return given.references.map((reference) => {
    const index = keys.get(keyOf(reference))?.index ?? -1;
    return { reference, target: pickVersion(reference.range, candidates.get(index) ?? []) };
  });
}

function keyOf({ type, name, orgId }: ReferenceLike): string {
  return `${orgId} ${type} ${name}`;
}
