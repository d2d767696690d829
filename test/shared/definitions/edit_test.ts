import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type DefinitionChanges,
  editDefinition,
  type QualifiedName,
} from "../../../shared/definitions/edit.ts";
import { listReferences, writtenName } from "../../../shared/definitions/references.ts";
import {
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  type DefinitionType,
} from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";
import { storableText } from "../../helpers/definitions/nasty_text.ts";

/** Edits a document and returns the new text. Throws if the edit fails. */
function edit(yaml: string, changes: DefinitionChanges, names?: readonly QualifiedName[]): string {
  const edited = editDefinition(yaml, changes, names);
  if (!edited.ok) throw new Error(`Cannot edit: ${JSON.stringify(edited.problems)}`);
  return edited.yaml;
}

const DOCUMENT = `# Of the whole.
agent:
  # Above the interface.
  interface:
    name: reviewer   # the name
    version: '1.0.0'
    description: >-
      One line
      and another.
    # Above the tags.
    tags:
      - old
    domain: software # where
    subdomain: |
      code

    displayName:
  mission:
    opener:  "kept  as it is"   # even the spaces
    build: 12345678901234567890
  list: [ 1,2 ]
`;

test("editDefinition() changes only the given values", () => {
  const changes: DefinitionChanges = {
    name: "my-fork",
    version: "2.0.0",
    displayName: "My: fork",
    description: "Said anew # really",
    domain: "legal",
    subdomain: "tests\nand more\n",
    agentType: "analyst",
    tags: ["a", "b, c"],
  };
  expect(edit(DOCUMENT, changes)).toBe(`# Of the whole.
agent:
  # Above the interface.
  interface:
    name: my-fork   # the name
    version: '2.0.0'
    agentType: analyst
    description: >-
      Said anew # really
    # Above the tags.
    tags:
      - a
      - "b, c"
    domain: legal # where
    subdomain: |
      tests
      and more

    displayName: "My: fork"
  mission:
    opener:  "kept  as it is"   # even the spaces
    build: 12345678901234567890
  list: [ 1,2 ]
`);
});

test("editDefinition() returns a document unchanged if it already has the values", () => {
  expect(edit(DOCUMENT, {})).toBe(DOCUMENT);
  expect(edit(DOCUMENT, { name: "reviewer", tags: ["old"] })).toBe(DOCUMENT);
});

