import { expect, test } from "bun:test";
import { isMap, parse } from "yaml";
import { checkKeys } from "../../../../shared/definitions/language/check_keys.ts";
import { exampleOfKey, type Key } from "../../../../shared/definitions/language/keys.ts";
import { LANGUAGES } from "../../../../shared/definitions/language/language.ts";
import { parseDefinition } from "../../../../shared/definitions/parse_definition.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../../shared/vocabulary.ts";
import { readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";

function warningsOf(yaml: string, type: DefinitionType) {
  const parsing = parseDefinition(yaml, { type });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.problems));
  return checkKeys(parsing.source, parsing.document);
}

/** Returns the warnings about `lines`, which follow a valid interface. */
function check(type: DefinitionType, lines: string) {
  const agentType = type === "agent" ? ", agentType: explorer" : "";
  const head = `${type}:\n  interface: {name: a, version: 1.0.0, description: Says what a sample does.${agentType}}\n`;
  return warningsOf(head + lines.replace(/^/gm, "  "), type);
}

function placesOf(type: DefinitionType, lines: string): string[] {
  return check(type, lines).map(({ code, path, line }) => `${code} ${path.replace(`${type}.`, "")} ${line}`);
}

test.each(readDemoDefinitions())("$file causes no warning", ({ type, yaml }) => {
  expect(warningsOf(yaml, type)).toEqual([]);
});

test.each<[DefinitionType, lines: string, suggestion: string | null]>([
  ["agent", "missions: {opener: x}", "mission"],
  ["agent", "mission: {openr: x}", "opener"],
  ["agent", "defaults: {maxTokens: 5}", "max_tokens"],
  ["agent", "model: sonnet", "agent.defaults.model"],
  ["agent", "scoring: {categories: [{weigth: 5}]}", "weight"],
  ["agent", "tone: {attribute: calm}", "attributes"],
  ["agent", "own_block: {a: b}", null],
  ["command", "invoke: {agent: a}", "invokes"],
  ["command", "preflight: [{chek: git_clean}]", "check"],
  ["command", "preflight: {checks: [{check: git_clean, mesage: x}]}", "message"],
  ["workflow", "orchestration: {phases: [{depend_on: [a]}]}", "depends_on"],
  ["pipeline", "stages: [{workflow: [a]}]", "workflows"],
  ["pipeline", "stages: [{workflows: [{reff: a}]}]", "ref"],
  ["pipeline", "stagez: []", "stages"],
])("an unknown key of a %s causes a warning: %s suggests %p", (type, lines, suggestion) => {
  const [warning, ...others] = check(type, lines);
  expect(others).toEqual([]);
  expect(warning).toMatchObject({ code: "UNKNOWN_KEY", line: 3, details: { suggestion } });
  if (suggestion !== null) expect(warning?.message).toContain(`Did you mean "${suggestion}"?`);
});

test.each<[DefinitionType, lines: string]>([
  ["agent", "tone: {tempo: fast}"],
  ["agent", "composition: {anything: [1, {a: b}]}"],
  ["agent", "context: {environment: {ANY: x}}"],
  ["agent", "meta: {a: 1}"],
  ["agent", "knowledge_base: {key_definitions: {entry point: where it begins}}"],
  ["agent", "output: {schema: {type: object, properties: {a: {type: string}}}}"],
  ["command", "postflight: {on_timeout: {message: x}}"],
  ["workflow", "postflight: {on_learned: {message: x}}"],
  ["pipeline", "owners: [a]\nstages: [{team: x, approval: branch == 'main'}]"],
  ["agent", "defaults: {timeout: 80.0, temperature: 0x0, max_tokens: '5'}"],
  [
    "agent",
    "mission: {opener: 2026, role_boundaries: one}\ntone: false\nrollback: {enabled: False}".replace(
      "False",
      "false",
    ),
  ],
])("valid keys and values of a %s cause no warning: %s", (type, lines) => {
  expect(check(type, lines)).toEqual([]);
});

