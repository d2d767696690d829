/**
 * Whether versions that are being published would depend on themselves. batch/order_and_cycles.ts finds cycles within a
 * batch.
 */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import { listNeededBefore } from "../../../sql/definitions/references.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { limitTime } from "./resolve_in_turn.ts";
import { type DependencyWalk, walkDependencies } from "./walk.ts";

/** A definition on a path, and the one before it. */
interface Step {
  id: string;
  from: Step | null;
}

/** A version that this transaction has published. */
export type PublishedRow = Pick<DefinitionRow, "id" | "orgSlug" | "type" | "name" | "version">;

/** Time for a search. Other publications wait for it. */
const MAX_SEARCH_MS = 1_000;

/**
 * Returns a DEPENDENCY_CYCLE with the shortest cycle of each version, which this transaction has published, by the version's
 * id. Versions without a cycle are left out; cycles that a version only leads to are not its own. Throws SERVICE_UNAVAILABLE
 * if their trees cannot be searched in a second.
 */
export async function listCycleErrors(
  tx: Sql,
  { viewer }: { viewer: DefinitionViewer },
  published: readonly { row: PublishedRow; document: { references: readonly { inTree: boolean }[] } }[],
): Promise<Map<string, ApiError>> {
  const roots = published
    .filter(({ document }) => document.references.some(({ inTree }) => inTree))
    .map(({ row }) => ({ ...row, organization: row.orgSlug }));
  const errors = new Map<string, ApiError>();
  if (roots.length === 0) return errors;
  const isBatch = roots.length > 1;
  const onStep = limitTime(MAX_SEARCH_MS, TEXTS.SERVICE_UNAVAILABLE.cycles(MAX_SEARCH_MS / 1000));
  const given = { viewer, maxDepth: Number.POSITIVE_INFINITY, onStep };
  const walk = await walkDependencies(tx, { roots, ...given });
  for (const root of roots) {
    // One walk has room for one large tree. Several of them are walked one by one.
    const own = walk.truncated && isBatch ? await walkDependencies(tx, { roots: [root], ...given }) : walk;
    const cycle = await findOwnCycle(tx, own, root);
    if (cycle) {
      const message = TEXTS.DEPENDENCY_CYCLE(root, cycle);
      errors.set(root.id, new ApiError("DEPENDENCY_CYCLE", { message, details: { cycle } }));
    }
    await yieldEventLoop();
  }
  return errors;
}

/** Returns the shortest cycle, or null; not one that another organization has closed over references that the line had before. */
async function findOwnCycle(tx: Sql, walk: DependencyWalk, root: PublishedRow): Promise<string[] | null> {
  if (!findCycle(walk, root.id)) return null;
  const before = await listNeededBefore(tx, root.id, [...(walk.edges.get(root.id)?.keys() ?? [])]);
  return (
    findCycle(walk, root.id, (from, to) => from !== root.id || !before.has(to)) ??
    findCycle(walk, root.id, (_, to) => walk.nodes.get(to)?.organization === root.orgSlug)
  );
}

/** Returns the shortest path from a definition back to itself over edges that count, or null. */
function findCycle(
  walk: DependencyWalk,
  id: string,
  counts = (_from: string, _to: string) => true,
): string[] | null {
  const steps: Step[] = [{ id, from: null }];
  const seen = new Set<string>();
  // Steps are added while they are visited, the nearest first.
  for (const step of steps) {
    for (const to of walk.edges.get(step.id)?.keys() ?? []) {
      if (!counts(step.id, to)) continue;
      if (to === id) return formatPath(walk.nodes, { id: to, from: step });
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
    if (node) path.unshift(`${node.type} ${node.name}@${node.version}`);
  }
  return path;
}
