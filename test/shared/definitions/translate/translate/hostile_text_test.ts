import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DefinitionType } from "../../../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../../../helpers/definitions/demo_definitions.ts";
import {
  blocksOf,
  isSameOutside,
  type MarkdownBlock,
} from "../../../../helpers/definitions/markdown_blocks.ts";
import { NASTY_TEXTS } from "../../../../helpers/definitions/nasty_text.ts";
import {
  load,
  outline,
  rendered,
  structure,
  translateBody,
} from "../../../../helpers/definitions/translation.ts";

/** Texts that have a meaning in Markdown unless they are escaped. */
const MARKUP_TEXTS = [
  "---",
  "***",
  "___",
  "===",
  "- - -",
  "# x",
  "###### x #",
  "x ##",
  "#",
  "- x",
  "+ x",
  "* x",
  "-",
  "1. x",
  "12) x",
  "> x",
  "```",
  "``` x",
  "~~~ js",
  "`",
  "``",
  "a ` b",
  "\\`a`",
  "a | b",
  "| a | b |",
  "a \\| b \\\\| c",
  "\\",
  "x\\",
  "\\\\<div>",
  "<div>",
  "<!-- x",
  "<script>alert(1)</script>",
  "<?php",
  "</div>",
  "[x]: /url",
  "[x] done",
  "[ ] open",
  "![x](/y)",
  "**x",
  "x **",
  "*",
  "**",
  "_x",
  "x\n\n# y\n\n- z\n---\n> q\n```\nf",
  "- x\n- y",
  "1. x\n\n2. y",
  "x\n3. y",
  "x\n---",
  "x\n===\ny",
  "a | b\n--- | ---\nc | d",
  "a\n:-",
  "[x\ny]: /url",
  "[x]:\n/url",
  "```\nx",
  "~~~ ~~~\nx\n\n- y",
  "- ```\n  x",
  "x\n\n    code\n\n  y",
  "- x\n\n\n  - y\n\n\n    z",
  "x\n<div>\n\ny",
  "x  \ny\\\nz\\",
  "> x\n> y",
  "-\n-",
  "* * *\n- - x",
  "x\r# y",
  "x\u2028# y\u2029- z",
  "x\u0085# y",
  "\t\tindented",
  "    indented",
  "{{ `x` | y }}",
  "{% raw %} <b> | {% endraw %}",
  "$ARGUMENTS",
  "\ud800 lone \udc00",
  "!`ls`",
] as const;

const markupText = fc.oneof(
  fc.constantFrom(...MARKUP_TEXTS),
  fc.constantFrom(...NASTY_TEXTS.filter((text) => text.trim() !== "")),
  fc.string({ unit: fc.constantFrom(..."#-*+>`~|<[]():!\\_={}% \n\t1.x"), minLength: 1, maxLength: 30 }),
  fc.array(fc.constantFrom(...MARKUP_TEXTS), { minLength: 2, maxLength: 4 }).map((texts) => texts.join(" ")),
);

/** Bodies of each kind, with `text` in every key that is rendered inline or as prose. */
const BODIES: Readonly<Record<string, (text: string) => [DefinitionType, unknown]>> = {
  agent: (text) => ["agent", fill(AGENT, text)],
  command: (text) => ["command", fill(COMMAND, text)],
  workflow: (text) => ["workflow", fill(WORKFLOW, text)],
  pipeline: (text) => ["pipeline", fill(PIPELINE, text)],
};

/** Replaces every `"@"` of the sample with the text. */
function fill(value: unknown, text: string): unknown {
  if (value === "@") return text;
  if (Array.isArray(value)) return value.map((item) => fill(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, text)]));
}

const AGENT = {
  interface: {
    displayName: "@",
    description: "@",
    agentType: "validator",
    tools: ["@"],
    dependencies: { requires: ["@"] },
  },
  mission: {
    opener: "@",
    stakes: "@",
    outcome_framing: "@",
    role_boundaries: ["@"],
    explicit_prohibitions: ["@", "@"],
  },
  context: {
    working_directory: "@",
    data_sources: [{ name: "@", description: "@", tools: [{ name: "@", usage: "@" }] }],
  },
  knowledge_base: {
    key_definitions: { term: "@" },
    global_references: ["@"],
    sections: [
      {
        category_ref: "@",
        what_to_check: ["@"],
        detection_patterns: [{ pattern: "@", severity: "@" }],
        red_flags: [{ description: "@", severity: "@", why: "@" }],
        common_mistakes: [{ mistake: "@", why_wrong: "@", correct_approach: "@" }],
      },
    ],
    failure_code_examples: [{ code: "@", meaning: "@" }],
  },
  scoring: {
    categories: [
      {
        name: "@",
        weight: 10,
        description: "@",
        criteria: [
          { name: "@", points: 2, description: "@", failure_taxonomy: { failure_mode: "@" }, guidance: "@" },
        ],
      },
    ],
  },
  deductions: { severity_scale: [{ level: "@", points: -1, emoji: "@", label: "@", action: "@" }] },
  auto_fail: {
    conditions: [
      { display_id: "@", name: "@", detection: { method: "@", patterns: ["@"] }, remediation: "@" },
    ],
  },
  process: {
    phases: [
      {
        name: "@",
        description: "@",
        steps: [{ action: "@", tool: "@", fallback: "@", output_variable: "@" }],
      },
    ],
    pre_decision_checklist: ["@"],
  },
  decisions: { vocabulary: { positive: "@", negative: "@" }, preset: "security" },
  edge_cases: [{ id: "@", condition: "@", behavior: ["@", "@"], severity: "@" }],
  output: {
    format: "@",
    section_order: ["@"],
    metrics: { m: { label: "@", description: "@", sentiment: "@" } },
  },
  tone: { attributes: ["@"], guidelines: ["@"] },
};

