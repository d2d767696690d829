import { describe, expect, test } from "bun:test";
import type { Key } from "../../../../shared/definitions/language/keys.ts";
import { LANGUAGES } from "../../../../shared/definitions/language/language.ts";
import {
  DEFINITION_AGENT_TYPES,
  DEFINITION_TYPES,
  type DefinitionType,
} from "../../../../shared/vocabulary.ts";
import {
  blocksOf,
  codeIn,
  codeOf,
  isSameOutside,
  type MarkdownBlock,
} from "../../../helpers/definitions/markdown_blocks.ts";
import { randomPassage, wordsOf } from "../../../helpers/definitions/random_passages.ts";
import {
  agentBody,
  commandBody,
  load,
  pipelineBody,
  rendered,
  sectionOf,
  translateBody,
  workflowBody,
} from "../../../helpers/definitions/translation.ts";
import { Chance, randomNumbers } from "../../../helpers/random_numbers.ts";

const DOCUMENTS_PER_KEY = 10;
const SEED = 29_004;
const FIRST = "Alpha has a first line";
const SECOND = "and a second line, omega";
const HARMLESS = "The harmless passage.";
const NEIGHBOR = "The neighbor stays.";

/** Returns the rendered opening of an explorer, which is all of its text below the title. */
function opening(opener: string): string {
  return sectionOf(rendered("agent", agentBody("explorer", { mission: { opener } })), "# Sample");
}

describe("a multi-line text", () => {
  test("keeps its lines, paragraphs, lists and fences", () => {
    const text = [
      "Read the change.",
      "Then, for each file:",
      "",
      "1. Read it.",
      "2. Run this:",
      "",
      "   ```python",
      "   if True:",
      "       print()",
      "   ```",
      "",
      "- [ ] It was read",
      "- [x] It was run",
      "    - with tests",
    ];
    const written = text.map((line) =>
      line
        .replace(/^(\d)\./, "$1)")
        .replace("-", "*")
        .replace("    *", "  *"),
    );
    expect(opening(text.join("\n"))).toBe(written.join("\n"));
  });

  test.each([
    ["Title\n# Heading", "Title\n\\# Heading"],
    ["Title\n---\nText", "Title\n\\---\nText"],
    ["Title\n===", "Title\n\\==="],
    ["> quote\n> more", "\\> quote\n\\> more"],
    ["a | b\n--- | ---\nc | d", "a | b\n\\--- | ---\nc | d"],
    ["| a |\n|---|", "\\| a |\n\\|---|"],
    ["[a\nb]: /url", "\\[a\nb]: /url"],
    ["[a]:\n/url", "\\[a]:\n/url"],
    ["Text\n<div>\n<!-- x", "Text\n\\<div>\n\\<!-- x"],
    ["Text\n2. two", "Text\n2\\. two"],
    ["* * *\nText", "\\* * *\nText"],
    ["-\n-", "\\- -"],
  ])("%j is escaped as %j", (text, expected) => {
    expect(opening(text)).toBe(expected);
  });

  test.each([
    ["two spaces  \nor a backslash\\\nat its end\\", "two spaces\\\nor a backslash\\\nat its end\\\\"],
    ["one\r\ntwo\r\rthree", "one\ntwo\n\nthree"],
    ["a\n\n\n\nb   c\td", "a\n\nb c d"],
    ["- a\n\n  more\n- b\nlazy", "* a\n\n  more\n* b\n  lazy"],
    ["a\n\n    code\n\n      more\n\nb", "a\n\n```\ncode\n\n  more\n```\n\nb"],
    ["```\nopen", "```\nopen\n```"],
    ["~~~~ js\n```\n~~~\n~~~~\nb", "````js\n```\n~~~\n````\nb"],
    ["```!\nls\n```\nb", "```\nls\n```\nb"],
    ["a\n```\n\n```\nb", "a\n\nb"],
    ["Use {{ x }}\n- {% if y %}\n- $ARGUMENTS", "Use {{ x }}\n* {% if y %}\n* $ARGUMENTS"],
    ["```\n\n a\t\n\n\n```\nb", "```\n\n a\t\n\n\n```\nb"],
    ["- a\n+ b\n1) c", "* a\n* b\n\n1) c"],
  ])("%j is rendered as %j", (text, expected) => {
    expect(opening(text)).toBe(expected);
  });
});

