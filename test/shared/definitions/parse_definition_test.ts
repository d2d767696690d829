import { expect, test } from "bun:test";
import fc from "fast-check";
import { hashDefinition } from "../../../shared/definitions/hash_definition.ts";
import { MAX_TAGS } from "../../../shared/definitions/interface_fields.ts";
import { MAX_DEFINITION_BYTES, parseDefinition } from "../../../shared/definitions/parse_definition.ts";
import { translateDefinition } from "../../../shared/definitions/translate/translate.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";

const MINIMAL = 'agent:\n  interface:\n    name: a\n    version: "1.0.0"\n';

function agent(lines: string): string {
  return MINIMAL + lines.replace(/^/gm, "    ");
}

function problemsOf(yaml: string, type: DefinitionType = "agent"): string[] {
  const result = parseDefinition(yaml, { type });
  return result.ok
    ? []
    : result.problems.map(({ path, message, line, column }) => `${path} ${line}:${column} ${message}`);
}

test("parseDefinition() reads the demo's documents with the types and names in their file names", () => {
  const demo = readDemoDefinitions();
  expect(demo).toHaveLength(20);
  for (const { file, type, yaml } of demo) {
    const { name, version, fields, body, root } = parsed(yaml, type);
    expect(`${name}.${type}.yaml`).toBe(file);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(fields.description.length).toBeGreaterThan(20);
    expect(fields.agentType === null).toBe(type !== "agent");
    expect(root[type]).toBe(body);
  }
});

test("parseDefinition() fills in defaults for a document that has only a name and a version", () => {
  expect(parsed(MINIMAL.replace("name: a", "name: code-reviewer")).fields).toEqual({
    displayName: "Code Reviewer",
    description: "",
    domain: "general",
    subdomain: null,
    agentType: null,
    tags: [],
    author: null,
  });
});

test.each([
  ["displayName: 2026", { displayName: "2026" }],
  ["displayName: 3.10", { displayName: "3.10" }],
  ["description: TRUE", { description: "TRUE" }],
  ["tags: [3.10, 1e3]", { tags: ["3.10", "1e3"] }],
  ["tags: 3.10", { tags: ["3.10"] }],
  ["displayName: '  '", { displayName: "A" }],
  ["displayName: x", { displayName: "x" }],
  ["description: [x]", { description: "" }],
  [`description: ${"long ".repeat(700)}end`, { description: `${"long ".repeat(700)}end` }],
  ["domain: cognitive-lens", { domain: "cognitive-lens" }],
  ["domain:", { domain: "general" }],
  ["agentType: forecaster", { agentType: "forecaster" }],
  ["subdomain: any text, any", { subdomain: "any text, any" }],
  ["tags: one", { tags: ["one"] }],
  ["tags: one, two ,, one", { tags: ["one", "two"] }],
  ["tags: [' a ', a, 7, true, {b: c}, '', null]", { tags: ["a", "7", "true"] }],
  ["tags: {a: b}", { tags: [] }],
  ["author: Ada", { author: "Ada" }],
  ["unknown: {kept: [1, 2]}", {}],
])("parseDefinition() reads %j", (line, fields) => {
  expect(parsed(agent(line)).fields).toMatchObject(fields);
});

test("parseDefinition() keeps unknown keys at every level, and reads NO and yes as text", () => {
  const { root, body } = parsed(`${agent("x: {on: NO}")}\n  future:\n    - yes\nmeta: 1\n`);
  expect(root["meta"]).toBe(1);
  expect(body).toMatchObject({ interface: { x: { on: "NO" } }, future: ["yes"] });
});

test.each<[yaml: string, ...problems: string[]]>([
  ["", 'yaml 1:1 The document must be a map with the root key "agent"'],
  ["[a]", 'yaml 1:1 The document must be a map with the root key "agent"'],
  ["just text", 'yaml 1:1 The document must be a map with the root key "agent"'],
  ["other: 1", 'yaml 1:1 The root key "agent" is missing'],
  ["command:\n  interface: {}", 'command 1:1 The root key is "command", but the type is agent.'],
  [
    `${MINIMAL}command:\n  {}`,
    'command 5:1 The document has several definitions. Remove the root key "command".',
  ],
  [
    `command:\n  {}\n${MINIMAL}`,
    'command 1:1 The document has several definitions. Remove the root key "command".',
  ],
  ["agent: text", 'agent 1:8 "agent" must be a map'],
  ["agent:\n  mission: {}", 'agent.interface 2:3 "interface" is missing'],
  ["agent:\n  interface: [a]", 'agent.interface 2:14 "interface" is not a map'],
  [
    "agent:\n  interface:\n    displayName: X",
    "agent.interface.name 3:5 name is missing",
    "agent.interface.version 3:5 version is missing",
  ],
  [
    MINIMAL.replace("name: a", "name: Code Reviewer"),
    'agent.interface.name 3:11 Cannot use "Code Reviewer" as a name',
  ],
  [
    MINIMAL.replace("name: a", "name: abcdef12-3f5b-4c57-9a54-0f2d8f0f7c10"),
    'Cannot use "abcdef12-3f5b-4c57-9a54-0f2d8f0f7c10" as a name: a UUID is an id',
  ],
  [MINIMAL.replace("name: a", "name: 7"), "agent.interface.name 3:11 name must be text, but is a number"],
  [MINIMAL.replace("name: a", `name: ${"a".repeat(101)}`), "name must have at most 100 characters"],
  ...["1", "1.0", '"1.0"'].map((version): [string, string] => [
    MINIMAL.replace('"1.0.0"', version),
    'agent.interface.version 4:14 version is not MAJOR.MINOR.PATCH. Write three numbers and quote it, as in version: "1.0.0"',
  ]),
  [MINIMAL.replace('"1.0.0"', "1.0.0-beta"), 'version "1.0.0-beta" is not MAJOR.MINOR.PATCH'],
  [MINIMAL.replace('"1.0.0"', "v1.0.0"), "is not MAJOR.MINOR.PATCH"],
  [MINIMAL.replace('"1.0.0"', "01.0.0"), "is not MAJOR.MINOR.PATCH"],
  [MINIMAL.replace('"1.0.0"', "1000000.1000000.1000000"), "at most 20 characters"],
  [MINIMAL.replace('"1.0.0"', "[1, 0, 0]"), "version must be text, but is a list"],
  [
    agent("domain: Software"),
    'agent.interface.domain 5:13 "Software" is not allowed. Use one of: software, security',
  ],
  [agent("domain: 3"), "agent.interface.domain 5:13 3 is not allowed"],
  [agent("agentType: fixer"), 'agent.interface.agentType 5:16 "fixer" is not allowed. Use one of: validator'],
  [
    agent(`tags: [${Array.from({ length: MAX_TAGS + 1 }, (_, n) => `t${n}`).join(", ")}]`),
    "agent.interface.tags 5:11 There are 51 tags; the maximum is 50.",
  ],
  [
    agent("domain: Sea\nagentType: x").replace('"1.0.0"', "1"),
    "agent.interface.version 4:14 version is not MAJOR.MINOR.PATCH",
    "agent.interface.domain 5:13",
    "agent.interface.agentType 6:16",
  ],
])("parseDefinition() rejects %j", (yaml, ...expected) => {
  const problems = problemsOf(yaml);
  expect(problems).toHaveLength(expected.length);
  for (const [index, problem] of expected.entries()) expect(problems[index]).toContain(problem);
});

