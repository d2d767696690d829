/** YAML highlighting gives tokens classes. It never loses, adds or executes text. */
import { expect, test } from "bun:test";
import { highlightYaml } from "../../../api/documents/yaml_highlight.ts";
import { readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";
import { HOSTILE_TEXTS } from "../../helpers/definitions/hostile_html.ts";

/** Returns the text that a browser shows for this HTML. */
function textOf(markup: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };
  const bare = markup.replace(/<span class="yaml-[a-z]+">|<\/span>/g, "");
  expect(bare).not.toMatch(/[<>]/);
  return bare.replace(/&([a-z]+|#x27);/g, (_, name: string) => entities[name] ?? "?");
}

test("keys, quoted texts, comments and YAML indicators get classes, and other text does not", () => {
  const text = highlightYaml(`# note\na: &x "q"\nb: [1, {c: *x}]\n'd': |-\n  text: no\n`);
  expect(text).toBe(
    `<span class="yaml-comment"># note</span>\n` +
      `<span class="yaml-key">a</span>: <span class="yaml-mark">&amp;x</span> <span class="yaml-text">&quot;q&quot;</span>\n` +
      `<span class="yaml-key">b</span>: [1, {<span class="yaml-key">c</span>: <span class="yaml-mark">*x</span>}]\n` +
      `<span class="yaml-key">&#x27;d&#x27;</span>: <span class="yaml-mark">|-</span>\n  text: no\n`,
  );
});

test("highlighting leaves the text of every demo document unchanged", () => {
  for (const { yaml } of readDemoDefinitions()) expect(textOf(highlightYaml(yaml))).toBe(yaml);
});

test.each([
  ...HOSTILE_TEXTS,
  "\u001f\u0002\u0018: \u001f",
  "\u2028\u202e\u0000\uffff<b>",
  "a: [",
  "\ufeffa: b",
  "'",
  "\t- a\r\n",
])("highlighting leaves the text of %j unchanged", (yaml) => {
  expect(textOf(highlightYaml(yaml))).toBe(yaml);
});

test("a document with thousands of keys gets a limited number of spans and keeps its text", () => {
  const yaml = "a: b\n".repeat(10_000);
  const text = highlightYaml(yaml);
  expect(text.match(/<span/g)).toHaveLength(3_000);
  expect(textOf(text)).toBe(yaml);
});