/** In the documents, `I` stands for `interface`. The test adds a name and a version to it. */
test.each<[case_: string, yaml: string, changes: DefinitionChanges, expected: string]>([
  [
    "a text in single quotes",
    "I:\n  description: 'it''s'\n",
    { description: "that's" },
    "I:\n  description: 'that''s'\n",
  ],
  [
    "a text in double quotes",
    'I:\n  description: "x" # c\n',
    { description: "new" },
    'I:\n  description: "new" # c\n',
  ],
  [
    "a text of two plain lines",
    "I:\n  description: a\n    b # c\n",
    { description: "new" },
    "I:\n  description: new # c\n",
  ],
  [
    "a text below its key",
    "I:\n  description: # c\n    a\n",
    { description: "new" },
    "I:\n  description: # c\n    new\n",
  ],
  [
    "a text with tag and anchor",
    "I:\n  domain: !!str &d legal\n",
    { domain: "general" },
    "I:\n  domain: !!str &d general\n",
  ],
  [
    "a block with a comment, an indent and blank lines",
    "I:\n  description: >2- # c\n      two\n    lines\n\n\n  domain: legal\n",
    { description: "One line" },
    "I:\n  description: >- # c\n    One line\n\n\n  domain: legal\n",
  ],
  [
    "a block with a text that needs quotes",
    "I:\n  description: | # c\n    old\n\n  domain: legal\n",
    { description: " padded" },
    'I:\n  description: " padded" # c\n\n  domain: legal\n',
  ],
  [
    "an empty block",
    "I:\n  description: |\n\n  domain: legal\n",
    { description: "new" },
    "I:\n  description: |-\n    new\n\n  domain: legal\n",
  ],
  [
    "a plain text with several lines",
    "I:\n  description: old # c\n  domain: legal\n",
    { description: "First:\n\n- item" },
    "I:\n  description: |- # c\n    First:\n\n    - item\n  domain: legal\n",
  ],
  [
    "a text above a deeper comment with several lines",
    "I:\n  description: old\n      # deeper\n  domain: legal\n",
    { description: "First\nsecond" },
    'I:\n  description: "First\\nsecond"\n      # deeper\n  domain: legal\n',
  ],
  [
    "a text with a word that is a boolean in YAML 1.1",
    "I:\n  description: x\n",
    { description: "yes" },
    'I:\n  description: "yes"\n',
  ],
  [
    "a missing value before a comment",
    "I:\n  description: # c\n  domain: legal\n",
    { description: "new" },
    "I:\n  description: new # c\n  domain: legal\n",
  ],
  [
    "a missing value with an anchor",
    "I:\n  description: &d\n  domain: legal\n",
    { description: "new" },
    "I:\n  description: &d new\n  domain: legal\n",
  ],
  [
    "a missing value with a tag",
    "I:\n  description: !!null\n  domain: legal\n",
    { description: "new" },
    "I:\n  description:  new\n  domain: legal\n",
  ],
  [
    "a missing value of an explicit key",
    "I:\n  ? description # c\n  ? domain\n  : legal\n",
    { description: "new" },
    "I:\n  ? description # c\n  : new\n  ? domain\n  : legal\n",
  ],
  [
    "a map with a text",
    "I:\n  displayName: # c\n    a: b # d\n  domain: legal\n",
    { displayName: "new" },
    "I:\n  displayName: # c\n    new # d\n  domain: legal\n",
  ],
  [
    "a list in the column of its key",
    "I:\n  tags: # c\n  - a\n  - b # d\n",
    { tags: [] },
    "I:\n  tags: # c\n    [] # d\n",
  ],
  [
    "a list with an empty list",
    "I:\n  tags:\n    - a\n    # between\n    - b # d\n",
    { tags: [] },
    "I:\n  tags: [] # d\n",
  ],
  [
    "a list in brackets",
    "I:\n  tags: [a, b] # d\n",
    { tags: ["x", "y, z"] },
    'I:\n  tags: [x, "y, z"] # d\n',
  ],
  ["a text with a list", "I:\n  tags: !!str a, b # d\n", { tags: ["x"] }, "I:\n  tags: [x] # d\n"],
  [
    "values in brackets",
    'I: {tags: , domain: legal , "displayName":"A"}\n',
    { tags: ["x"], domain: "general", displayName: "B" },
    'I: {tags: [x] , domain: general , "displayName":"B"}\n',
  ],
  [
    "a key in brackets without a value",
    "I: {tags, domain: legal}\n",
    { tags: ["x"] },
    "I: {tags: [x], domain: legal}\n",
  ],
])("editDefinition() replaces %s", (_, yaml, changes, expected) => {
  const head = "agent: # an agent\n  ";
  const written = (text: string) => {
    const block = text
      .replace("I:\n", "I:\n  name: a\n  version: 1.0.0\n")
      .replace("I: {", "I: {name: a, version: 1.0.0, ");
    return (
      head +
      block
        .replaceAll(/\n(?!\n)/g, "\n  ")
        .replace("I:", "interface:")
        .replace(/ +$/, "") +
      "  last: 3.10"
    );
  };
  for (const ends of [
    (text: string) => text,
    (text: string) => text.replaceAll("\n", "\r\n"),
    (text: string) => `\uFEFF%YAML 1.2\n---\n${text}\n...\n`,
  ]) {
    expect(edit(ends(written(yaml)), changes)).toBe(ends(written(expected)));
  }
});

test.each<[yaml: string, expected: string]>([
  [
    "agent:\n  interface:\n    name: a\n    version: 1.0.0",
    "agent:\n  interface:\n    name: a\n    version: 1.0.0\n    domain: legal",
  ],
  [
    "agent:\r\n  interface:\r\n    version: 1.0.0 # c\r\n    name: a\r\n",
    "agent:\r\n  interface:\r\n    version: 1.0.0 # c\r\n    domain: legal\r\n    name: a\r\n",
  ],
  [
    "? agent\n: interface:\n   ? name\n   : a\n   ? version\n   : &v 1.0.0\n...\n",
    "? agent\n: interface:\n   ? name\n   : a\n   ? version\n   : &v 1.0.0\n   domain: legal\n...\n",
  ],
  [
    '{"agent": {"interface": {"name": "a", "version": "1.0.0"}}}',
    '{"agent": {"interface": {"name": "a", "version": "1.0.0", "domain": "legal"}}}',
  ],
  [
    "agent: {interface: {version: 1.0.0 # c\n   , name: a}}\n",
    "agent: {interface: {version: 1.0.0, domain: legal # c\n   , name: a}}\n",
  ],
])("editDefinition() adds a field after the version in %j", (yaml, expected) => {
  expect(edit(yaml, { domain: "legal" })).toBe(expected);
});

