import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type DependencyMap,
  type DependencyTree,
  expandDependencies,
  MAX_DEPENDENCY_NODES,
} from "../../../../api/definitions/dependencies/graph.ts";

/** Creates a dependency map. `{a: ["b", "c"]}` means that a depends on b and c. */
function mapOf(needs: Record<string, readonly string[]>): DependencyMap {
  const ids = new Set([...Object.keys(needs), ...Object.values(needs).flat()]);
  const nodes = new Map(
    [...ids].map((id) => [
      id,
      { id, organization: "demo", type: "agent" as const, name: id, version: "1.0.0" },
    ]),
  );
  const edges = new Map(
    Object.entries(needs).map(([id, targets]) => [id, new Map(targets.map((to) => [to, `${id} to ${to}`]))]),
  );
  return { nodes, edges };
}

/** Formats a tree as text, such as `a(b(d) c)`. */
function draw({ id, dependencies }: DependencyTree): string {
  return dependencies.length === 0 ? id : `${id}(${dependencies.map(draw).join(" ")})`;
}

function expand(
  needs: Record<string, readonly string[]>,
  limits: { maxDepth?: number; maxNodes?: number } = {},
) {
  const { graph, flat, ...rest } = expandDependencies(mapOf(needs), { rootId: "a", ...limits });
  return { tree: draw(graph), flat: flat.map(({ id, depth }) => `${id}${depth}`).join(" "), ...rest };
}

test.each([
  ["a leaf", { a: [] }, { tree: "a", flat: "", totalCount: 0, maxDepth: 0, truncated: false }],
  [
    "a chain",
    { a: ["b"], b: ["c"] },
    { tree: "a(b(c))", flat: "b1 c2", totalCount: 2, maxDepth: 2, truncated: false },
  ],
  [
    "a diamond, expanded on both sides",
    { a: ["b", "c"], b: ["d"], c: ["d"], d: ["e"] },
    { tree: "a(b(d(e)) c(d(e)))", flat: "b1 c1 d2 e3", totalCount: 4, maxDepth: 3, truncated: false },
  ],
  [
    "a definition at two depths, listed at the smaller depth",
    { a: ["b", "c"], b: ["d"], d: ["c"] },
    { tree: "a(b(d(c)) c)", flat: "b1 c1 d2", totalCount: 3, maxDepth: 3, truncated: false },
  ],
  [
    "a cycle, whose repeated definition is not expanded",
    { a: ["b"], b: ["a", "c"] },
    { tree: "a(b(a c))", flat: "b1 c2", totalCount: 2, maxDepth: 2, truncated: false },
  ],
  ["a self-loop", { a: ["a"] }, { tree: "a(a)", flat: "", totalCount: 0, maxDepth: 1, truncated: false }],
  [
    "a repeated dependency",
    { a: ["b", "c", "b"] },
    { tree: "a(b c)", flat: "b1 c1", totalCount: 2, maxDepth: 1, truncated: false },
  ],
])("expandDependencies() of %s", (_, needs, expected) => {
  expect(expand(needs)).toEqual(expected);
});

test("expandDependencies() stops at the maximum depth or number of nodes and reports the truncation", () => {
  const needs = { a: ["b", "c"], b: ["d", "e"], c: ["f"] };
  expect(expand(needs, { maxDepth: 1 })).toMatchObject({ tree: "a(b c)", maxDepth: 1, truncated: true });
  expect(expand(needs, { maxDepth: 2 })).toMatchObject({
    tree: "a(b(d e) c(f))",
    maxDepth: 2,
    truncated: false,
  });
  expect(expand(needs, { maxNodes: 3 })).toMatchObject({ tree: "a(b(d) c)", totalCount: 3, truncated: true });
});

test("expandDependencies() returns the context and the depth of each definition", () => {
  const { graph, flat } = expandDependencies(mapOf({ a: ["b"], b: ["c"] }), { rootId: "a" });
  expect(graph).toEqual({
    id: "a",
    organization: "demo",
    type: "agent",
    name: "a",
    version: "1.0.0",
    dependencies: [
      {
        id: "b",
        organization: "demo",
        type: "agent",
        name: "b",
        version: "1.0.0",
        context: "a to b",
        dependencies: [
          {
            id: "c",
            organization: "demo",
            type: "agent",
            name: "c",
            version: "1.0.0",
            context: "b to c",
            dependencies: [],
          },
        ],
      },
    ],
  });
  expect(flat[1]).toEqual({
    id: "c",
    organization: "demo",
    type: "agent",
    name: "c",
    version: "1.0.0",
    context: "b to c",
    depth: 2,
  });
});

test("expandDependencies() respects its limits for densely connected layers and for a long chain", () => {
  const layers = Object.fromEntries(
    Array.from({ length: 40 }, (_, layer) =>
      Array.from(
        { length: 20 },
        (__, n) =>
          [
            layer === 0 ? "a" : `${layer}.${n}`,
            Array.from({ length: 20 }, (___, to) => `${layer + 1}.${to}`),
          ] as const,
      ),
    ).flat(),
  );
  const chain = Object.fromEntries(
    Array.from({ length: 9000 }, (_, n) => [n === 0 ? "a" : `${n}`, [`${n + 1}`]]),
  );
  for (const [needs, definitions, deepest] of [
    // The tree of `layers` repeats the 800 definitions, so the tree is truncated.
    [layers, 40 * 20, 40],
    [chain, MAX_DEPENDENCY_NODES, MAX_DEPENDENCY_NODES],
  ] as const) {
    const map = mapOf(needs);
    const { graph, flat, ...rest } = expandDependencies(map, { rootId: "a" });
    const open = [graph];
    for (const { dependencies } of open) open.push(...dependencies);
    expect(open.length - 1).toBe(MAX_DEPENDENCY_NODES);
    expect([flat.length, flat.at(-1)?.depth]).toEqual([definitions, deepest]);
    expect(rest).toEqual({ totalCount: definitions, maxDepth: deepest, truncated: true });
  }
});

test("expandDependencies() finds every reachable definition once in any graph", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
  fc.assert(
    fc.property(fc.dictionary(id, fc.array(id, { maxLength: 4 }), { maxKeys: 6 }), (drawn) => {
      const needs: Record<string, string[]> = { a: [], ...drawn };
      const reached = new Set(["a"]);
      for (const from of reached) for (const to of needs[from] ?? []) reached.add(to);
      const { flat, totalCount } = expandDependencies(mapOf(needs), { rootId: "a" });
      expect(new Set(["a", ...flat.map((node) => node.id)])).toEqual(reached);
      expect(totalCount).toBe(reached.size - 1);
      const depths = flat.map(({ depth }) => depth);
      expect(depths).toEqual(depths.toSorted((one, other) => one - other));
    }),
    { numRuns: 300 },
  );
});