test("a value of the wrong kind causes a warning that has the value's line and says what to write", () => {
  const lines = `defaults:
  timeout: 5m
rollback:
  enabled: no
interface2: &x "true"
auto_fail: {enabled: *x}
context: {timeout_behavior: contine}
mission:
  - opener
process: {phases: {name: a}}`;
  const found = check("agent", lines).map(({ code, path, line, message }) => [code, path, line, message]);
  expect(found).toEqual([
    [
      "UNEXPECTED_VALUE",
      "agent.defaults.timeout",
      4,
      'timeout should be a whole number, but is a text, "5m". Example: 300000',
    ],
    [
      "UNEXPECTED_VALUE",
      "agent.rollback.enabled",
      6,
      'enabled is read as false, but "no" is a text. Write false, without quotes.',
    ],
    ["UNKNOWN_KEY", "agent.interface2", 7, '"interface2" is not a key of agent. Did you mean "interface"?'],
    [
      "UNEXPECTED_VALUE",
      "agent.auto_fail.enabled",
      8,
      'enabled is read as true, but "true" is a text. Write true, without quotes.',
    ],
    [
      "UNEXPECTED_VALUE",
      "agent.context.timeout_behavior",
      9,
      'timeout_behavior has no word "contine". Use one of: fail, warn, continue.',
    ],
    [
      "UNEXPECTED_VALUE",
      "agent.mission",
      11,
      expect.stringContaining("mission should be a map, but is a list."),
    ],
    [
      "UNEXPECTED_VALUE",
      "agent.process.phases",
      12,
      expect.stringContaining("phases should be a list, but is a map."),
    ],
  ]);
});

test.each<[DefinitionType, lines: string, places: string[]]>([
  ["command", "invokes: {agent: [a]}", ["UNEXPECTED_VALUE invokes.agent 3"]],
  ["command", "invokes: {agents: {a: b}}", ["UNEXPECTED_VALUE invokes.agents 3"]],
  [
    "workflow",
    "orchestration: {phases: [{commands: 5}]}",
    ["UNEXPECTED_VALUE orchestration.phases[0].commands 3"],
  ],
  [
    "pipeline",
    "stages:\n  - workflows: {ref: x}\n  - agents:\n      - ref: [a]",
    ["UNEXPECTED_VALUE stages[0].workflows 4", "UNEXPECTED_VALUE stages[1].agents[0].ref 6"],
  ],
])("a reference in a %s that is not a string causes a warning: %s", (type, lines, places) => {
  expect(placesOf(type, lines)).toEqual(places);
});

test('an unquoted "~" in place of a text causes a warning, because it renders nothing', () => {
  expect(check("agent", "context: {working_directory: ~, shell: null}")).toMatchObject([
    { code: "UNEXPECTED_VALUE", path: "agent.context.working_directory", details: { suggestion: '"~"' } },
  ]);
});

test('an unquoted "no" at a key that accepts booleans and texts is read as text, with a warning', () => {
  const lines = (value: string) =>
    `preflight: {checks: [{check: command, command: a, expect_output: ${value}}]}`;
  expect(check("command", lines("no"))).toMatchObject([
    { code: "UNEXPECTED_VALUE", message: expect.stringContaining('is read as the text "no"') },
  ]);
  for (const value of ['"no"', "false", "ready"]) expect(check("command", lines(value))).toEqual([]);
});

test.each([
  ["Short.", 6],
  ["x".repeat(1_025), 1_025],
])("a description that is too short or too long causes a warning: %p", (description, length) => {
  const yaml = `agent: {interface: {name: a, version: 1.0.0, description: ${description}}}`;
  expect(warningsOf(yaml, "agent")).toMatchObject([
    {
      code: "DESCRIPTION_LENGTH",
      path: "agent.interface.description",
      details: { length, min: 20, max: 1_024 },
    },
  ]);
});

test("a top-level key other than meta and the root key causes a warning", () => {
  const yaml = "meta: {a: 1}\nnotes: x\nagent: {interface: {name: a, version: 1.0.0}}";
  expect(warningsOf(yaml, "agent")).toMatchObject([{ code: "UNKNOWN_KEY", path: "notes", line: 2 }]);
});

