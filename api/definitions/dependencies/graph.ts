/** The dependencies of a definition, as a tree and as a flat list. */
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";

export interface DependencyNode extends Pick<DefinitionRow, "id" | "type" | "name" | "version"> {
  /** The organization's slug. */
  organization: string;
}

/** Definitions by id. */
export interface DependencyMap {
  nodes: ReadonlyMap<string, DependencyNode>;
  /** The definitions that each one needs, in document order, with the context in which its document names them first. */
  edges: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface DependencyTree extends DependencyNode {
  /** Left out for the root, which no document names here. */
  context?: string;
  dependencies: DependencyTree[];
}

/** The most nodes of a tree, without its root. */
export const MAX_DEPENDENCY_NODES = 5_000;

interface Place {
  tree: DependencyTree;
  depth: number;
  above: Place | null;
}

/**
 * Opens the map from its root, level by level, so that the limits cut off what is furthest away. A definition stands
 * in the tree once below each one that needs it; met again below itself it is shown and not opened. So the tree can be cut off
 * where the flat list is complete.
 */
export function expandDependencies(
  map: DependencyMap,
  options: { rootId: string; maxDepth?: number; maxNodes?: number },
) {
  const { rootId, maxDepth = Number.POSITIVE_INFINITY, maxNodes = MAX_DEPENDENCY_NODES } = options;
  const flat = listNearest(map, { rootId, maxDepth, maxNodes });
  const graph: DependencyTree = { ...requireNode(map, rootId), dependencies: [] };
  const places: Place[] = [{ tree: graph, depth: 0, above: null }];
  /** Definitions opened somewhere: only these can be opened above. */
  const opened = new Set<string>();
  let deepest = flat.at(-1)?.depth ?? 0;
  const finish = (truncated: boolean) => {
    return { graph, flat, totalCount: flat.length, maxDepth: deepest, truncated };
  };
  // Places are added while they are walked: each level after the one above it. So nothing more fits once one does not.
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

/** Lists each definition below the root once, at its smallest depth, the nearest first. */
function listNearest(map: DependencyMap, limits: { rootId: string; maxDepth: number; maxNodes: number }) {
  const { rootId, maxDepth, maxNodes } = limits;
  const found = new Map([[rootId, { ...requireNode(map, rootId), context: "", depth: 0 }]]);
  // Definitions are added while they are walked.
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
