/** Resolves the references of a version for a reader. */
import { listIntervals, pickVersion } from "../../../shared/definitions/version_range.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import {
  listReferenceCandidates,
  type ReferenceCandidateRow,
} from "../../../sql/definitions/reference_candidates.ts";
import type { DefinitionReferenceRow } from "../../../sql/definitions/references.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import type { OnStep } from "./resolve_in_turn.ts";

export interface ResolvedReference<Reference extends ReferenceLike> {
  reference: Reference;
  /** The matching version; null if no version visible to the reader matches. */
  target: ReferenceCandidateRow | null;
}

type ReferenceLike = Pick<DefinitionReferenceRow, "type" | "name" | "range" | "targetOrgId">;

/** Number of references resolved per statement. */
const PIECE = 50;

/**
 * Resolves references for the viewer and keeps their order. The target is the line's highest published version in the range,
 * else its highest deprecated version. An archived version must be named exactly. Yields to other requests between steps. An
 * error thrown by `onStep` stops the resolution.
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
  const distinct = new Map(references.map((reference) => [textOf(reference), reference]));
  const intervals = [...distinct].flatMap(([text, { type, name, range, targetOrgId: orgId }]) =>
    orgId === null ? [] : listIntervals(range).map((interval) => ({ text, orgId, type, name, ...interval })),
  );
  const rows = await listReferenceCandidates(sql, { intervals, viewer });
  const candidates = Map.groupBy(rows, ({ place }) => intervals[place]?.text);
  return references.map((reference) => {
    return { reference, target: pickVersion(reference.range, candidates.get(textOf(reference)) ?? []) };
  });
}

function textOf({ targetOrgId, type, name, range }: ReferenceLike): string {
  return `${targetOrgId} ${type} ${name} ${range}`;
}