test("editDefinition() adds fields in the standard order, and writes multi-line texts as blocks", () => {
  const yaml = "agent:\n  interface:\n    name: a\n    version: 1.0.0\n  # kept\n";
  const edited = edit(yaml, { tags: ["x"], description: "One\n\n  two\n", displayName: "A" });
  expect(edited).toBe(
    "agent:\n  interface:\n    name: a\n    version: 1.0.0\n    displayName: A\n    description: |\n      One\n\n        two\n    tags: [x]\n  # kept\n",
  );
});

test.each<[what: string, yaml: string, expected: string, replaced: string[]]>([
  [
    "the value is an alias",
    "base: &b software\nagent:\n  interface: {name: a, version: 1.0.0, domain: *b }\n",
    "base: &b software\nagent:\n  interface: {name: a, version: 1.0.0, domain: legal }\n",
    [],
  ],
  [
    "aliases refer to the value",
    "agent:\n  interface:\n    name: a\n    version: 1.0.0\n    domain: &d software # c\n  one: *d # d\n  two: [*d, &d x, *d]\n  *d : y\n",
    "agent:\n  interface:\n    name: a\n    version: 1.0.0\n    domain: &d legal # c\n  one: software # d\n  two: [software, &d x, *d]\n  *d : y\n",
    ["agent.one", "agent.two[0]"],
  ],
  [
    "the interface is an alias",
    "base: &b\n  # kept\n  name: a\n  version: &v 1.0.0\n  list: [*v, 3.10, no, ~]\n  text: |\n    two\n    lines\nagent:\n  interface: *b\n",
    'base: &b\n  # kept\n  name: a\n  version: &v 1.0.0\n  list: [*v, 3.10, no, ~]\n  text: |\n    two\n    lines\nagent:\n  interface: {name: a, version: 1.0.0, list: [1.0.0, 3.10, "no", ~], text: "two\\nlines\\n", domain: legal}\n',
    ["agent.interface"],
  ],
  [
    "an alias refers to the interface",
    "agent:\n  interface: &i { name: a, version: 1.0.0 }\n  copy: *i\n",
    "agent:\n  interface: &i { name: a, version: 1.0.0, domain: legal }\n  copy: {name: a, version: 1.0.0}\n",
    ["agent.copy"],
  ],
])("editDefinition() keeps every other value when %s", (_, yaml, expected, replaced) => {
  const edited = editDefinition(yaml, { domain: "legal" });
  expect(edited).toMatchObject({ ok: true, yaml: expected });
  expect(edited.ok && edited.replacedAliases.map(({ path }) => path)).toEqual(replaced);
});

test("editDefinition() reports each replaced alias and its position", () => {
  const yaml = "agent:\n  interface:\n    name: &n a\n    version: 1.0.0\n  other:\n    - *n\n";
  const edited = editDefinition(yaml, { name: "b" });
  const message = 'The alias "*n" is replaced by its text, because the value of its anchor changes.';
  expect(edited).toMatchObject({
    replacedAliases: [{ path: "agent.other[0]", message, line: 6, column: 7 }],
  });
});

const HEAD = "interface: { name: a, version: 1.0.0 }";
const NAMES = (["agent", "command", "workflow", "pipeline"] as const).flatMap((type) =>
  ["x", "404", "true"].map((name) => ({ type, name, orgSlug: `${type}s` })),
);

