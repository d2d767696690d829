/** Escaping in templates, and constructs that no template may contain. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { html, webUrl } from "../../../api/pages/html.ts";

const ROOT = join(import.meta.dir, "../../..");

/** The files that build HTML from strings and do their own escaping. */
const RENDERERS = ["api/pages/html.ts", "api/pages/definitions/overview_page.ts"];

const HOSTILE = `<script>alert(1)</script>"'&`;
const ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;";

test("text is escaped between tags and in attributes", () => {
  expect(html`<p title="${HOSTILE}">${HOSTILE}</p>`.text).toBe(`<p title="${ESCAPED}">${ESCAPED}</p>`);
});

test("templates nest, lists are joined, and absent values render as empty text", () => {
  const items = ["<a>", "b"].map((item) => html`<li>${item}</li>`);
  const list = html`<ol>${items}${null}${undefined}${false}${0}${12n}</ol>`;
  expect(list.text).toBe("<ol><li>&lt;a&gt;</li><li>b</li>012</ol>");
});

test("a template can contain an optional attribute", () => {
  const box = (checked: boolean) => html`<input type="checkbox"${checked && html` checked`}>`.text;
  expect([box(true), box(false)]).toEqual([`<input type="checkbox" checked>`, `<input type="checkbox">`]);
});

test.each([
  ["https://example.com/a?b=1", "https://example.com/a?b=1"],
  ["http://example.com", "http://example.com/"],
  ["javascript:alert(1)", null],
  ["java\nscript:alert(1)", null],
  ["data:text/html,x", null],
  ["//example.com", null],
  ["", null],
  [null, null],
])("webUrl(%p) is %p", (address, url) => {
  expect(webUrl(address)).toBe(url);
});

const sources = [...new Glob("api/{pages,documents}/**/*.ts").scanSync({ cwd: ROOT })].sort();

test.each(sources)("%s: attributes are quoted, no code is inline, no HTML is built from strings", (file) => {
  const text = readFileSync(join(ROOT, file), "utf8");
  expect(text.match(/=\$\{[^}]*\}[ >]/g) ?? []).toEqual([]);
  expect(text.match(/<script>|<style|\sstyle="|\son[a-z]+="/g) ?? []).toEqual([]);
  if (!RENDERERS.includes(file)) expect(text).not.toContain("new Html(");
});
