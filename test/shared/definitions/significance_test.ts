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

function bumpOf(type: DefinitionType, from: string, to: string) {
  return suggestBump(classifyChanges(diffFields(definition(type, from), definition(type, to)).fields));
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

test.each(BLOCKS)("a block of a %s that goes from %j to %j as a whole is %s", (type, from, to, bump) => {
  expect(bumpOf(type, from, to)).toBe(bump as never);
});

test.each(["b", "b]c", 'b"]c', "b[0]", "b".repeat(70)])("a part with the id %j is removed", (id) => {
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

test.each(SHORTHAND)("shorthand of a %s that goes from %j to %j is %s", (type, from, to, bump) => {
  expect(bumpOf(type, from, to)).toBe(bump as never);
});

test("the change of a shorthand entry names the entry", () => {
  const from = definition("command", "inputs: [target]");
  const { fields } = diffFields(from, definition("command", "inputs: [target, env]"));
  expect(fields).toEqual([{ path: "command.inputs[env]", type: "added", newValue: { name: "env" } }]);
});