test.each<[type: DefinitionType, body: string, expected: string]>([
  ["command", "invokes: { agent: x@1.0.0 } # why", 'invokes: { agent: "@agents/x@1.0.0" } # why'],
  [
    "command",
    "invokes:\n    agents:\n      - 'x'\n      - other",
    "invokes:\n    agents:\n      - '@agents/x'\n      - other",
  ],
  ["command", "iteration: { target_agent: x }", 'iteration: { target_agent: "@agents/x" }'],
  [
    "command",
    "invokes:\n    agent: >- # folded\n      x@^1.0.0\n\n    build: 12345678901234567890",
    "invokes:\n    agent: >- # folded\n      @agents/x@^1.0.0\n\n    build: 12345678901234567890",
  ],
  // An alias is kept if its anchor gets the same organization.
  ["command", "invokes:\n    agents: [&one x, *one]", 'invokes:\n    agents: [&one "@agents/x", *one]'],
  [
    "command",
    "invokes: &all { agent: x }\n  iteration: { target_agent: x }\n  copy: *all",
    'invokes: &all { agent: "@agents/x" }\n  iteration: { target_agent: "@agents/x" }\n  copy: {agent: x}',
  ],
  [
    "workflow",
    "orchestration: { phases: [{ steps: [{ agent: x }, { command: x }], commands: [x] }] }",
    'orchestration: { phases: [{ steps: [{ agent: "@agents/x" }, { command: "@commands/x" }], commands: ["@commands/x"] }] }',
  ],
  [
    "workflow",
    "orchestration:\n    phases:\n    - &p\n      steps: [agent: x]\n    - *p",
    'orchestration:\n    phases:\n    - &p\n      steps: [agent: "@agents/x"]\n    - *p',
  ],
  [
    "pipeline",
    "stages: [{ workflows: [x, { ref: x }], agents: [{ ref: x }] }, { ref: x, type: workflow }]",
    'stages: [{ workflows: ["@workflows/x", { ref: "@workflows/x" }], agents: [{ ref: "@agents/x" }] }, { ref: "@workflows/x", type: workflow }]',
  ],
  [
    "pipeline",
    "triggers: [{ type: pipeline, pipeline: x }]",
    'triggers: [{ type: pipeline, pipeline: "@pipelines/x" }]',
  ],
  [
    "pipeline",
    "stages: [{ agents: [404, { ref: 404 }], commands: [true] }]",
    'stages: [{ agents: ["@agents/404", { ref: "@agents/404" }], commands: ["@commands/true"] }]',
  ],
  ["command", 'invokes: { agent: "@other/x@1.0.0" }', 'invokes: { agent: "@other/x@1.0.0" }'],
  ["command", "invokes: { agent: Not A Name }\n  x: x", "invokes: { agent: Not A Name }\n  x: x"],
])("editDefinition() adds organizations to references in a %s: %j", (type, body, expected) => {
  const document = (text: string) => `${type}:\n  ${HEAD}\n  ${text}\n`;
  expect(edit(document(body), {}, NAMES)).toBe(document(expected));
});

test("adding organizations to references changes nothing else in the demo's documents except quotes", () => {
  for (const { type, yaml } of readDemoDefinitions()) {
    const source = parsed(yaml, type);
    const names = listReferences(source).map(({ type: kind, name }) => ({
      type: kind,
      name,
      orgSlug: "demo",
    }));
    const edited = edit(yaml, {}, names);
    const expected = listReferences(source).map((reference) =>
      writtenName({ ...reference, orgSlug: "demo" }),
    );
    expect(listReferences(parsed(edited, type)).map(writtenName)).toEqual(expected);
    expect(edited.replaceAll(/(["'])@demo\/([^"']*)\1/g, "$2").replaceAll(/['"]/g, "")).toBe(
      yaml.replaceAll(/['"]/g, ""),
    );
  }
});

const changes: fc.Arbitrary<DefinitionChanges> = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,19}[a-z0-9])?$/),
    version: fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).map((parts) => parts.join(".")),
    displayName: storableText(40),
    description: storableText(300),
    domain: fc.constantFrom(...DEFINITION_DOMAINS),
    subdomain: storableText(20),
    agentType: fc.constantFrom(...DEFINITION_AGENT_TYPES),
    tags: fc.uniqueArray(storableText(12), { maxLength: 5 }),
  },
  { requiredKeys: [] },
);

test("editDefinition() can write any text, and keeps every other value and comment", () => {
  const documents = [
    ...readDemoDefinitions().map(({ type, yaml }) => ({ type, yaml: `# first\n${yaml}\n# last\n` })),
    { type: "agent" as const, yaml: DOCUMENT },
  ];
  fc.assert(
    fc.property(fc.constantFrom(...documents), changes, ({ type, yaml }, edits) => {
      const before = parsed(yaml, type);
      const edited = edit(yaml, edits);
      const after = parsed(edited, type);
      const declared = { ...(before.body["interface"] as object), ...edits };
      expect(after.root).toEqual({ ...before.root, [type]: { ...before.body, interface: declared } });
      const comments = (text: string) => text.split("\n").filter((line) => /^\s*#/.test(line));
      expect(comments(edited)).toEqual(expect.arrayContaining(comments(yaml)));
    }),
    { numRuns: 80 },
  );
});

test.each([
  ["a: b: c", "yaml", "Nested mappings"],
  ["other: 1", "yaml", "The root key is missing"],
  ["agent: 1", "agent", "must be a map"],
])("editDefinition() rejects %j", (yaml, path, because) => {
  const edited = editDefinition(yaml, { name: "b" });
  const message = expect.stringContaining(because);
  expect(edited).toMatchObject({ ok: false, problems: [{ path, message }] });
});
