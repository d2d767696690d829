import { expect, test } from "bun:test";
import { diffFields, diffSections } from "../../../shared/definitions/diff.ts";
import { classifyChanges, suggestBump } from "../../../shared/definitions/significance.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";

function definition(body: string, type: DefinitionType = "agent") {
  return parsed(`${type}:\n  interface: {name: a, version: 1.0.0}\n${body.replace(/^/gm, "  ")}\n`, type);
}

test.each(readDemoDefinitions())(
  "$file does not differ from itself or from a later version with the same values",
  ({ type, yaml }) => {
    const source = parsed(yaml, type);
    const later = parsed(`# later\n${yaml.replace(/version: ".*"/, 'version: "9.0.0"')}`, type);
    for (const other of [source, later]) {
      const { added, removed, modified, unchanged } = diffSections(source, other);
      expect([added, removed, modified]).toEqual([[], [], []]);
      expect(unchanged).toContain(`${type}.interface`);
      const { fields, summary } = diffFields(source, other);
      expect(fields).toEqual([]);
      expect(summary.unchanged).toBeGreaterThan(10);
      expect(diffFields(source, other, { full: true }).fields).toHaveLength(summary.unchanged);
    }
  },
);

test("diffSections() compares blocks two levels deep, by value", () => {
  const from = definition("mission: {opener: x, stakes: y}\ntone: {a: 1}\nold: [1]\ntasks: [1]");
  const to = definition("new: 1\ntone: {a: 2}\nmission: {stakes: y, opener: x}\ntasks: [1]");
  expect(diffSections(from, to)).toEqual({
    added: ["agent.new"],
    removed: ["agent.old"],
    modified: ["agent.tone"],
    unchanged: ["agent.interface", "agent.mission", "agent.tasks"],
  });
});

test("diffSections() reports sections outside the root key, and quotes unusual keys", () => {
  const root = { agent: { interface: { name: "a", version: "1.0.0" }, "a b": 1 }, meta: 1, "x-y": { z: 1 } };
  const { unchanged } = diffSections({ type: "agent", root }, { type: "agent", root });
  expect(unchanged).toEqual(["agent.interface", 'agent["a b"]', "meta", "x-y.z"]);
});

test("diffSections() distinguishes keys that share their first 60 characters", () => {
  const [first, second] = ["a", "b"].map((end) => "k".repeat(60) + end);
  const shown = `agent["${"k".repeat(60)}…"]`;
  const compare = (from: string, to: string) => diffSections(definition(from), definition(to));
  const from = `${first}: 1\n${second}: 1`;
  expect(compare(from, `${first}: 2\n${second}: 1`)).toMatchObject({
    modified: [shown],
    unchanged: ["agent.interface", shown],
  });
  expect(compare(from, `${second}: 1`)).toMatchObject({ removed: [shown] });
});

test("diffFields() reports the innermost changed fields", () => {
  const from = definition(
    "defaults: {model: haiku, timeout: 5}\nold: {a: 1, b: 2}\ntags: [a, b]\nlist:\n  - {id: one, n: 1}\n  - {id: two, n: 2}\nsteps: [{a: 1}, {a: 2}]\nkind: [1]",
  );
  const to = definition(
    "defaults: {model: opus, timeout: 5}\nnew: {c: 3}\ntags: [a, c]\nlist:\n  - {id: zero, n: 0}\n  - {id: two, n: 2}\n  - {id: one, n: 9}\nsteps: [{a: 1}, {a: 3}, {a: 4}]\nkind: {a: 1}",
  );
  const { fields, summary } = diffFields(from, to);
  expect(fields).toEqual([
    { path: "agent.defaults.model", type: "modified", oldValue: "haiku", newValue: "opus" },
    { path: "agent.new", type: "added", newValue: { c: 3 } },
    { path: "agent.tags", type: "modified", oldValue: ["a", "b"], newValue: ["a", "c"] },
    { path: "agent.list", type: "modified", oldValue: ["one", "two"], newValue: ["two", "one"] },
    { path: "agent.list[zero]", type: "added", newValue: { id: "zero", n: 0 } },
    { path: "agent.list[one].n", type: "modified", oldValue: 1, newValue: 9 },
    { path: "agent.steps[1].a", type: "modified", oldValue: 2, newValue: 3 },
    { path: "agent.steps[2]", type: "added", newValue: { a: 4 } },
    { path: "agent.kind", type: "modified", oldValue: [1], newValue: { a: 1 } },
    { path: "agent.old", type: "removed", oldValue: { a: 1, b: 2 } },
  ]);
  expect(summary).toEqual({ added: 3, removed: 1, modified: 6, unchanged: 6 });
});

