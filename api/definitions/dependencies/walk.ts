/** Finds all dependencies of versions, level by level, with a few queries per level. */
import { writtenName } from "../../../shared/definitions/references.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import {
  type DefinitionReferenceRow,
  listTreeReferences,
  type TreeReferenceRow,
} from "../../../sql/definitions/references.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { type DependencyMap, type DependencyNode, MAX_DEPENDENCY_NODES } from "./graph.ts";
import type { OnStep } from "./resolve_in_turn.ts";
import { resolveReferences } from "./resolve_references.ts";

/** Maximum references that a walk reads. The limit exceeds that of nodes, because references may be repeated or unresolved. */
const MAX_REFERENCES = 4 * MAX_DEPENDENCY_NODES;

/** An unresolved reference. Its name is written as in the YAML: `reviewer` or `@acme/reviewer`. */
type UnresolvedReference = Pick<DefinitionReferenceRow, "type" | "name" | "range" | "context">;

export interface DependencyWalk extends DependencyMap {
  /** The edges that the walk followed from the roots. */
  first: DependencyMap["edges"];
  /** References that the viewer cannot resolve, without duplicates, nearest first. */
  unresolved: readonly UnresolvedReference[];
  /** True if a limit cut off dependencies. */
  truncated: boolean;
}

/** Returns whether the walk follows a reference to the given depth. */
export type Follows = (reference: TreeReferenceRow, depth: number) => boolean;

/**
 * Walks the dependencies of versions, as far as they are visible to the viewer, down to `maxDepth` levels. Expands each
 * definition once, so that cycles end. With `follows`, a root is expanded again if a definition needs it. Stops once there are
 * more definitions than a tree may show.
 */
export async function walkDependencies(
  sql: Sql,
  options: {
    roots: readonly DependencyNode[];
    viewer: DefinitionViewer;
    maxDepth: number;
    /** Called between steps. Throws an error to end the walk. */
    onStep: OnStep;
    follows?: Follows | undefined;
  },
): Promise<DependencyWalk> {
  const { roots, viewer, maxDepth, onStep, follows = () => true } = options;
  const nodes = new Map(roots.map((root) => [root.id, nodeOf(root)]));
  const first = new Map<string, Map<string, string>>();
  const others: typeof first = new Map();
  let edges = first;
  const unresolved = new Map<string, UnresolvedReference>();
  let level = roots.map(({ id }) => id);
  let limit = MAX_REFERENCES;
  let isBatch = roots.length > 1;
  const opened = new Set(options.follows ? [] : level);
  const hasRoom = () => limit > 0 && nodes.size <= MAX_DEPENDENCY_NODES;
  for (let depth = 1; depth <= maxDepth && level.length > 0 && hasRoom(); depth += 1) {
    const found = await listLevel(sql, { level, viewer, limit, isBatch, onStep });
    const references = found.filter((reference) => follows(reference, depth));
    if (!isBatch) limit -= found.length;
    isBatch = false;
    const next: string[] = [];
    for (const { reference, target } of await resolveReferences(sql, { references, viewer, onStep })) {
      if (!target) {
        const { type, range, context } = reference;
        const missing = { type, name: writtenName(reference), range, context };
        unresolved.set(JSON.stringify(missing), missing);
        continue;
      }
      addEdge(edges, reference, target.id);
      nodes.set(target.id, nodeOf(target));
      if (opened.has(target.id)) continue;
      opened.add(target.id);
      next.push(target.id);
    }
    level = next;
    edges = others;
  }
  const more =
    level.length > 0 ? await listTreeReferences(sql, { definitionIds: level, viewer, limit: 1 }) : [];
  const truncated = limit <= 0 || more.length > 0;
  const all = new Map([...first, ...others]);
  return { nodes, first, edges: all, unresolved: [...unresolved.values()], truncated };
}

/** Adds a dependency to a definition. If the document references it twice, the first context is kept. */
function addEdge(
  edges: Map<string, Map<string, string>>,
  { definitionId, context }: TreeReferenceRow,
  to: string,
): void {
  const needed = edges.get(definitionId) ?? new Map<string, string>();
  if (!needed.has(to)) needed.set(to, context);
  edges.set(definitionId, needed);
}

/** Roots whose references are read per query and turn of the event loop. */
const ROOTS_PER_QUERY = 20;

/** Reads the references of one level. No limit applies to a batch, because its request size bounds the references. */
async function listLevel(
  sql: Sql,
  options: {
    level: readonly string[];
    viewer: DefinitionViewer;
    limit: number;
    isBatch: boolean;
    onStep: OnStep;
  },
): Promise<TreeReferenceRow[]> {
  const { level, viewer, limit, isBatch, onStep } = options;
  if (!isBatch) return listTreeReferences(sql, { definitionIds: level, viewer, limit });
  const references: TreeReferenceRow[] = [];
  for (let first = 0; first < level.length; first += ROOTS_PER_QUERY) {
    const definitionIds = level.slice(first, first + ROOTS_PER_QUERY);
    const found = await listTreeReferences(sql, { definitionIds, viewer, limit: Number.MAX_SAFE_INTEGER });
    for (const reference of found) references.push(reference);
    await yieldEventLoop();
    onStep();
  }
  return references;
}

function nodeOf({ id, organization, type, name, version }: DependencyNode): DependencyNode {
  return { id, organization, type, name, version };
}
