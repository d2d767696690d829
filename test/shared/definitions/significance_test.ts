import { expect, test } from "bun:test";
import { diffFields } from "../../../shared/definitions/diff.ts";
import { classifyChanges, suggestBump } from "../../../shared/definitions/significance.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed } from "../../helpers/definitions/demo_definitions.ts";

function definition(type: DefinitionType, body: string) {
  return parsed(
    `${type}:\n  interface: {name: a, version: 1.0.0}\n${body.replace(/^(?=.)/gm, "  ")}\n`,
    type,
  );
}

function changesOf(type: DefinitionType, before: string, after: string) {
  const [from, to] = [definition(type, before), definition(type, after)];
  return classifyChanges(diffFields(from, to).fields, { from, to });
}

function bumpOf(type: DefinitionType, from: string, to: string) {
  return suggestBump(changesOf(type, from, to));
}

type Case = [type: DefinitionType, from: string, to: string, bump: string];

const BLOCKS: readonly Case[] = [
  ["workflow", "arguments: {positional: [{name: x}]}", "", "major"],
  ["workflow", "arguments: {flags: [{name: x}]}", "arguments:", "major"],
  ["workflow", "", "arguments: {positional: [{name: x}]}", "major"],
  ["workflow", "", "arguments: {positional: [{name: x, required: false}]}", "minor"],
  ["workflow", "", "arguments: {flags: [{name: x, type: string}]}", "minor"],
  ["workflow", "aggregation: {decision: {PASS: score >= 80}}", "", "major"],
  ["agent", "", "tasks: {inputs: [{id: x, type: path, required: true}]}", "major"],
  ["agent", "", "tasks: {inputs: [{id: x, type: path}], outputs: [{id: y}]}", "minor"],
  ["agent", "tasks: {inputs: [{id: x}]}", "", "major"],
  ["agent", "tasks: {outputs: [{id: y}]}", "", "major"],
  ["agent", "tasks: {operations: [{id: z}]}", "", "minor"],
  ["agent", "decisions: {vocabulary: {positive: GO}}", "", "major"],
  ["agent", "", "decisions: {vocabulary: {positive: GO}}", "minor"],
  ["agent", "decisions: {preset: low_risk}", "", "minor"],
  ["agent", "output: {format: json}", "", "major"],
  ["agent", "", "output: {format: json}", "minor"],
  ["command", "postflight: {on_failure: {exit_code: 2}}", "", "major"],
  ["command", "", "postflight: {on_failure: {exit_code: 2}}", "minor"],
  ["pipeline", "triggers: [{id: x}, {id: y}]", "", "major"],
  ["pipeline", "", "triggers: [{id: x, parameters: [{name: y, required: true}]}]", "minor"],
  ["pipeline", "triggers: [{id: x}]", "triggers: [{id: x}, {id: y, parameters: [{name: z}]}]", "minor"],
];

test.each(BLOCKS)("changing a block of a %s from %j to %j is a %s change", (type, from, to, bump) => {
  expect(bumpOf(type, from, to)).toBe(bump as never);
});

test.each(["b", "b]c", 'b"]c', "b[0]", "b".repeat(70)])("removing entry %j is a major change", (id) => {
  const entry = `{id: ${JSON.stringify(id)}}`;
  const cases: readonly [type: DefinitionType, list: string][] = [
    ["pipeline", "stages: LIST"],
    ["pipeline", "triggers: LIST"],
    ["workflow", "orchestration: {phases: LIST}"],
    ["agent", "tasks: {inputs: LIST}"],
  ];
  for (const [type, list] of cases) {
    const from = list.replace("LIST", `[{id: a}, ${entry}]`);
    expect([list, bumpOf(type, from, list.replace("LIST", "[{id: a}]"))]).toEqual([list, "major"]);
  }
});