const LISTS: readonly [type: DefinitionType, list: string, path: string][] = [
  ["agent", "process: {phases: LIST}", "agent.process.phases"],
  ["command", "postflight: {steps: LIST}", "command.postflight.steps"],
  ["workflow", "orchestration: {phases: LIST}", "workflow.orchestration.phases"],
  ["pipeline", "stages: LIST", "pipeline.stages"],
];

test.each(LISTS)("list entries of a %s are matched by their scalar id or name: %s", (type, list, path) => {
  for (const ids of [
    ["id: 10", "id: 20", "id: 5"],
    ["id: 3.10", "id: 3.1", "id: 0x1F"],
    ["id: true", "id: no", "id: on"],
    ["name: 2026", "name: 2027", "name: 2025"],
    ["id: 1, name: a", "id: 2, name: a", "id: 3, name: a"],
    ["id: 12345678901234567890", "id: 12345678901234567891", "id: one"],
  ]) {
    const [one, two, inserted] = ids.map((id) => `{${id}, timeout: 5}`);
    const before = definition(list.replace("LIST", `[${one}, ${two}]`), type);
    const after = definition(list.replace("LIST", `[${inserted}, ${one}, ${two}]`), type);
    const { fields } = diffFields(before, after);
    expect(
      fields.map((field) => field.type),
      ids.join(),
    ).toEqual(["added"]);
    expect(fields[0]?.path.startsWith(path)).toBe(true);
  }
});

test("list entries are matched by position if two entries share an id or an entry has no id", () => {
  for (const [before, after] of [
    ["[{id: 1, n: 1}, {id: '1', n: 2}]", "[{id: 1, n: 1}, {id: '1', n: 3}]"],
    ["[{id: 1, n: 1}, {n: 2}]", "[{id: 1, n: 1}, {n: 3}]"],
    ["[{id: null, n: 1}, {id: [1], n: 2}]", "[{id: null, n: 1}, {id: [1], n: 3}]"],
  ]) {
    const { fields } = diffFields(definition(`list: ${before}`), definition(`list: ${after}`));
    expect(fields).toEqual([{ path: "agent.list[1].n", type: "modified", oldValue: 2, newValue: 3 }]);
  }
});

/** Classifies the first change between two bodies, and suggests a version bump. */
function significance(type: DefinitionType, from: string, to: string) {
  const compared = { from: definition(from, type), to: definition(to, type) };
  const changes = classifyChanges(diffFields(compared.from, compared.to).fields, compared);
  return { significance: changes[0]?.significance, bump: suggestBump(changes) };
}