const COMMAND = {
  interface: { displayName: "@", description: "@", commandType: "utility" },
  inputs: [{ name: "@", source: "arg", arg: "@", default: "@", description: "@" }],
  preflight: { checks: [{ check: "path_exists", path: "@", message: "@", on_fail: "warn" }] },
  execution: { model: { default: "@", allowed: ["@"] } },
  postflight: {
    on_success: { message: "@", exit_code: 0 },
    steps: [{ action: "@", message: "@", on_failure: "warn" }],
  },
  output: { schema: "@", format: "@" },
};

const WORKFLOW = {
  interface: { displayName: "@", description: "@", duration: "@" },
  arguments: {
    positional: [{ name: "@", description: "@", default: "@" }],
    flags: [{ name: "@", short: "@", type: "@", description: "@" }],
    derived: [{ name: "@", source: "@" }],
  },
  context: { detectors: [{ id: "@", check: "find", path: "@", pattern: "@", exclude: ["@"] }] },
  orchestration: {
    on_failure: "@",
    phases: [
      {
        id: "a",
        name: "@",
        condition: "@",
        inputs: { x: "@" },
        focus: ["@"],
        gate: { threshold: 5, on_fail: "@" },
        steps: [{ agent: "a@1.0.0" }],
      },
      { id: "b", name: "@", depends_on: ["a"], steps: [{ agent: "a@1.0.0" }] },
    ],
  },
  aggregation: { score: { method: "@", weights: { a: 0.5 } }, decision: { PASS: "@" } },
  outputs: { artifacts: [{ id: "@", type: "@", path: "@" }], variables: [{ name: "@", source: "@" }] },
  postflight: { on_pass: { message: "@" } },
};

const PIPELINE = {
  interface: { displayName: "@", description: "@" },
  triggers: [
    { type: "schedule", cron: "@", timezone: "@" },
    { type: "manual", parameters: [{ name: "@", type: "@", default: "@", options: ["@"], pattern: "@" }] },
  ],
  environment: {
    variables: [{ name: "V", value: "@", stages: ["@"] }],
    secrets: [{ name: "S", provider: "@" }],
  },
  stages: [
    {
      id: "s",
      name: "@",
      condition: "@",
      approval: { required: true, approvers: ["@"], skip_for: ["@"] },
      agents: [{ ref: "@", model: "@", args: { x: "@" } }],
    },
  ],
  rollback: { strategy: "@", triggers: [{ condition: "@", action: "@" }] },
  notifications: { channels: [{ type: "@", channel: "@", events: ["@"] }] },
  state: { ttl: "@", custom: [{ name: "@", value: "@", on: "@" }] },
  postflight: { always: [{ description: "@" }] },
};

describe.each(Object.keys(BODIES))("%s", (kind) => {
  const body = (text: string) => BODIES[kind]?.(text) ?? (["agent", {}] as [DefinitionType, unknown]);
  const harmless = rendered(...body("word"));

  /** Checks the structure of the rendered text. A text of several lines may add its own lists and fences. */
  const expectSameStructure = (text: string) => {
    const markdown = rendered(...body(text));
    if (!/[\n\r]/.test(text.trim())) expect(structure(markdown)).toEqual(structure(harmless));
    else {
      const isPassage = ({ name, text: own }: MarkdownBlock) => name === "paragraph" && own.includes("word");
      expect(
        isSameOutside(blocksOf(markdown), blocksOf(harmless), { isPassage, withText: false }),
        markdown,
      ).toBe(true);
    }
  };

  test.each(MARKUP_TEXTS)("%j changes no heading, list, table or fence", expectSameStructure);

  test("no text changes a heading, list, table or fence", () => {
    fc.assert(
      fc.property(markupText, (text) => {
        fc.pre(isVisible(text));
        expectSameStructure(text);
      }),
      { numRuns: 150 },
    );
  });
});

/** Returns whether a text is rendered as written. Blank texts are omitted. */
function isVisible(text: string): boolean {
  return text.replace(/[\s\p{Cc}]/gu, "") !== "" && humanizes(text);
}