test("an unknown key causes a warning at the key's position, whatever the types of key and value", () => {
  const lines = "mission:\n  1: a\n  true: b\n  ~: c\n  nested:\n    d: e\n  listed:\n  - f\n  ? empty\n";
  const found = check("agent", lines).map(({ path, line, column }) => `${path} ${line}:${column}`);
  expect(found.map((place) => place.replace("agent.mission", ""))).toEqual([
    '["1"] 4:5',
    ".true 5:5",
    '["~"] 6:5',
    ".nested 7:5",
    ".listed 9:5",
    ".empty 11:7",
  ]);
});

test("at most fifty warnings are returned", () => {
  const keys = Array.from({ length: 200 }, (_, index) => `k${index}: 1`).join(", ");
  expect(check("agent", `mission: {${keys}}`)).toHaveLength(50);
});

test("checking a map with thousands of keys reads the map's items only a few times", () => {
  const keys = Array.from({ length: 5000 }, (_, index) => `k${index}:`).join("\n      ");
  const yaml = `agent:
  interface: {name: sample, version: 1.0.0, description: Does what a sample does., agentType: explorer}
  context:
    environment:
      ${keys}
      last: ~`;
  const parsing = parseDefinition(yaml, { type: "agent" });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.problems));
  let compared = 0;
  const map = parsing.document.tree.getIn(["agent", "context", "environment"], true);
  if (!isMap(map)) throw new Error("There is no map");
  // Counts reads of the map's items, because the parser's lookup reads all items.
  const { items } = map;
  Object.defineProperty(map, "items", {
    get: () => {
      compared += 1;
      return items;
    },
  });
  expect(checkKeys(parsing.source, parsing.document).map(({ path }) => path)).toEqual([
    "agent.context.environment.last",
  ]);
  expect(compared).toBeLessThan(10);
});

/** Yields every key of a language with its path and a body that contains the key's example. */
function* examples(type: DefinitionType): Generator<{ path: string; key: Key; body: unknown }> {
  function* inside(key: Key, path: string, wrap: (value: unknown) => unknown): ReturnType<typeof examples> {
    for (const [name, inner] of Object.entries(key.keys)) {
      const place = (value: unknown) => wrap({ [name]: value });
      yield { path: `${path}.${name}`, key: inner, body: place(parse(exampleOfKey(inner))) };
      const isMap = inner.kind === "list" || inner.kind === "names";
      const within = (value: unknown) =>
        place(inner.kind === "list" ? [value] : inner.kind === "names" ? { any: value } : value);
      yield* inside(isMap && inner.item ? inner.item : inner, `${path}.${name}`, within);
    }
  }
  yield* inside(LANGUAGES[type], type, (value) => value);
}

test.each(DEFINITION_TYPES)("every key of a %s has a meaning and a valid example", (type) => {
  const wrong: unknown[] = [];
  let count = 0;
  for (const { path, key, body } of examples(type)) {
    count++;
    expect([path, key.meaning]).toEqual([path, expect.stringMatching(/^[A-Z`].*[^.]$/)]);
    const source = { type, root: { [type]: body }, body: body as Record<string, unknown> };
    const unplaced = { locate: () => ({ line: 1, column: 1 }), nodeAt: () => null };
    const found = checkKeys(source, unplaced).filter(({ code }) => code !== "DESCRIPTION_LENGTH");
    wrong.push(...found.map((warning) => ({ ...warning, path })));
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(50);
});

test("only the first 200 unknown keys are compared with the known keys", () => {
  const lines = (count: number) => {
    const own = Array.from({ length: count }, (_, n) => `zz${n}: 1`);
    return `tone: {${own.join(", ")}}\nmissions: {opener: x}`;
  };
  expect(placesOf("agent", lines(199))).toEqual(["UNKNOWN_KEY missions 4"]);
  expect(placesOf("agent", lines(200))).toEqual([]);
});