test.each<[type: DefinitionType, from: string, to: string, significance: string, bump: string]>([
  [
    "agent",
    "decisions: {vocabulary: {positive: GO}}",
    "decisions: {vocabulary: {positive: MERGE}}",
    "breaking",
    "major",
  ],
  ["agent", "output: {format: json}", "output: {format: html}", "breaking", "major"],
  ["agent", "tasks: {outputs: [{id: a}, {id: b}]}", "tasks: {outputs: [{id: a}]}", "breaking", "major"],
  [
    "agent",
    "tasks: {inputs: [{id: a}]}",
    "tasks: {inputs: [{id: a}, {id: b, required: true}]}",
    "breaking",
    "major",
  ],
  ["agent", "tasks: {inputs: [{id: a}]}", "tasks: {inputs: [{id: a}, {id: b}]}", "structural", "minor"],
  ["agent", "tasks: {inputs: [{id: a}, {id: b}]}", "tasks: {inputs: [{id: a}]}", "breaking", "major"],
  [
    "agent",
    "tasks: {inputs: [{id: a, type: path}]}",
    "tasks: {inputs: [{id: a, type: string}]}",
    "breaking",
    "major",
  ],
  ["agent", "tasks: {inputs: [{id: a}]}", "tasks: {inputs: [{id: a, required: true}]}", "breaking", "major"],
  [
    "agent",
    "tasks: {inputs: [{id: a, required: true}]}",
    "tasks: {inputs: [{id: a}]}",
    "structural",
    "minor",
  ],
  [
    "agent",
    "tasks: {inputs: [{id: a}]}",
    "tasks: {inputs: [{id: a, description: x}]}",
    "structural",
    "minor",
  ],
  [
    "agent",
    "tasks: {inputs: [{id: a, description: x}]}",
    "tasks: {inputs: [{id: a}]}",
    "structural",
    "minor",
  ],
  ["command", "inputs: [{name: x}]", "inputs: [{name: x, pattern: y}]", "breaking", "major"],
  ["command", "inputs: [{name: x, default: y}]", "inputs: [{name: x}]", "breaking", "major"],
  [
    "workflow",
    "arguments: {positional: [{name: a}]}",
    "arguments: {positional: [{name: a}, {name: b}]}",
    "breaking",
    "major",
  ],
  [
    "workflow",
    "arguments: {flags: [{name: a}]}",
    "arguments: {flags: [{name: a, values: [x]}]}",
    "breaking",
    "major",
  ],
  ["agent", "scoring: {maxScore: 1}", "scoring: {maxScore: 2}", "structural", "minor"],
  ["agent", "mission: {opener: x}", "mission: {opener: y}", "structural", "minor"],
  ["agent", "scoring: {description: x}", "scoring: {description: y}", "cosmetic", "patch"],
  ["agent", "tone: {guidelines: [x]}", "tone: {guidelines: [y]}", "cosmetic", "patch"],
  ["agent", "meta: {by: x}", "meta: {by: y}", "metadata", "patch"],
  ["command", "invokes: {agent: a}", "invokes: {agent: b}", "structural", "minor"],
  ["command", "inputs: []", "inputs: [{name: a, source: arg}]", "breaking", "major"],
  ["command", "inputs: [{name: x}]", "inputs: [{name: x}, {name: a, source: arg}]", "breaking", "major"],
  [
    "command",
    "inputs: [{name: x}]",
    "inputs: [{name: x}, {name: a, source: arg, default: 1}]",
    "structural",
    "minor",
  ],
  [
    "command",
    "postflight: {on_failure: {exit_code: 1}}",
    "postflight: {on_failure: {exit_code: 2}}",
    "breaking",
    "major",
  ],
  [
    "command",
    "postflight: {on_failure: {message: x}}",
    "postflight: {on_failure: {message: y}}",
    "cosmetic",
    "patch",
  ],
  [
    "workflow",
    "orchestration: {phases: [{id: a}, {id: b}]}",
    "orchestration: {phases: [{id: a}]}",
    "breaking",
    "major",
  ],
  [
    "workflow",
    "orchestration: {phases: [{id: a}]}",
    "orchestration: {phases: [{id: a}, {id: b}]}",
    "structural",
    "minor",
  ],
  ["pipeline", "stages: [{id: a}, {id: b}]", "stages: [{id: a}]", "breaking", "major"],
  ["pipeline", "stages: [{id: a, name: x}]", "stages: [{id: a, name: y}]", "cosmetic", "patch"],
])("changing the %s from %j to %j is a %s change", (type, from, to, expected, bump) => {
  expect(significance(type, from, to)).toEqual({ significance: expected as never, bump: bump as never });
});

test("changes to interface fields are classified as metadata, except the name and the agent type", () => {
  const one = parsed(
    "agent:\n  interface: {name: a, version: 1.0.0, agentType: analyst, displayName: A, tags: [x]}\n",
  );
  const two = parsed(
    "agent:\n  interface: {name: b, version: 1.0.0, agentType: executor, displayName: B, tags: [y]}\n",
  );
  const changes = classifyChanges(diffFields(one, two, { full: true }).fields, { from: one, to: two });
  expect(changes.map((change) => `${change.path} ${change.significance}`)).toEqual([
    "agent.interface.name breaking",
    "agent.interface.agentType breaking",
    "agent.interface.displayName metadata",
    "agent.interface.tags metadata",
  ]);
  expect(changes.every(({ reason }) => reason.length > 10)).toBe(true);
  expect(suggestBump([])).toBe("patch");
});
