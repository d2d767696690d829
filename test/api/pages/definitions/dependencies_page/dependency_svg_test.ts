/** The SVG of a dependency graph. */
import { expect, test } from "bun:test";
import { drawGraph } from "../../../../../api/pages/definitions/dependencies_page.ts";
import { layoutGraph } from "../../../../../api/pages/definitions/dependency_graph.ts";
import { treeOf } from "../../../../helpers/definitions/dependency_trees.ts";

function draw(tree: Parameters<typeof layoutGraph>[0], maxBoxes?: number): string {
  return drawGraph(layoutGraph(tree, maxBoxes)).text;
}

test("boxes link to the version and have its full name as title", () => {
  const name = "a-name-that-is-longer-than-its-box";
  const svg = draw(treeOf("root", { ...treeOf(name), type: "command" }));
  expect(svg).toContain(`<a href="/definitions/command/@demo/${name}@1.0.0" class="node command">`);
  expect(svg).toContain(`<title>command @demo/${name}@1.0.0 · invokes.agent</title>`);
  expect(svg).toContain(">a-name-that-is-longer-tha…</text>");
  expect(svg.match(/<path /g)).toHaveLength(1);
});

test("omitted branches are marked", () => {
  const svg = draw(treeOf("root", treeOf("a", treeOf("b"), treeOf("c"), treeOf("d"))), 3);
  expect(svg).toContain(`<a href="/definitions/agent/@demo/a@1.0.0" class="node agent" data-cut>`);
  expect(svg).toContain("2 more not shown");
  expect(svg).toContain(">+2</text>");
});

test("contexts written by strangers are escaped", () => {
  const svg = draw(treeOf("root", { ...treeOf("a"), context: `phase "</svg><script>alert(1)</script>` }));
  expect(svg).not.toContain("<script>");
  expect(svg).toContain("&lt;/svg&gt;");
});
