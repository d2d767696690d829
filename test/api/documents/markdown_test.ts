/** Rendering of untrusted Markdown. Nothing in it may run code or load a resource. */
import { expect, test } from "bun:test";
import { renderMarkdown } from "../../../api/documents/markdown.ts";
import { HOSTILE_MARKDOWN } from "../../helpers/definitions/hostile_html.ts";

const REL = `rel="nofollow noopener noreferrer"`;

function render(markdown: string): string {
  return renderMarkdown(markdown).trim();
}

test("headings start below the page's own heading, and the front matter is omitted", () => {
  expect(render(`---\nname: "a"\n---\n\n# Title\n\n###### Six`)).toBe("<h2>Title</h2>\n<h6>Six</h6>");
  expect(render("---\nno end")).toContain("no end");
});

test.each([
  ["[a](https://example.com/x)", `<a href="https://example.com/x" ${REL}>a</a>`],
  ["[a](http://example.com)", `<a href="http://example.com" ${REL}>a</a>`],
  ["<https://example.com/>", `<a href="https://example.com/" ${REL}>https://example.com/</a>`],
  ["[a](//example.com)", `<a href="//example.com" ${REL}>a</a>`],
  // A URL without slashes after its scheme is relative on a page with the same scheme. On a page with another scheme, the URL names
  // a host.
  ["[a](http:example.com)", `<a href="http:example.com" ${REL}>a</a>`],
  ["[a](https:example.com)", `<a href="https:example.com" ${REL}>a</a>`],
  ["[a](/\\\\example.com)", `<a href="/%5Cexample.com">a</a>`],
  ["[a](docs/b.md)", `<a href="docs/b.md">a</a>`],
  ["[a](#b)", `<a href="#b">a</a>`],
  // An encoded tab cannot be part of a scheme, so this URL is relative.
  ["[a](java&Tab;script:b)", `<a href="java%09script:b">a</a>`],
])("the link %p becomes %p", (markdown, markup) => {
  expect(render(markdown)).toBe(`<p>${markup}</p>`);
});

test.each([
  "javascript:alert(1)",
  "JAVASCRIPT:alert(1)",
  "&#106;avascript:alert(1)",
  "data:text/html,x",
  "data:image/png;base64,AA",
  "vbscript:x",
  "file:///etc/passwd",
  "mailto:a@example.com",
  "blob:x",
])("a link to %s remains text", (address) => {
  expect(render(`[a](${address})`)).not.toContain("<a");
  expect(render(`<${address}>`)).not.toContain("<a");
  expect(render(`[a]\n\n[a]: ${address}`)).not.toContain("<a");
});

test("an image becomes a link with its alt text, or just the text inside another link", () => {
  expect(render("![x & *y*](https://example.com/i.png)")).toBe(
    `<p><a href="https://example.com/i.png" ${REL}>x &amp; y</a></p>`,
  );
  expect(render("![](i.png)")).toBe(`<p><a href="i.png">Image</a></p>`);
  expect(render("[**![x](i.png)** z](https://example.com/) ![y](i.png)")).toBe(
    `<p><a href="https://example.com/" ${REL}><strong>x</strong> z</a> <a href="i.png">y</a></p>`,
  );
});

test("task list items get checkbox characters, and other brackets are unchanged", () => {
  expect(render("- [ ] open\n- [x] done\n- [X] *done*\n- [y] no task")).toBe(
    "<ul>\n<li>☐ open</li>\n<li>☑ done</li>\n<li>☑ <em>done</em></li>\n<li>[y] no task</li>\n</ul>",
  );
  expect(render("1. [ ] first\n\n2. [x] second")).toContain("<p>☐ first</p>");
  expect(render("[ ] no list")).toBe("<p>[ ] no list</p>");
  expect(render("- a\n\n  [ ] second paragraph")).toContain("[ ] second paragraph");
});

test("code and tables can be scrolled by keyboard, and code has no attributes from the document", () => {
  expect(render('```a"b c\n<x>\n```')).toBe(`<pre tabindex="0"><code>&lt;x&gt;\n</code></pre>`);
  expect(render("    <x>")).toBe(`<pre tabindex="0"><code>&lt;x&gt;\n</code></pre>`);
  expect(render("|a|\n|-|\n|b|")).toStartWith(
    `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`,
  );
});

/** The elements and attributes that the renderer writes. The rest of its output is escaped text. */
const ALLOWED =
  /^<\/?(?:p|h[2-6]|a|em|strong|s|code|pre|ul|ol|li|blockquote|hr|br|table|thead|tbody|tr|th|td|div)(?: (?:href|rel|title|tabindex|role|aria-label|class|start)="[^"<>]*")*>$/;

test("hostile Markdown renders only the allowed elements and attributes", () => {
  const markup = render(HOSTILE_MARKDOWN);
  const tags = markup.match(/<[^>]*>/g) ?? [];
  expect(tags.length).toBeGreaterThan(20);
  expect(tags.filter((tag) => !ALLOWED.test(tag))).toEqual([]);
  const links = [...markup.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href);
  const schemes = links.map(
    (href) => new URL(href.replaceAll("&amp;", "&"), "https://own.invalid/").protocol,
  );
  expect([...new Set(schemes)]).toEqual(["https:"]);
});
