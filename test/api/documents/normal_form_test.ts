import { expect, test } from "bun:test";
import { parse } from "yaml";
import { normalizeDefinition } from "../../../api/documents/normal_form.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";

function normalized(type: DefinitionType, yaml: string): Record<string, unknown> {
  const head = `${type}:\n  interface: {name: a, version: 1.0.0}\n`;
  const result = normalizeDefinition(parsed(head + yaml.replace(/^/gm, "  "), type));
  if (!result.ok) throw new Error(result.message);
  const { interface: _, ...body } = result.normalized[type] as Record<string, unknown>;
  return body;
}

test.each<[type: DefinitionType, yaml: string, expected: Record<string, unknown>]>([
  ["command", "invokes: {agent: a}", { invokes: { agent: "a" }, agents: ["a"] }],
  ["command", "invokes: {agents: [a, b]}", { invokes: { agents: ["a", "b"] }, agents: ["a", "b"] }],
  ["command", "invokes: {agent: a}\nagents: [z]", { invokes: { agent: "a" }, agents: ["z"] }],
  ["command", "preflight: {checks: [1]}", { preflight: { checks: [1] }, execution: { preflight: [1] } }],
  [
    "command",
    "preflight: {banner: x}",
    { preflight: { banner: "x" }, execution: { preflight: { banner: "x" } } },
  ],
  [
    "command",
    "postflight: {steps: []}",
    { postflight: { steps: [] }, execution: { postflight: { steps: [] } } },
  ],
  [
    "command",
    "overrides: {threshold: 0}\nexecution: {timeout: 5}",
    { overrides: { threshold: 0 }, execution: { timeout: 5, thresholds: { pass: 0 } } },
  ],
  ["command", "execution: text\npostflight: {}", { execution: "text", postflight: {} }],
  ["command", "output: {}", { output: {} }],
  [
    "workflow",
    "orchestration:\n  phases:\n    - steps: [{command: c}, {agent: a}]\n      condition: x > 1\n      gate: {threshold: 5}",
    {
      orchestration: {
        phases: [
          {
            commands: ["c"],
            agentRefs: ["a"],
            skip_if: "NOT (x > 1)",
            gate: { threshold: 5, aggregate: "average" },
          },
        ],
      },
    },
  ],
  [
    "workflow",
    "orchestration:\n  phases:\n    - {commands: [c], steps: [{agent: a}], condition: x, skip_if: y, gate: {aggregate: min}}",
    {
      orchestration: {
        phases: [
          {
            commands: ["c"],
            steps: [{ agent: "a" }],
            condition: "x",
            skip_if: "y",
            gate: { aggregate: "min" },
          },
        ],
      },
    },
  ],
  [
    "pipeline",
    "stages: [{agents: [{ref: a}]}, {workflows: [{ref: w}]}, {workflows: [w]}, {steps: [s]}, {ref: r}, {ref: r, type: workflow}, {workflows: [a, b]}, {type: x, steps: [s]}]",
    {
      stages: [
        { agents: [{ ref: "a" }], type: "agents" },
        { workflows: [{ ref: "w" }], ref: "w", type: "workflow" },
        { workflows: ["w"], ref: "w", type: "workflow" },
        { steps: ["s"], type: "steps" },
        { ref: "r", type: "command" },
        { ref: "r", type: "workflow" },
        { workflows: ["a", "b"] },
        { type: "x", steps: ["s"] },
      ],
    },
  ],
])("normalizeDefinition() normalizes type %s with %j", (type, yaml, expected) => {
  expect(normalized(type, yaml)).toEqual(expected);
});

test.each<[type: DefinitionType, yaml: string, message: string]>([
  ["workflow", "orchestration: {}", 'the workflow has no list "orchestration.phases"'],
  ["pipeline", "stages: {}", 'the pipeline has no list "stages"'],
])("normalizeDefinition() of type %s with %j returns the reason for the failure", (type, yaml, message) => {
  expect(() => normalized(type, yaml)).toThrow(message);
});

test("normalizeDefinition() reports a body that is not a map", () => {
  expect(normalizeDefinition({ type: "agent", root: { agent: 1 } })).toEqual({
    ok: false,
    message: 'Cannot normalize: "agent" is not a map',
  });
});

test.each(readDemoDefinitions())(
  "the normal form of $file does not change when it is normalized again",
  ({ type, yaml }) => {
    const source = parsed(yaml, type);
    const before = structuredClone(source.root);
    const once = normalizeDefinition(source);
    if (!once.ok) throw new Error(once.message);
    expect(source.root).toEqual(before);
    expect(parse(once.yaml)).toEqual(once.normalized);
    expect(once.yaml.startsWith(`${type}:\n`)).toBe(true);
    expect(normalizeDefinition({ type, root: once.normalized })).toEqual(once);
    if (type === "agent") expect(once.normalized).toEqual(source.root);
  },
);