const SHORTHAND: readonly Case[] = [
  ["workflow", "arguments: {positional: [target]}", "arguments: {positional: [target, env]}", "major"],
  ["workflow", "arguments: {positional: [target, env]}", "arguments: {positional: [target]}", "major"],
  ["workflow", "arguments: {positional: target}", "arguments: {positional: env}", "major"],
  ["workflow", "arguments: {positional: target}", "arguments: {positional: [{name: target}]}", "patch"],
  ["workflow", "arguments: {flags: [{name: x}, strict]}", "arguments: {flags: [{name: x}]}", "major"],
  ["workflow", "arguments: {flags: [{name: x}]}", "arguments: {flags: [{name: x}, strict]}", "minor"],
  ["workflow", "outputs: {artifacts: [a.md, b.md]}", "outputs: {artifacts: [a.md]}", "major"],
  ["command", "inputs: [target, b]", "inputs: [target]", "major"],
  ["command", "inputs: [target]", "inputs: [target, b]", "minor"],
  ["agent", "tasks: {inputs: [target, b]}", "tasks: {inputs: [target]}", "major"],
  ["agent", "tasks: {inputs: [target, b]}", "tasks: {inputs: target}", "major"],
  ["pipeline", "stages: [build, deploy]", "stages: [build]", "major"],
  ["pipeline", "triggers: [push, schedule]", "triggers: [push]", "major"],
];

test.each(SHORTHAND)("changing shorthand in a %s from %j to %j is a %s change", (type, from, to, bump) => {
  expect(bumpOf(type, from, to)).toBe(bump as never);
});

const CHECKS = "[{check: git_clean}]";

test.each<[type: DefinitionType, one: string, other: string]>([
  ["agent", "tasks: {inputs: [], operations: [{id: z}]}", "tasks: {operations: [{id: z}]}"],
  ["agent", "output: {section_order: Verdict}", "output: {section_order: [Verdict]}"],
  ["command", "inputs: []", ""],
  ["command", "inputs:", ""],
  ["command", `preflight: ${CHECKS}`, `preflight: {checks: ${CHECKS}}`],
  ["workflow", `preflight: ${CHECKS}`, `preflight: {checks: ${CHECKS}}`],
  ["workflow", "arguments: {positional: [a], flags: []}", "arguments: {positional: [{name: a}]}"],
])("in a %s, %j and %j are equivalent", (type, one, other) => {
  expect(changesOf(type, one, other)).toEqual([]);
  expect(changesOf(type, other, one)).toEqual([]);
});

test("removing a null from a map of names, or a number in place of a list, counts as a change", () => {
  expect(bumpOf("agent", "output: {templates: {row: null}}", "output: {templates: {}}")).toBe("minor");
  expect(bumpOf("agent", "output: {section_order: 5}", "output: {section_order: []}")).toBe("minor");
});

test("adding a shorthand entry is reported under a path with the entry's name", () => {
  const from = definition("command", "inputs: [target]");
  const { fields } = diffFields(from, definition("command", "inputs: [target, env]"));
  expect(fields).toEqual([{ path: "command.inputs[env]", type: "added", newValue: { name: "env" } }]);
});

const [A, B, C] = ["a", "b", "c"].map((name) => `{name: ${name}, source: arg, default: 1}`);
const ENV = "{name: e, source: env, env: E}";

const POSITIONS: readonly Case[] = [
  ["workflow", `arguments: {positional: [${A}, ${B}]}`, `arguments: {positional: [${B}, ${A}]}`, "major"],
  ["workflow", "arguments: {positional: [a, b]}", "arguments: {positional: [b, a]}", "major"],
  ["workflow", `arguments: {positional: [${B}]}`, `arguments: {positional: [${A}, ${B}]}`, "major"],
  ["workflow", `arguments: {positional: [${A}]}`, `arguments: {positional: [${A}, ${B}]}`, "minor"],
  ["workflow", `arguments: {flags: [${A}, ${B}]}`, `arguments: {flags: [${B}, ${A}]}`, "minor"],
  ["command", `inputs: [${A}, ${B}]`, `inputs: [${B}, ${A}]`, "major"],
  ["command", `inputs: [${A}, ${ENV}, ${B}]`, `inputs: [${B}, ${ENV}, ${A}]`, "major"],
  ["command", `inputs: [${A}, ${B}]`, `inputs: [${A}, ${C}, ${B}]`, "major"],
  ["command", `inputs: [${A}]`, `inputs: [${A}, ${B}]`, "minor"],
  ["command", `inputs: [${A}, ${B}]`, `inputs: [${ENV}, ${A}, ${B}]`, "minor"],
  ["command", `inputs: [${A}, ${ENV}, ${B}]`, `inputs: [${ENV}, ${A}, ${B}]`, "minor"],
  ["agent", "tasks: {inputs: [a, b]}", "tasks: {inputs: [b, a]}", "minor"],
];

test.each(POSITIONS)("changing the inputs of a %s from %j to %j is a %s change", (type, from, to, bump) => {
  expect(bumpOf(type, from, to)).toBe(bump as never);
});