/** Returns whether a name is rendered as written. Names of only separators are replaced. */
function humanizes(text: string): boolean {
  return (
    text.replaceAll("_", "").replaceAll("-", "").trim() !== "" || MARKUP_TEXTS.some((known) => known === text)
  );
}

test("no text closes the fence in which it is rendered", () => {
  const fenced = fc.oneof(
    markupText,
    fc.string({ unit: fc.constantFrom(..."`~\n x"), minLength: 1, maxLength: 40 }),
  );
  fc.assert(
    fc.property(fenced, (text) => {
      fc.pre(text.trim() !== "" && isVisible(text));
      const code = (value: string) => rendered("agent", fill(FENCED, value));
      expect(structure(code(text))).toEqual(structure(code("word")));
    }),
    { numRuns: 150 },
  );
});

const FENCED = {
  interface: { description: "Does what it does.", agentType: "explorer" },
  mission: { opener: "You look." },
  knowledge_base: { sections: [{ red_flags: [{ description: "x", code: "@" }] }] },
  edge_cases: [{ id: "a", condition: "x", report_wording: "@" }],
  output: { sections: [{ id: "a", template: "@" }], examples: ["@"], templates: { t: "@" } },
};

test("template expressions and $ARGUMENTS are rendered unchanged", () => {
  const text =
    "Use $ARGUMENTS and {{ stages.verify.score | round(2) }} {% if a < b %}x{% endif %} in `{{ y }}`.";
  const markdown = rendered("agent", fill(AGENT, text));
  expect(load(markdown).body).toContain(`\n${text}\n`);
  const command = rendered("command", fill(COMMAND, "$ARGUMENTS"));
  expect(outline(command)[0]).toBe("# $ARGUMENTS");
});

test("text that the translator adds never forms a command or a file reference", () => {
  for (const kind of Object.keys(BODIES)) {
    const [type, body] = BODIES[kind]?.("Careful!") ?? ["agent", {}];
    expect(load(rendered(type, body)).body).not.toMatch(/!`|(?:^|\s)@\w/);
  }
});

test("front matter has one line per key, whatever the text of the description", () => {
  fc.assert(
    fc.property(markupText, (text) => {
      fc.pre(isVisible(text));
      const body = { interface: { description: text, agentType: "explorer" }, mission: { opener: "x" } };
      const { frontMatter } = load(rendered("agent", body));
      const expected = text.toWellFormed().replace(/[\p{Cc}\s]+/gu, " ");
      expect(Object.keys(frontMatter)).toEqual(["name", "description", "tools", "version"]);
      expect(frontMatter["description"]?.replaceAll(" ", "")).toBe(expected.replaceAll(" ", ""));
    }),
  );
});

/** Arbitrary values that replace a value anywhere in a demo document. */
const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    0,
    -1,
    1e308,
    Number.NaN,
    true,
    false,
    "",
    " ",
    "\ud800",
    [],
    {},
    [[]],
    [null],
  ),
  fc.constant(
    JSON.parse('{"__proto__": {"x": 1}, "constructor": "c", "toString": [1], "hasOwnProperty": 0}'),
  ),
  fc.jsonValue({ maxDepth: 4 }),
  fc
    .constantFrom(() => 1, Symbol("x"), 10n, new Date(0), /x/, new Map([["a", 1]]))
    .map((value): unknown => value),
);

test("hostile values cause no internal failure, and are never rendered as undefined, NaN, objects or empty items", () => {
  const documents = readDemoDefinitions().map(({ type, yaml }) => parsed(yaml, type));
  const place = fc.record({
    document: fc.nat(documents.length - 1),
    path: fc.array(fc.nat(30), { minLength: 1, maxLength: 6 }),
    value: anyValue,
  });
  fc.assert(
    fc.property(place, ({ document, path, value }) => {
      const { type, body } = documents[document] ?? documents[0] ?? { type: "agent" as const, body: {} };
      const translation = translateBody(type, replaceAt(body, path, value));
      if (!translation.ok) expect(translation.failures[0].reason).not.toBe("internal");
      else
        expect(withoutCode(load(translation.runtimeMd).body)).not.toMatch(
          /undefined|\[object |\bNaN\b|^\s*(?:[-*]|\d+\.|#+)\s*$/m,
        );
    }),
    { numRuns: 1500, examples: [[{ document: 12, path: [5, 3], value: { "": "*" } }]] },
  );
});

/** Removes fenced blocks, which contain values unchanged, such as a single `*`. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^( *)(`{3,})[^\n`]*\n[\s\S]*?^\1\2$/gm, "");
}

/** Returns a copy with the value at a path of key indexes replaced. An index beyond the last key wraps around. */
function replaceAt(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return replacement;
  const keys = Object.keys(value);
  const chosen = keys[step % Math.max(keys.length, 1)];
  if (chosen === undefined) return replacement;
  const changed = Array.isArray(value) ? [...value] : { ...value };
  (changed as Record<string, unknown>)[chosen] = replaceAt(
    (value as Record<string, unknown>)[chosen],
    rest,
    replacement,
  );
  return changed;
}
