/** The rendering of texts: the worker thread for long texts, truncation, and the fallback while the worker's queue is full. */
import { afterAll, expect, test } from "bun:test";
import { openDocuments } from "../../../../../api/documents/documents.ts";
import { renderText } from "../../../../../api/pages/definitions/overview_page.ts";

const documents = openDocuments({ maxWaiting: { reads: 1, writes: 1 } });
afterAll(() => documents.close());

test("short and long Markdown and YAML are rendered", async () => {
  const work = documents.forCaller("a");
  const short = await renderText(work, { format: "markdown", text: "# a <b>" });
  expect(short.markup.text).toBe("<h2>a &lt;b&gt;</h2>\n");
  const long = await renderText(work, { format: "markdown", text: "# a <b>\n\n".repeat(1_000) });
  expect(long).toEqual({ markup: expect.anything(), isCut: false });
  expect(long.markup.text).toBe("<h2>a &lt;b&gt;</h2>\n".repeat(1_000));
  const yaml = await renderText(work, { format: "yaml", text: "a: <b>" });
  expect(yaml.markup.text).toContain(`<code><span class="yaml-key">a</span>: &lt;b&gt;</code>`);
});

test("a text of 150 KiB is truncated at the end of a line", async () => {
  const work = documents.forCaller("a");
  const lines = await renderText(work, { format: "yaml", text: "key: value\n".repeat(14_000) });
  expect(lines.isCut).toBe(true);
  expect(lines.markup.text).toEndWith("value\n</code></pre>");
  expect(lines.markup.text.length).toBeLessThan(200_000);
  const line = await renderText(work, { format: "markdown", text: "x".repeat(150_000) });
  expect(line.isCut).toBe(true);
  expect(line.markup.text).toHaveLength("<p></p>\n".length + 48_000);
});

test("while the queue for rendering is full, texts are shown unrendered and escaped", async () => {
  const texts = Array.from({ length: 9 }, (_, index) => `# <b>${index}\n`.repeat(1_000));
  const shown = await Promise.all(
    texts.map((text, index) =>
      renderText(documents.forCaller(`caller ${index}`), { format: "markdown", text }),
    ),
  );
  const plain = shown.filter(({ markup }) => markup.text.startsWith(`<pre class="source"`));
  expect(plain.length).toBeGreaterThan(0);
  expect(plain.length).toBeLessThan(texts.length);
  for (const { markup } of shown) expect(markup.text).not.toContain("<b>");
});
