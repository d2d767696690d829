/** Unified diffs in color. */
import { expect, test } from "bun:test";
import { unifiedDiff } from "../../../../api/documents/unified_diff.ts";
import { renderDiff } from "../../../../api/pages/definitions/diff_view.ts";

test("each line of the hunks has the class of its sign", () => {
  const { markup, hidden } = renderDiff(unifiedDiff("a: 1\nb: <b>\n", "a: 1\nb: 2", "x.agent.yaml"));
  expect(markup.text.split("</span>").slice(0, -1)).toEqual([
    `<span class="diff-hunk">@@ -1,2 +1,2 @@\n`,
    `<span class="diff-same"> a: 1\n`,
    `<span class="diff-removed">-b: &lt;b&gt;\n`,
    `<span class="diff-added">+b: 2\n`,
    `<span class="diff-remark">\\ No newline at end of file\n`,
  ]);
  expect(hidden).toBe(0);
});

test("equal texts have no lines", () => {
  expect(renderDiff(unifiedDiff("a", "a", "x")).markup.text).toBe("");
});

test("a long diff is cut, and says by how much", () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `a${index}: 1\n`).join("");
  const patch = unifiedDiff("b: 1\n", lines, "x");
  const { markup, hidden } = renderDiff(patch);
  expect(markup.text.match(/<span/g)).toHaveLength(2_000);
  // One hunk: its head, the line removed and those added.
  expect(hidden).toBe(3_002 - 2_000);
});
