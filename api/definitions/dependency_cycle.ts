/** Whether a version that is being published would depend on itself. */
import { listTreeReferences, type ReferenceCandidateRow } from "../../sql/definition_references.ts";
import type { DefinitionViewer } from "../../sql/definition_visibility.ts";
import type { DefinitionRow } from "../../sql/definitions.ts";
import type { Sql } from "../../sql/pool.ts";
import { spell } from "./address.ts";
import { resolveReferences } from "./resolved_references.ts";

/** The most definitions that are looked at, as in a dependency tree (contract section 5). */
const MAX_NODES = 5000;

/** One step of a walk: a definition, and how it was come to. */
interface Step {
  id: string;
  spelled: string;
  from: Step | null;
}

/**
 * Walks from a version, which this transaction has published, through everything that it needs to run, level by level.
 * The loop that leads back to it, spelled out from one end to the other; `null` when there is none. Loops that it is
 * no part of are not its fault.
 */
export async function findDependencyCycle(
  tx: Sql,
  { row, viewer }: { row: DefinitionRow; viewer: DefinitionViewer },
): Promise<string[] | null> {
  const seen = new Map<string, Step>([[row.id, { id: row.id, spelled: spellNode(row), from: null }]]);
  let level = [...seen.values()];
  while (level.length > 0 && seen.size <= MAX_NODES) {
    const references = await listTreeReferences(
      tx,
      level.map(({ id }) => id),
    );
    const next: Step[] = [];
    for (const { reference, target } of await resolveReferences(tx, { references, viewer })) {
      const from = seen.get(reference.definitionId) ?? null;
      if (!target || !from) continue;
      const step: Step = { id: target.id, spelled: spellNode(target), from };
      if (target.id === row.id) return spellPath(step);
      if (seen.has(target.id)) continue;
      seen.set(target.id, step);
      next.push(step);
    }
    level = next;
  }
  return null;
}

function spellNode(node: Pick<ReferenceCandidateRow, "type" | "name" | "version">): string {
  return `${node.type} ${spell(node)}`;
}

function spellPath(last: Step): string[] {
  const path: string[] = [];
  for (let step: Step | null = last; step; step = step.from) path.unshift(step.spelled);
  return path;
}
