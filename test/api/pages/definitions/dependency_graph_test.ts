/** The layout of a dependency graph, and the boxes that it omits. */
import { expect, test } from "bun:test";
import { layoutGraph } from "../../../../api/pages/definitions/dependency_graph.ts";
import { treeOf } from "../../../helpers/definitions/dependency_trees.ts";

function placesOf(layout: ReturnType<typeof layoutGraph>) {
  return layout.boxes.map(({ node, column, row }) => [node.name, column, row]);
}

test("each level of the tree is a column, and a definition is centered on its dependencies", () => {
  const layout = layoutGraph(
    treeOf("root", treeOf("a", treeOf("a1"), treeOf("a2")), treeOf("b"), treeOf("c")),
  );
  expect(placesOf(layout)).toEqual([
    ["root", 0, 1.75],
    ["a", 1, 0.5],
    ["b", 1, 2],
    ["c", 1, 3],
    ["a1", 2, 0],
    ["a2", 2, 1],
  ]);
  expect(layout).toMatchObject({ columns: 3, rows: 4 });
});

test("a definition without dependencies is one box", () => {
  expect(layoutGraph(treeOf("root"))).toMatchObject({ boxes: [{ hidden: 0 }], columns: 1, rows: 1 });
});

test("a dependency of several definitions is expanded once", () => {
  const shared = () => treeOf("shared", treeOf("leaf"));
  const { boxes } = layoutGraph(treeOf("root", treeOf("a", shared()), treeOf("b", shared())));
  expect(boxes.map(({ node, isRepeated }) => [node.name, isRepeated])).toEqual([
    ["root", false],
    ["a", false],
    ["b", false],
    ["shared", false],
    ["shared", true],
    ["leaf", false],
  ]);
});

test("beyond the limit, the nearest boxes are drawn, and each box counts its omitted dependencies", () => {
  const wide = (name: string) => treeOf(name, ...Array.from({ length: 9 }, (_, i) => treeOf(`${name}${i}`)));
  const { boxes } = layoutGraph(treeOf("root", wide("a"), wide("b"), wide("c")), 8);
  expect(boxes).toHaveLength(8);
  expect(boxes.slice(0, 4).map(({ node, hidden }) => [node.name, hidden])).toEqual([
    ["root", 0],
    ["a", 5],
    ["b", 9],
    ["c", 9],
  ]);
});

test("no two boxes overlap in a large, irregular tree", () => {
  const grow = (name: string, depth: number): ReturnType<typeof treeOf> =>
    treeOf(
      name,
      ...(depth === 0
        ? []
        : Array.from({ length: (name.length * 7 + name.charCodeAt(name.length - 1)) % 4 }, (_, i) =>
            grow(`${name}${i}`, depth - 1),
          )),
    );
  const { boxes } = layoutGraph(grow("r", 6));
  expect(boxes.length).toBeGreaterThan(10);
  const rows = new Map<number, number[]>();
  for (const { column, row } of boxes) rows.set(column, [...(rows.get(column) ?? []), row]);
  for (const column of rows.values()) {
    const sorted = column.toSorted((a, b) => a - b);
    for (const [index, row] of sorted.entries())
      if (index > 0) expect(row - (sorted[index - 1] ?? 0)).toBeGreaterThanOrEqual(1);
  }
});
