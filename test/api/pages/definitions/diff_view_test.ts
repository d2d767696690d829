/** Unified diffs with highlighting. */
import { expect, test } from "bun:test";
import { unifiedDiff } from "../../../../api/documents/compare_documents.ts";
import { renderDiff } from "../../../../api/pages/definitions/diff_view.ts";

test("each line of a hunk has the class for its sign", () => {
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

test("equal texts have no diff lines", () => {
  expect(renderDiff(unifiedDiff("a", "a", "x")).markup.text).toBe("");
});

test.each([
  ["many lines", Array.from({ length: 5_000 }, (_, index) => `a${index}: 1`)],
  ["characters that are longer in HTML", Array.from({ length: 100 }, () => "<".repeat(1_000))],
  ["one line of 128 kB", ["x".repeat(131_072)]],
])("a long diff of %s is cut off at 100 kB and reports the number of hidden lines", (_, lines) => {
  const { markup, hidden } = renderDiff(unifiedDiff("b: 1\n", `${lines.join("\n")}\n`, "x"));
  expect(markup.text.length).toBeLessThanOrEqual(100_000);
  const shown = markup.text.match(/<span/g)?.length ?? 0;
  expect(shown).toBeGreaterThan(0);
  // The diff is one hunk: its header, the removed line and the added lines.
  expect(shown + hidden).toBe(lines.length + 2);
});
