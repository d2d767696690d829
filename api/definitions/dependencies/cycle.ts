/** Whether versions that are being published would depend on themselves. */
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { nextTurn } from "../../http/next_turn.ts";
import { formatAddress } from "../address.ts";
import { type DependencyWalk, walkDependencies } from "./walk.ts";

/** A definition on a path, and the one before it. */
interface Step {
  id: string;
  from: Step | null;
}

/**
 * Returns the shortest cycle of each version, which this transaction has published, by the version's id. Versions without a
 * cycle are left out; cycles that a version only leads to are not its own.
 */
export async function findDependencyCycles(
  tx: Sql,
  { rows, viewer }: { rows: readonly DefinitionRow[]; viewer: DefinitionViewer },
): Promise<Map<string, string[]>> {
  const roots = rows.map((row) => ({ ...row, organization: row.orgSlug }));
  const cycles = new Map<string, string[]>();
  if (roots.length === 0) return cycles;
  const walk = await walkDependencies(tx, { roots, viewer, maxDepth: Number.POSITIVE_INFINITY });
  for (const root of roots) {
    // One walk has room for one large tree. Several of them are walked one by one.
    const own =
      walk.truncated && roots.length > 1
        ? await walkDependencies(tx, { roots: [root], viewer, maxDepth: Number.POSITIVE_INFINITY })
        : walk;
    const cycle = findCycle(own, root.id);
    if (cycle) cycles.set(root.id, cycle);
    await nextTurn();
  }
  return cycles;
}

/** Returns the shortest path from a definition back to itself, or null. */
function findCycle({ nodes, edges }: DependencyWalk, id: string): string[] | null {
  const steps: Step[] = [{ id, from: null }];
  const seen = new Set<string>();
  // Steps are added while they are visited, the nearest first.
  for (const step of steps) {
    for (const { to } of edges.get(step.id) ?? []) {
      if (to === id) return formatPath(nodes, { id: to, from: step });
      if (!seen.has(to)) steps.push({ id: to, from: step });
      seen.add(to);
    }
  }
  return null;
}

function formatPath(nodes: DependencyWalk["nodes"], last: Step): string[] {
  const path: string[] = [];
  for (let step: Step | null = last; step; step = step.from) {
    const node = nodes.get(step.id);
    if (node) path.unshift(`${node.type} ${formatAddress(node)}`);
  }
  return path;
}
