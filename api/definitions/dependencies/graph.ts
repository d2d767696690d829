/** The dependencies of a definition, as a tree and as a flat list. */
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";

export interface DependencyNode extends Pick<DefinitionRow, "id" | "type" | "name" | "version"> {
  /** The organization's slug. */
  organization: string;
}

/** Definitions and their dependencies, by id. */
export interface DependencyMap {
  nodes: ReadonlyMap<string, DependencyNode>;
  /** The dependencies of each definition in document order, each with the context of its first reference. */
  edges: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface DependencyTree extends DependencyNode {
  /** The context of the reference; absent for the root. */
  context?: string;
  dependencies: DependencyTree[];
}

/** Maximum nodes of a tree, not counting the root. */
export const MAX_DEPENDENCY_NODES = 5_000;

interface Place {
  tree: DependencyTree;
  depth: number;
  above: Place | null;
}

/**
 * Expands the map from its root, level by level, so that the limits cut off the most distant nodes. A definition appears once
 * below each definition that needs it. If it appears below itself, it is not expanded again. The tree can therefore be
 * truncated while the flat list is complete.
 */
export function expandDependencies(
  map: DependencyMap,
  options: { rootId: string; maxDepth?: number; maxNodes?: number },
) {
  const { rootId, maxDepth = Number.POSITIVE_INFINITY, maxNodes = MAX_DEPENDENCY_NODES } = options;
  const flat = listNearest(map, { rootId, maxDepth, maxNodes });
  const graph: DependencyTree = { ...requireNode(map, rootId), dependencies: [] };
  const places: Place[] = [{ tree: graph, depth: 0, above: null }];
  /** Ids of expanded definitions. Only these can occur among a place's ancestors. */
  const opened = new Set<string>();
  let deepest = flat.at(-1)?.depth ?? 0;
  const finish = (truncated: boolean) => {
    return { graph, flat, totalCount: flat.length, maxDepth: deepest, truncated };
  };
  // The loop appends to `places` while it runs, level by level. Once a place exceeds a limit, so do all later ones.
  for (const place of places) {
    if (opened.has(place.tree.id) && isBelowItself(place)) continue;
    opened.add(place.tree.id);
    for (const [to, context] of map.edges.get(place.tree.id) ?? []) {
      const depth = place.depth + 1;
      if (depth > maxDepth || places.length > maxNodes) return finish(true);
      const tree: DependencyTree = { ...requireNode(map, to), context, dependencies: [] };
      place.tree.dependencies.push(tree);
      places.push({ tree, depth, above: place });
      deepest = Math.max(deepest, depth);
    }
  }
  return finish(false);
}

/** Returns each definition below the root once, at its smallest depth, nearest first. */
function listNearest(map: DependencyMap, limits: { rootId: string; maxDepth: number; maxNodes: number }) {
  const { rootId, maxDepth, maxNodes } = limits;
  const found = new Map([[rootId, { ...requireNode(map, rootId), context: "", depth: 0 }]]);
  // The loop appends to `found` while it runs.
  for (const { id, depth } of found.values()) {
    if (depth === maxDepth) break;
    for (const [to, context] of map.edges.get(id) ?? []) {
      if (found.size > maxNodes) break;
      if (!found.has(to)) found.set(to, { ...requireNode(map, to), context, depth: depth + 1 });
    }
  }
  return [...found.values()].slice(1);
}

function isBelowItself(place: Place): boolean {
  for (let above = place.above; above; above = above.above) {
    if (above.tree.id === place.tree.id) return true;
  }
  return false;
}

function requireNode({ nodes }: DependencyMap, id: string): DependencyNode {
  const node = nodes.get(id);
  if (!node)
    throw new Error(`Cannot expand dependencies: definition ${id} is an end of an edge and not in the map`);
  return node;
}
