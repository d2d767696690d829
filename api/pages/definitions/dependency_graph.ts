/** Lays out a dependency tree from left to right, with one column of boxes per level. */
import type { DependencyTree } from "../../definitions/dependencies/graph.ts";

/** The maximum number of boxes. A larger graph is unreadable, so only the nearest boxes are drawn. */
const MAX_BOXES = 250;

export interface GraphBox {
  node: DependencyTree;
  /** The column; 0 for the root. */
  column: number;
  /** The row, counted from the top. A box beside several children may be between two rows. */
  row: number;
  /** The parent box; null for the root. */
  parent: GraphBox | null;
  /** The number of dependencies that are not drawn. */
  hidden: number;
  /** Whether another box shows the same version and its dependencies. */
  isRepeated: boolean;
}

export interface GraphLayout {
  /** The boxes, ordered by level. */
  boxes: GraphBox[];
  columns: number;
  rows: number;
}

/**
 * Lays out the tree that the API returns. A definition with several dependents has a box beside each dependent, but its own
 * dependencies are only beside the first box. Unlike a general graph, a tree needs no search for a good order: 250 boxes take
 * less than a millisecond.
 */
export function layoutGraph(root: DependencyTree, maxBoxes = MAX_BOXES): GraphLayout {
  const boxes = pickBoxes(root, maxBoxes);
  const rows = placeRows(boxes);
  const columns = Math.max(...boxes.map(({ column }) => column)) + 1;
  return { boxes, columns, rows };
}

/** Chooses boxes level by level. The most distant boxes are omitted. */
function pickBoxes(root: DependencyTree, maxBoxes: number): GraphBox[] {
  const boxes = [newBox(root, null)];
  const opened = new Set<string>();
  // The loop appends each level to the array that it iterates over.
  for (const box of boxes) {
    const { id, dependencies } = box.node;
    box.isRepeated = opened.has(id) && dependencies.length > 0;
    if (box.isRepeated) continue;
    opened.add(id);
    const shown = dependencies.slice(0, maxBoxes - boxes.length);
    box.hidden = dependencies.length - shown.length;
    boxes.push(...shown.map((node) => newBox(node, box)));
  }
  return boxes;
}

function newBox(node: DependencyTree, parent: GraphBox | null): GraphBox {
  const column = parent === null ? 0 : parent.column + 1;
  return { node, parent, column, row: 0, hidden: 0, isRepeated: false };
}

/** Gives each box without children a row of its own, and centers each parent beside its children. Returns the number of rows. */
function placeRows(boxes: readonly GraphBox[]): number {
  const children = Map.groupBy(boxes, ({ parent }) => parent);
  let rows = 0;
  // Recursion is safe, because the tree is at most 50 levels deep.
  const place = (box: GraphBox): number => {
    const below = (children.get(box) ?? []).map(place);
    box.row = below.length === 0 ? rows++ : ((below[0] ?? 0) + (below.at(-1) ?? 0)) / 2;
    return box.row;
  };
  if (boxes[0]) place(boxes[0]);
  return rows;
}
