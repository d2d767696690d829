/** Resolves the references of a version for a reader. */
import { pickVersion } from "../../../shared/definitions/version_range.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionLineKey } from "../../../sql/definitions/lines.ts";
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
  /** Null if no version visible to the reader matches. */
  target: ReferenceCandidateRow | null;
}

type ReferenceLike = Pick<DefinitionReferenceRow, "type" | "name" | "range" | "targetOrgId">;

/** References that are resolved in one turn of the event loop: some 3 ms. */
const PIECE = 250;

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
    resolved.push(...(await resolvePiece(sql, { references: piece, viewer, onStep })));
    await yieldEventLoop();
    onStep();
  }
  return resolved;
}

async function resolvePiece<Reference extends ReferenceLike>(
  sql: Sql,
  options: { references: readonly Reference[]; viewer: DefinitionViewer; onStep: OnStep },
): Promise<ResolvedReference<Reference>[]> {
  const keys = new Map<string, DefinitionLineKey>();
  for (const { type, name, targetOrgId: orgId } of options.references) {
    if (orgId !== null) keys.set(textOf({ orgId, type, name }), { orgId, type, name });
  }
  const rows = await listReferenceCandidates(sql, { keys: [...keys.values()], viewer: options.viewer });
  const candidates = Map.groupBy(rows, textOf);
  const resolved: ResolvedReference<Reference>[] = [];
  let compared = 0;
  for (const reference of options.references) {
    const { type, name, range, targetOrgId: orgId } = reference;
    const versions = orgId === null ? [] : (candidates.get(textOf({ orgId, type, name })) ?? []);
    compared += versions.length;
    if (compared > VERSIONS_PER_TURN) {
      await yieldEventLoop();
      options.onStep();
      compared = versions.length;
    }
    resolved.push({ reference, target: pickVersion(range, versions) });
  }
  return resolved;
}

/** Versions that are compared with ranges in one turn of the event loop: some 8 ms. */
export const VERSIONS_PER_TURN = 4_000;

function textOf({ orgId, type, name }: DefinitionLineKey): string {
  return `${orgId} ${type} ${name}`;
}
