import { expect, test } from "bun:test";
import { qualifyReferences } from "../../../shared/definitions/qualify.ts";
import { listReferences, writtenName } from "../../../shared/definitions/references.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";

const HEAD = "interface: { name: a, version: 1.0.0 }";
const NAMES = (["agent", "command", "workflow", "pipeline"] as const).map((type) => ({
  type,
  name: "x",
  orgSlug: `${type}s`,
}));

test.each<[type: DefinitionType, body: string, expected: string]>([
  ["command", "invokes: { agent: x@1.0.0 } # why", 'invokes: { agent: "@agents/x@1.0.0" } # why'],
  [
    "command",
    "invokes:\n    agents:\n      - 'x'\n      - other",
    'invokes:\n    agents:\n      - "@agents/x"\n      - other',
  ],
  ["command", "iteration: { target_agent: x }", 'iteration: { target_agent: "@agents/x" }'],
  [
    "workflow",
    "orchestration: { phases: [{ steps: [{ agent: x }, { command: x }], commands: [x] }] }",
    'orchestration: { phases: [{ steps: [{ agent: "@agents/x" }, { command: "@commands/x" }], commands: ["@commands/x"] }] }',
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
  ["command", 'invokes: { agent: "@other/x@1.0.0" }', 'invokes: { agent: "@other/x@1.0.0" }'],
  ["command", "invokes: { agent: Not A Name }\n  x: x", "invokes: { agent: Not A Name }\n  x: x"],
])("qualifyReferences() of a %s with %j", (type, body, expected) => {
  const document = (text: string) => `${type}:\n  ${HEAD}\n  ${text}\n`;
  expect(qualifyReferences(document(body), { type, names: NAMES })).toBe(document(expected));
});

test("references that are aliases or stand over several lines are written out", () => {
  const yaml =
    "command:\n  interface: { name: a, version: 1.0.0 }\n  invokes:\n    agents: [&one x, *one]\n    agent: >-\n      x\n";
  const source = parsed(qualifyReferences(yaml, { type: "command", names: NAMES }), "command");
  expect(source.body["invokes"]).toEqual({ agents: ["@agents/x", "@agents/x"], agent: "@agents/x" });
});

test("the demo's documents are the same but for their references", () => {
  for (const { type, yaml } of readDemoDefinitions()) {
    const source = parsed(yaml, type);
    const names = listReferences(source).map(({ type: kind, name }) => ({
      type: kind,
      name,
      orgSlug: "demo",
    }));
    const edited = qualifyReferences(yaml, { type, names });
    const expected = listReferences(source).map((reference) =>
      writtenName({ ...reference, orgSlug: "demo" }),
    );
    expect(listReferences(parsed(edited, type)).map(writtenName)).toEqual(expected);
    expect(edited.replaceAll(/"@demo\/([^"]*)"/g, "$1").replaceAll(/['"]/g, "")).toBe(
      yaml.replaceAll(/['"]/g, ""),
    );
  }
});
