/** Finds dependency cycles of versions that are being published. batch/order_and_cycles.ts finds cycles within a batch. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import { listNeededBefore } from "../../../sql/definitions/references.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { limitTime } from "./resolve_in_turn.ts";
import { type DependencyWalk, type Follows, walkDependencies } from "./walk.ts";

/** A definition on a path, linked to the one before it. */
interface Step {
  id: string;
  from: Step | null;
}

/** A version that this transaction has published. */
export type PublishedRow = Pick<DefinitionRow, "id" | "orgSlug" | "type" | "name" | "version">;

/**
 * Time limit of a search. Other publications wait meanwhile. A batch of 550 KB with 20,000 references takes 1.1 s on two slow
 * cores.
 */
const MAX_SEARCH_MS = 2_000;

/**
 * Returns DEPENDENCY_CYCLE errors by version id, each with the version's shortest cycle. The transaction must have published
 * the versions. Omits versions that only lead to a cycle. References that a line had before are followed only within its
 * organization. Otherwise, other organizations could add cycles or large trees behind them and block every version. Throws
 * SERVICE_UNAVAILABLE if the search takes too long.
 */
export async function listCycleErrors(
  tx: Sql,
  { viewer, org }: { viewer: DefinitionViewer; org: { orgId: string } },
  published: readonly { row: PublishedRow; document: { references: readonly { inTree: boolean }[] } }[],
): Promise<Map<string, ApiError>> {
  const roots = published
    .filter(({ document }) => document.references.some(({ inTree }) => inTree))
    .map(({ row }) => ({ ...row, organization: row.orgSlug }));
  const errors = new Map<string, ApiError>();
  if (roots.length === 0) return errors;
  const isBatch = roots.length > 1;
  const onStep = limitTime(MAX_SEARCH_MS, TEXTS.SERVICE_UNAVAILABLE.cycles(MAX_SEARCH_MS / 1000));
  const before = await listNeededBefore(tx, roots);
  // If another version of the batch needs a version, all references of that version are followed.
  const isNew: Follows = (to, depth) =>
    (isBatch && depth > 1) ||
    !before.has(`${to.definitionId} ${to.targetOrgId} ${to.type} ${to.name} ${to.range}`);
  const isOwn: Follows = (to) => to.targetOrgId === org.orgId;
  for (const follows of before.size > 0 ? [isNew, isOwn] : [undefined]) {
    const given = { viewer, maxDepth: Number.POSITIVE_INFINITY, onStep, follows };
    const walk = await walkDependencies(tx, { roots, ...given });
    for (const root of roots) {
      // A shared walk has room for only one large tree. If it is truncated, each root gets its own walk.
      const own = walk.truncated && isBatch ? await walkDependencies(tx, { roots: [root], ...given }) : walk;
      const cycle = findCycle(own, root.id);
      const message = cycle && TEXTS.DEPENDENCY_CYCLE(root, cycle);
      if (message) errors.set(root.id, new ApiError("DEPENDENCY_CYCLE", { message, details: { cycle } }));
      await yieldEventLoop();
    }
  }
  return errors;
}

/** Returns the shortest path from a definition back to itself, or null. */
function findCycle({ nodes, edges, first }: DependencyWalk, id: string): string[] | null {
  const steps: Step[] = [{ id, from: null }];
  const seen = new Set<string>();
  // The loop appends to `steps` while it runs: a breadth-first search.
  for (const step of steps) {
    for (const to of (step.from ? edges : first).get(step.id)?.keys() ?? []) {
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
    if (node) path.unshift(`${node.type} ${node.name}@${node.version}`);
  }
  return path;
}