test("parseDefinition() recognizes rendered Markdown and says what to send instead", () => {
  const rendered = readDemoDefinitions().map(({ yaml, type }) => {
    const translation = translateDefinition(parsed(yaml, type));
    if (!translation.ok) throw new Error(translation.failures[0].message);
    return translation.runtimeMd;
  });
  const others = [
    "---\nname: helper\ntools: Read, Grep\n---\n\nYou help.\n",
    "\uFEFF---\r\nname: x\r\n---\r\nYou: {a}\r\n",
    "\n \n---\nname: x\n---\n\nYou help.\n",
  ];
  for (const text of [...rendered, ...others]) {
    for (const type of [null, "agent"] as const) {
      const result = parseDefinition(text, { type });
      expect(result).toMatchObject({ ok: false, problems: [{ path: "yaml", line: 1, column: 1 }] });
      expect(result.ok ? "" : result.problems[0]?.message).toStartWith(
        'This is Markdown with front matter, such as a rendered agent, and not the YAML of a definition. A definition begins with "agent:"',
      );
    }
  }
  expect(problemsOf(`---\n${MINIMAL}---\n${MINIMAL}`)[0]).toContain("several documents");
  for (const type of [null, "agent"] as const) {
    const bare = parseDefinition("name: x\ndescription: y\n", { type });
    expect(bare).toMatchObject({
      problems: [{ message: expect.stringContaining('below its "interface:"') }],
    });
  }
});

test("parseDefinition() accepts a name of 100 characters and a version of 20", () => {
  const yaml = MINIMAL.replace("name: a", `name: ${"a".repeat(100)}`).replace(
    "1.0.0",
    "123456.123456.123456",
  );
  expect(parsed(yaml)).toMatchObject({ name: "a".repeat(100), version: "123456.123456.123456" });
});

test("parseDefinition() reads a document of the maximum size", () => {
  const yaml = `${agent("notes: >-\n")}      `;
  const padded = yaml + "word ".repeat(40_000).slice(0, MAX_DEFINITION_BYTES - yaml.length - 1);
  const { notes } = parsed(padded).body["interface"] as { notes: string };
  expect(notes.length).toBeGreaterThan(150_000);
});

test("the hash depends on every value, but not on key order, comments or YAML style", () => {
  const hashOf = (yaml: string) => hashDefinition(parsed(yaml).root);
  const hash = hashOf(agent("domain: legal\nx: {a: [1, 2], b: on}"));
  expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(hashOf(`# c\n${agent("x:\n  b: 'on'\n  a:\n  - 1 # one\n  - 2\ndomain: 'legal'")}`)).toBe(hash);
  for (const other of [
    "domain: legal\nx: {a: [2, 1], b: on}",
    "domain: legal\nx: {a: [1, '2'], b: on}",
    "domain: legal",
  ]) {
    expect(hashOf(agent(other))).not.toBe(hash);
  }
});

/** Pieces of YAML from which random texts are built, so that the texts resemble documents. */
const PIECES = [
  "agent:",
  "interface:",
  "name: a",
  'version: "1.0.0"',
  "\n",
  "  ",
  "- ",
  "? ",
  ": ",
  "&a ",
  "*a",
  "!!str ",
  "|",
  ">-",
  "[",
  "]",
  "{",
  "}",
  '"',
  "'",
  "#",
  "---",
  "%YAML 1.2",
  "\t",
  "<<",
  "~",
  "\r\n",
  "__proto__",
];

test("parseDefinition() never throws, and gives every problem a path and a message", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 3 })), { maxLength: 60 })
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, fc.constantFrom(...DEFINITION_TYPES), (yaml, type) => {
      const result = parseDefinition(yaml, { type });
      if (!result.ok)
        expect(result.problems.every(({ path, message }) => path !== "" && message !== "")).toBe(true);
    }),
    { numRuns: 800 },
  );
});