describe("a multi-line text in its context", () => {
  test("becomes one escaped line if only one line is visible", () => {
    for (const text of ["- x", "\n- x\n", "\r\n\r\n- x", " \n\t- x\u2028"])
      expect(opening(text)).toBe("\\- x");
  });

  test("becomes one line in front matter, headings and tables", () => {
    const text = `${FIRST}\n- ${SECOND}`;
    const body = agentBody("executor", {
      interface: { displayName: text, description: text },
      tasks: { inputs: [{ id: "a", description: text }], operations: [{ name: "Do it" }] },
    });
    const markdown = rendered("agent", body);
    expect(load(markdown).frontMatter["description"]).toBe(`${FIRST} - ${SECOND}`);
    expect(markdown).toContain(`\n# ${FIRST} - ${SECOND}\n`);
    expect(sectionOf(markdown, "## Inputs")).toContain(`| ${FIRST} - ${SECOND} |`);
  });

  test("is indented with its list item, and the rest of the item follows in a new paragraph", () => {
    const steps = [
      { action: "Read:\n- code\n- tests", tool: "Read", fallback: "```\nls\n```\nand stop" },
      { action: "Stop" },
    ];
    const markdown = rendered(
      "agent",
      agentBody("analyst", { process: { phases: [{ name: "Look", steps }] } }),
    );
    expect(sectionOf(markdown, "### 1. Look")).toBe(
      [
        "1. Read:",
        "   * code",
        "   * tests",
        "",
        "   (Read)",
        "   - If that is not possible:",
        "     ```",
        "     ls",
        "     ```",
        "     and stop",
        "2. Stop",
      ].join("\n"),
    );
  });

  test("is rendered in a fence when used as a condition", () => {
    const phase = { id: "a", name: "A", condition: "x > 1\n&& y", steps: [{ agent: "a@1.0.0" }] };
    const markdown = rendered("workflow", workflowBody([phase]));
    expect(markdown).toContain("\n- Only if:\n  ```\n  x > 1\n  && y\n  ```\n");
  });
});

/** A prose key, and a function that renders a document with a text at that key and content after the text. */
interface Place {
  path: string;
  render: (text: string) => string;
}

/** Lists all prose keys of a language. Throws if a key is not rendered. */
function prosePlaces(type: DefinitionType): Place[] {
  return [...proseKeys(LANGUAGES[type], type, (value) => value)].map(({ path, wrap }) => {
    const base = basesOf(type).find((body) => {
      const result = translateBody(type, merge(body, wrap(FIRST)));
      return result.ok && load(result.runtimeMd).body.includes(FIRST);
    });
    if (base === undefined) throw new Error(`${path} is not rendered`);
    return { path, render: (text) => rendered(type, merge(base, wrap(text))) };
  });
}

function* proseKeys(
  key: Key,
  path: string,
  wrap: (value: unknown) => unknown,
): Generator<{ path: string; wrap: (text: string) => unknown }> {
  const words = Object.entries(key.keys).filter(
    ([
      ,
      {
        isRequired,
        words: [word],
      },
    ]) => isRequired && word,
  );
  const beside = Object.fromEntries(words.map(([name, inner]) => [name, inner.words[0]]));
  for (const name of ["id", "name"]) if (key.keys[name]?.kind === "text") beside[name] = "sample";
  for (const [name, inner] of Object.entries(key.keys)) {
    const at = `${path}.${name}`;
    const place = (value: unknown) =>
      wrap({
        ...beside,
        [name]: value,
        ...(name === "interface" ? {} : { zz_note: NEIGHBOR }),
      });
    if ([inner.kind, ...inner.or].includes("prose")) yield { path: at, wrap: place };
    else if (inner.item?.kind === "prose") yield { path: at, wrap: (text) => place([text, NEIGHBOR]) };
    const isList = inner.kind === "list";
    const within = (value: unknown) =>
      place(isList ? [value] : inner.kind === "names" ? { any: value } : value);
    const inside = (isList || inner.kind === "names") && inner.item ? inner.item : inner;
    yield* proseKeys(inside, at, within);
  }
}

