/** Resolves the references of a version for a reader. */
import { listIntervals, pickVersion } from "../../../shared/definitions/version_range.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import {
  type CandidateInterval,
  listReferenceCandidates,
  type ReferenceCandidateRow,
} from "../../../sql/definitions/reference_candidates.ts";
import type { DefinitionReferenceRow } from "../../../sql/definitions/references.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import type { OnStep } from "./resolve_in_turn.ts";

export interface ResolvedReference<Reference extends ReferenceLike> {
  reference: Reference;
  /** Null if no version visible to the reader matches. */
  target: ReferenceCandidateRow | null;
}

type ReferenceLike = Pick<DefinitionReferenceRow, "type" | "name" | "range" | "targetOrgId">;

/** References that one statement resolves. */
const PIECE = 50;

/**
 * Finds the version that each reference resolves to for the viewer, in their order: of its line the highest published
 * version in the range, else the highest deprecated one; an archived one only when it is named exactly. Other requests are
 * served between steps. What `onStep` throws ends it.
 */
export async function resolveReferences<Reference extends ReferenceLike>(
  sql: Sql,
  options: { references: readonly Reference[]; viewer: DefinitionViewer; onStep: OnStep },
): Promise<ResolvedReference<Reference>[]> {
  const { references, viewer, onStep } = options;
  const resolved: ResolvedReference<Reference>[] = [];
  for (let first = 0; first < references.length; first += PIECE) {
    const piece = references.slice(first, first + PIECE);
    resolved.push(...(await resolvePiece(sql, { references: piece, viewer })));
    await yieldEventLoop();
    onStep();
  }
  return resolved;
}

async function resolvePiece<Reference extends ReferenceLike>(
  sql: Sql,
  { references, viewer }: { references: readonly Reference[]; viewer: DefinitionViewer },
): Promise<ResolvedReference<Reference>[]> {
  const asked = new Map<string, CandidateInterval[]>();
  for (const { type, name, range, targetOrgId: orgId } of references) {
    if (orgId === null) continue;
    const intervals = listIntervals(range).map((interval) => ({ orgId, type, name, ...interval }));
    asked.set(textOf({ type, name, range, targetOrgId: orgId }), intervals);
  }
  const texts = [...asked].flatMap(([text, intervals]) => intervals.map(() => text));
  const rows = await listReferenceCandidates(sql, { intervals: [...asked.values()].flat(), viewer });
  const candidates = Map.groupBy(rows, ({ place }) => texts[place]);
  return references.map((reference) => {
    return { reference, target: pickVersion(reference.range, candidates.get(textOf(reference)) ?? []) };
  });
}

function textOf({ targetOrgId, type, name, range }: ReferenceLike): string {
  return `${targetOrgId} ${type} ${name} ${range}`;
}
