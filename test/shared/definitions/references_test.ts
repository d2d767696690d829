import { expect, test } from "bun:test";
import { listReferences, parseReference } from "../../../shared/definitions/references.ts";
import { pickVersion } from "../../../shared/definitions/version_range.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "../../helpers/definitions/demo_definitions.ts";

test.each([
  ["reviewer", { orgSlug: null, name: "reviewer", range: "latest" }],
  [" reviewer@latest ", { orgSlug: null, name: "reviewer", range: "latest" }],
  ["reviewer@1.2.3", { orgSlug: null, name: "reviewer", range: "1.2.3" }],
  ["reviewer@>=1.2.3", { orgSlug: null, name: "reviewer", range: ">=1.2.3" }],
  ["reviewer@<=1.2.3", { orgSlug: null, name: "reviewer", range: "<=1.2.3" }],
  ["reviewer@^1.2.3", { orgSlug: null, name: "reviewer", range: "^1.2.3" }],
  ["reviewer@~1.2.3", { orgSlug: null, name: "reviewer", range: "~1.2.3" }],
  ["", null],
  ["Reviewer", null],
  ["@acme/reviewer", { orgSlug: "acme", name: "reviewer", range: "latest" }],
  [" @acme.corp_1/reviewer@^1.0.0", { orgSlug: "acme.corp_1", name: "reviewer", range: "^1.0.0" }],
  ["@acme/reviewer@", null],
  ["@acme/Reviewer", null],
  ["@acme/", null],
  ["@/reviewer", null],
  ["@Acme/reviewer", null],
  ["acme/reviewer", null],
  ["@acme/reviewer/more", null],
  ["@acme@1.0.0/reviewer", null],
  ["reviewer@", null],
  ["reviewer@1.2", { orgSlug: null, name: "reviewer", range: "1.2" }],
  ["reviewer@1.x", { orgSlug: null, name: "reviewer", range: "1.x" }],
  ["reviewer@>1.0.0 <=2.0.0", { orgSlug: null, name: "reviewer", range: ">1.0.0 <=2.0.0" }],
  ["reviewer@1.0.0 || 2.0.0", { orgSlug: null, name: "reviewer", range: "1.0.0 || 2.0.0" }],
  ["reviewer@1.0.0.0", null],
  ["reviewer@newest", null],
])("parseReference(%j) returns %j", (text, reference) => {
  expect(parseReference(text)).toEqual(reference);
});

function referencesOf(yaml: string, type: DefinitionType): string[] {
  const head = `${type}:\n  interface: {name: a, version: 1.0.0}\n`;
  const references = listReferences(parsed(head + yaml.replace(/^/gm, "  "), type));
  return references.map(
    ({ type: kind, name, range, context, inTree }) =>
      `${kind} ${name}@${range} (${context})${inTree ? "" : " aside"}`,
  );
}

test.each<[type: DefinitionType, yaml: string, references: string[]]>([
  ["command", "invokes: {agent: a@1.0.0}", ["agent a@1.0.0 (invokes.agent)"]],
  [
    "command",
    "invokes: {agents: [a, b]}",
    ["agent a@latest (invokes.agent)", "agent b@latest (invokes.agent)"],
  ],
  [
    "command",
    "iteration: {target_agent: b}\ninvokes: {agent: a}",
    ["agent b@latest (iteration.target_agent)", "agent a@latest (invokes.agent)"],
  ],
  [
    "workflow",
    "orchestration:\n  phases:\n    - {id: one, steps: [{command: c}, {agent: a}, {command: c}]}\n    - {commands: [d]}",
    ["command c@latest (phase one)", "agent a@latest (phase one)", "command d@latest (phase 2)"],
  ],
  [
    "pipeline",
    "stages:\n  - {id: s, agents: [{ref: a}], workflows: [w, {ref: v}], commands: [{ref: c@~1.0.0}]}\n  - {id: t, ref: x}\n  - {id: u, ref: y, type: workflow}",
    [
      "agent a@latest (stage s)",
      "workflow w@latest (stage s)",
      "workflow v@latest (stage s)",
      "command c@~1.0.0 (stage s)",
      "command x@latest (stage t)",
      "workflow y@latest (stage u)",
    ],
  ],
  [
    "pipeline",
    "triggers: [{type: pipeline, pipeline: p}, {type: manual, pipeline: q}]",
    ["pipeline p@latest (trigger) aside"],
  ],
  ["command", "invokes: {agent: Not A Name}", ["agent Not A Name@latest (invokes.agent)"]],
  ["command", "invokes: {agent: a@1.x}", ["agent a@1.x (invokes.agent)"]],
  ["command", "invokes: {agent: [a]}\niteration: 7", []],
  ["command", "invokes: {agents: a}", ["agent a@latest (invokes.agent)"]],
  ["workflow", "orchestration: {phases: [{id: 1.0, commands: c}]}", ["command c@latest (phase 1.0)"]],
  [
    "pipeline",
    "stages: [{workflows: w@^1.0.0, agents: a}]",
    ["workflow w@^1.0.0 (stage 1)", "agent a@latest (stage 1)"],
  ],
  ["workflow", "orchestration: {phases: text}", []],
  ["pipeline", "stages: [text, 7, {workflows: {a: b}}]", []],
])("listReferences() returns the references in a %s with %j", (type, yaml, references) => {
  expect(referencesOf(yaml, type)).toEqual(references);
});

test("listReferences() returns an agent's required references, not its recommended or conflicting ones", () => {
  const yaml =
    "agent:\n  interface: {name: a, version: 1.0.0, dependencies: {requires: [b@1.0.0, c], recommends: [d], conflicts: [e]}}";
  expect(listReferences(parsed(yaml)).map(({ name }) => name)).toEqual(["b", "c"]);
  const single =
    "agent:\n  interface: {name: a, version: 1.0.0, dependencies: {requires: b@1.0.0, recommends: [d]}}";
  expect(listReferences(parsed(single)).map(({ name }) => name)).toEqual(["b"]);
});

test("the demo's documents refer only to versions in the demo", () => {
  const sources = readDemoDefinitions().map(({ type, yaml }) => parsed(yaml, type));
  const published = sources.map(({ type, name, version }) => ({
    type,
    name,
    version,
    status: "published" as const,
  }));
  const references = sources.flatMap(listReferences);
  expect(references.length).toBeGreaterThan(20);
  for (const { type, name, range } of references) {
    const candidates = published.filter((candidate) => candidate.type === type && candidate.name === name);
    expect(pickVersion(range, candidates)?.name).toBe(name);
  }
});