test("an added argument is breaking if it shifts the positions of other arguments, but an env input is not", () => {
  const changes = changesOf("command", `inputs: [${A}]`, `inputs: [${ENV}, ${B}, ${A}]`);
  expect(changes.map(({ path, significance, reason }) => [path, significance, reason])).toEqual([
    ["command.inputs[e]", "structural", "Takes an input that callers may leave out"],
    ["command.inputs[b]", "breaking", "Callers give these arguments by position"],
  ]);
});

const ARG = "{name: x, source: arg";
const NEEDS: readonly Case[] = [
  // A positional argument without a default is required, unless `required` is false.
  [
    "workflow",
    "arguments: {positional: [{name: t, required: false}]}",
    "arguments: {positional: [t]}",
    "major",
  ],
  [
    "workflow",
    "arguments: {positional: [{name: t, required: true}]}",
    "arguments: {positional: [t]}",
    "patch",
  ],
  [
    "workflow",
    "arguments: {positional: [t]}",
    "arguments: {positional: [{name: t, required: yes}]}",
    "patch",
  ],
  ["workflow", "arguments: {positional: [t]}", "arguments: {positional: [{name: t, required: no}]}", "minor"],
  ["command", `inputs: [${ARG}, required: false}]`, `inputs: [${ARG}}]`, "major"],
  ["command", `inputs: [${ARG}, required: false}]`, `inputs: [${ARG}, default: 1}]`, "minor"],
  ["command", `inputs: [${ARG}, required: true}]`, `inputs: [${ARG}}]`, "patch"],
  ["command", "inputs: {x: {required: true}}", "inputs: {x: {source: env}}", "major"],
  ["command", "inputs: {x: {required: true}}", "inputs: {x: {}}", "minor"],
  ["agent", "tasks: {inputs: [{id: x, required: true}]}", "tasks: {inputs: [{id: x}]}", "minor"],
  ["agent", "tasks: {inputs: [{id: x, required: false}]}", "tasks: {inputs: [{id: x}]}", "patch"],
  [
    "pipeline",
    "triggers: [{id: t, parameters: [{name: x, required: false}]}]",
    "triggers: [{id: t, parameters: [{name: x, required: true}]}]",
    "major",
  ],
  // A default of null counts as no default.
  ["command", `inputs: [${ARG}, default: 1}]`, `inputs: [${ARG}, default: ~}]`, "major"],
  ["command", `inputs: [${ARG}, default: ~}]`, `inputs: [${ARG}}]`, "minor"],
];

test.each(NEEDS)("changing required inputs in a %s from %j to %j is a %s change", (type, from, to, bump) => {
  expect(bumpOf(type, from, to)).toBe(bump as never);
});

test("the reason given for a changed requirement says whether callers may omit the input", () => {
  const reasonOf = (from: string, to: string) =>
    changesOf("workflow", `arguments: {positional: [${from}]}`, `arguments: {positional: [${to}]}`)[0]
      ?.reason;
  expect(reasonOf("{name: t, required: false}", "t")).toBe("Callers can no longer leave this input out");
  expect(reasonOf("{name: t, required: true}", "t")).toBe("Callers give this input as before");
  expect(reasonOf("t", "{name: t, required: false}")).toBe("Callers may leave this input out");
});

const RENAMES: readonly [type: DefinitionType, body: string, bump: string][] = [
  ["workflow", "context: {detectors: [{id: x, check: env_var, name: N}]}", "minor"],
  ["command", "preflight: {checks: [{id: x, check: env_var, name: N}]}", "minor"],
  ["workflow", "outputs: {variables: [{id: x, name: N}]}", "major"],
  ["pipeline", "stages: [{id: s, outputs: [{id: x, name: N}]}]", "major"],
  ["pipeline", "environment: {secrets: [{id: x, name: N}]}", "minor"],
  ["pipeline", "stages: [{id: x, name: N}]", "patch"],
  ["workflow", "orchestration: {phases: [{id: x, name: N}]}", "patch"],
  ["agent", "process: {phases: [{id: p, steps: [{id: x, name: N}]}]}", "patch"],
  ["agent", "scoring: {categories: [{id: c, criteria: [{id: x, name: N}]}]}", "patch"],
  ["agent", "tasks: {outputs: [{id: x, name: N}]}", "patch"],
];

test.each(RENAMES)("changing the name N in a %s with %j is a %s change", (type, body, bump) => {
  expect(bumpOf(type, body, body.replace("name: N", "name: OTHER"))).toBe(bump as never);
});
