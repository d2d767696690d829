/** The layout of a dependency tree: boxes in columns from left to right, each level in one. */
import type { DependencyTree } from "../../definitions/dependencies/graph.ts";

/** More boxes than this would be no picture. The nearest ones are drawn. */
const MAX_BOXES = 250;

export interface GraphBox {
  node: DependencyTree;
  /** 0 for the root. */
  column: number;
  /** From the top, in rows; between two of them for a box beside several others. */
  row: number;
  /** Null for the root. */
  parent: GraphBox | null;
  /** How many of its dependencies are not drawn. */
  hidden: number;
  /** True if another box has the same version, and its dependencies. */
  isRepeated: boolean;
}

export interface GraphLayout {
  /** Level by level. */
  boxes: GraphBox[];
  columns: number;
  rows: number;
}

/**
 * Places the tree as the API returns it. What many definitions need has a box beside each of them, and its own
 * dependencies beside the first. A tree needs no search for a good order, as general graphs do: 250 boxes take less
 * than a millisecond.
 */
export function layoutGraph(root: DependencyTree, maxBoxes = MAX_BOXES): GraphLayout {
  const boxes = pickBoxes(root, maxBoxes);
  const rows = placeRows(boxes);
  const columns = Math.max(...boxes.map(({ column }) => column)) + 1;
  return { boxes, columns, rows };
}

/** Chooses the boxes level by level, so that the most distant ones are left out. */
function pickBoxes(root: DependencyTree, maxBoxes: number): GraphBox[] {
  const boxes = [newBox(root, null)];
  const opened = new Set<string>();
  // Boxes are added while they are walked: each level after the one above it.
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

/**
 * Gives every box without children a row of its own, and the others the middle of their children. Returns the number of
 * rows.
 */
function placeRows(boxes: readonly GraphBox[]): number {
  const children = Map.groupBy(boxes, ({ parent }) => parent);
  let rows = 0;
  // The tree is at most 50 levels deep.
  const place = (box: GraphBox): number => {
    const below = (children.get(box) ?? []).map(place);
    box.row = below.length === 0 ? rows++ : ((below[0] ?? 0) + (below.at(-1) ?? 0)) / 2;
    return box.row;
  };
  if (boxes[0]) place(boxes[0]);
  return rows;
}
