import { expect, test } from "bun:test";
import fc from "fast-check";
import { type DefinitionChanges, editDefinition } from "../../../shared/definitions/edit.ts";
import { DEFINITION_AGENT_TYPES, DEFINITION_DOMAINS } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";
import { storableText } from "../../helpers/definitions/nasty_text.ts";

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
  list: [ 1,2 ]
`;

test("editDefinition() changes the lines it is about, and no others", () => {
  const changes: DefinitionChanges = {
    name: "my-fork",
    version: "2.0.0",
    displayName: "My: fork",
    description: "Said anew # really",
    domain: "legal",
    subdomain: null,
    agentType: "analyst",
    tags: ["a", "b, c"],
  };
  expect(editDefinition(DOCUMENT, changes)).toBe(`# Of the whole.
agent:
  # Above the interface.
  interface:
    name: my-fork   # the name
    version: '2.0.0'
    agentType: analyst
    description: "Said anew # really"
    # Above the tags.
    tags:
      - a
      - "b, c"
    domain: legal # where

    displayName: "My: fork"
  mission:
    opener:  "kept  as it is"   # even the spaces
  list: [ 1,2 ]
`);
});

test("editDefinition() returns a document as it is when it says so already", () => {
  expect(editDefinition(DOCUMENT, {})).toBe(DOCUMENT);
  expect(editDefinition(DOCUMENT, { name: "reviewer", tags: ["old"], agentType: null })).toBe(DOCUMENT);
});

test("editDefinition() keeps CRLF, and a missing line end", () => {
  expect(
    editDefinition("agent:\r\n  interface:\r\n    name: a\r\n    version: 1.0.0", { domain: "legal" }),
  ).toBe("agent:\r\n  interface:\r\n    name: a\r\n    version: 1.0.0\r\n    domain: legal\r\n");
});

test("editDefinition() keeps JSON JSON", () => {
  const json = '{"agent": {"interface": {"name": "a", "version": "1.0.0", "displayName": "A"}}}';
  const edited = editDefinition(json, { name: "b", displayName: "B, b", tags: ["x"] });
  expect(JSON.parse(edited)).toEqual({
    agent: { interface: { name: "b", version: "1.0.0", displayName: "B, b", tags: ["x"] } },
  });
});

test.each([
  ["the interface is an alias", "base: &b {name: a, version: 1.0.0}\nagent:\n  # kept\n  interface: *b\n"],
  [
    "others refer to the field",
    "agent:\n  # kept\n  interface:\n    name: &n a\n    version: 1.0.0\n  other: *n\n",
  ],
  ["the interface is on one line", "# kept\nagent: {interface: {name: a, version: 1.0.0, domain: legal}}\n"],
])("editDefinition() leaves every other value when %s", (_, yaml) => {
  const before = parsed(yaml).root;
  const edited = parsed(editDefinition(yaml, { name: "b", domain: "general", subdomain: null }));
  expect(edited.name).toBe("b");
  expect(edited.fields.domain).toBe("general");
  const { base, agent } = before as { base?: unknown; agent: { other?: unknown } };
  expect(edited.root["base"]).toEqual(base);
  expect(edited.body["other"]).toEqual(agent.other);
});

const changes: fc.Arbitrary<DefinitionChanges> = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,19}[a-z0-9])?$/),
    version: fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).map((parts) => parts.join(".")),
    displayName: storableText(40),
    description: storableText(300),
    domain: fc.constantFrom(...DEFINITION_DOMAINS),
    subdomain: fc.option(storableText(20)),
    agentType: fc.option(fc.constantFrom(...DEFINITION_AGENT_TYPES)),
    tags: fc.uniqueArray(storableText(12), { maxLength: 5 }),
  },
  { requiredKeys: [] },
);

test("editDefinition() says what was meant, and leaves every other value and comment", () => {
  const documents = [
    ...readDemoDefinitions().map(({ type, yaml }) => ({ type, yaml: `# first\n${yaml}\n# last\n` })),
    { type: "agent" as const, yaml: DOCUMENT },
  ];
  fc.assert(
    fc.property(fc.constantFrom(...documents), changes, ({ type, yaml }, edits) => {
      const before = parsed(yaml, type);
      const edited = editDefinition(yaml, edits);
      const after = parsed(edited, type);
      const declared = { ...(before.body["interface"] as object), ...edits } as Record<string, unknown>;
      for (const [key, value] of Object.entries(declared))
        if (value === null && key in edits) delete declared[key];
      expect(after.root).toEqual({ ...before.root, [type]: { ...before.body, interface: declared } });
      const comments = (text: string) => text.split("\n").filter((line) => /^\s*#/.test(line));
      expect(comments(edited)).toEqual(expect.arrayContaining(comments(yaml)));
    }),
    { numRuns: 80 },
  );
});

test("editDefinition() does not touch what does not parse", () => {
  expect(() => editDefinition("a: b: c", { name: "b" })).toThrow("does not parse");
  expect(() => editDefinition("other: 1", { name: "b" })).toThrow("no root key");
  expect(() => editDefinition("agent: 1", { name: "b" })).toThrow("no interface");
});