function basesOf(type: DefinitionType): unknown[] {
  if (type === "agent") return DEFINITION_AGENT_TYPES.map((agentType) => agentBody(agentType));
  if (type === "command") return [commandBody()];
  if (type === "workflow") return [workflowBody([{ id: "a", name: "A", steps: [{ agent: "a@1.0.0" }] }])];
  return [pipelineBody([{ id: "a", name: "A", workflows: ["a@1.0.0"] }])];
}

/** Merges `over` into `base`, and list items by index. Keeps the agent type and the command type of `base`. */
function merge(base: unknown, over: unknown): unknown {
  if (typeof base !== "object" || typeof over !== "object" || base === null || over === null) return over;
  if (Array.isArray(base) !== Array.isArray(over)) return over;
  const merged = { ...(base as Record<string, unknown>) };
  for (const [name, value] of Object.entries(over)) {
    merged[name] = name === "agentType" || name === "commandType" ? merged[name] : merge(merged[name], value);
  }
  return Array.isArray(base) ? Object.values(merged) : merged;
}

const isPassage = ({ text }: MarkdownBlock) => text.includes(HARMLESS);

describe.each(DEFINITION_TYPES)("%s", (type) => {
  const places = prosePlaces(type);

  test("every key of kind prose is rendered with its line breaks", () => {
    expect(places.length).toBeGreaterThan(3);
    const kept = new RegExp(`${FIRST}\n *${SECOND}`);
    const lost = places.filter(({ render }) => !kept.test(load(render(`${FIRST}\n${SECOND}`)).body));
    expect(lost.map(({ path }) => path)).toEqual([]);
  });

  test("random texts keep their words and code blocks, and change nothing around them", () => {
    for (const [index, { path, render }] of places.entries()) {
      const harmless = blocksOf(render(HARMLESS));
      for (let at = 0; at < DOCUMENTS_PER_KEY; at++) {
        const seed = SEED + index * 1_000 + at;
        const unindented = at % 2 === 0 ? 0 : 0.1;
        const text = randomPassage(new Chance(randomNumbers(seed)), { unindented });
        const markdown = render(text);
        const about = `seed ${seed}, ${path}: ${JSON.stringify(text)}\n${markdown}`;
        const blocks = blocksOf(markdown);
        expect(isSameOutside(blocks, harmless, { isPassage, withText: true }), about).toBe(true);
        const [words, own] = [wordsOf(load(markdown).body), wordsOf(text)];
        expect(words.slice(0, own.length), about).toEqual(own);
        if (unindented > 0) continue;
        const code = codeIn(blocks);
        const expected = codeOf(text).filter((body) => body.trim() !== "");
        expect(code.slice(0, expected.length), about).toEqual(expected);
      }
    }
  });
});

test.each([
  ["nested bullets in one line", "- ".repeat(50_000)],
  [
    "nested bullets in many lines",
    Array.from({ length: 400 }, (_, at) => `${" ".repeat(at * 2)}- x`).join("\n"),
  ],
  ["25,000 items", "- x\n".repeat(25_000)],
  ["blank lines in an item", `- x\n${"\n".repeat(100_000)}y`],
  ["fences that open and close", "```\nx\n".repeat(16_000)],
  ["fences in items", "- ```\n  x\n".repeat(10_000)],
  ["lines without the indentation of their lists", "- - - - - - - x\ny\n".repeat(5_500)],
  ["brackets", `${"[".repeat(50_000)}\n${"]:".repeat(25_000)}`],
  ["backslashes", `${"\\".repeat(50_000)}\n${"\\".repeat(50_000)}`],
  ["white space behind a marker", `-${" ".repeat(100_000)}x\ny`],
  ["tabs", "\t".repeat(50_000).concat("x\n- y")],
])("a large text renders to less than four times its size: %s", (_, text) => {
  const markdown = rendered("agent", agentBody("explorer", { mission: { opener: `a\n${text}` } }));
  expect(markdown.length).toBeLessThan(4 * text.length);
});
