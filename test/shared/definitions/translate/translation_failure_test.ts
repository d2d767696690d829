import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { TRANSLATOR_VERSION } from "../../../../shared/definitions/translate/translate.ts";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";
import {
  agentBody,
  commandBody,
  pipelineBody,
  rendered,
  translateBody,
  workflowBody,
} from "../../../helpers/definitions/translation.ts";

const AGENT_TYPES = ["validator", "executor", "analyst", "generator", "explorer", "forecaster"];
const STEP = { agent: "helper@^1.0.0" };
const phase = (rest: object) => workflowBody([{ id: "a", name: "First", steps: [STEP], ...rest }]);
const stage = (rest: object) =>
  pipelineBody([{ id: "a", name: "First", agents: [{ ref: "helper" }], ...rest }]);
const withDescription = (description: unknown) => ({
  ...agentBody("explorer"),
  interface: { agentType: "explorer", description },
});

type Case = [reason: string, path: string, type: DefinitionType, body: unknown];

const CASES: readonly Case[] = [
  ...[undefined, null, "", " \n\t", ["x"], { a: 1 }].map(
    (description): Case => [
      "missing_description",
      "agent.interface.description",
      "agent",
      withDescription(description),
    ],
  ),
  ["missing_description", "command.interface.description", "command", {}],
  ["missing_description", "workflow.interface.description", "workflow", { interface: [] }],
  ["missing_description", "pipeline.interface.description", "pipeline", null],
  ["unknown_agent_type", "agent.interface.agentType", "agent", agentBody("wizard")],
  ["unknown_agent_type", "agent.interface.agentType", "agent", agentBody("toString")],
  [
    "unknown_agent_type",
    "agent.interface.agentType",
    "agent",
    agentBody("explorer", { interface: { agentType: ["explorer"] } }),
  ],
  ["missing_block", "agent.scoring", "agent", agentBody("validator", { scoring: undefined })],
  ["missing_block", "agent.decisions", "agent", agentBody("validator", { decisions: "YES" })],
  ["missing_block", "agent.tasks", "agent", agentBody("executor", { tasks: [] })],
  ["missing_block", "agent.completion", "agent", agentBody("executor", { completion: null })],
  ["missing_block", "agent.process", "agent", agentBody("analyst", { process: [] })],
  ["missing_block", "agent.tasks", "agent", agentBody("generator", { tasks: 1 })],
  ["missing_block", "agent.mission", "agent", agentBody("explorer", { mission: "look" })],
  ["missing_block", "agent.mission", "agent", agentBody("forecaster", { mission: null })],
  ["missing_block", "agent.process", "agent", agentBody("forecaster", { process: null })],
  ...["executor", "generator"].flatMap((type) =>
    [undefined, [], {}, "do it"].map(
      (operations): Case => [
        "empty_tasks",
        "agent.tasks.operations",
        "agent",
        agentBody(type, { tasks: { operations } }),
      ],
    ),
  ),
  ...[undefined, [], {}, "all"].map(
    (categories): Case => [
      "bad_scoring",
      "agent.scoring.categories",
      "agent",
      agentBody("validator", { scoring: { categories } }),
    ],
  ),
  ["bad_scoring", "agent.scoring.categories", "agent", agentBody("analyst", { scoring: {} })],
  [
    "missing_invokes",
    "command.invokes.agent",
    "command",
    commandBody({ interface: { commandType: "agent" } }),
  ],
  [
    "missing_invokes",
    "command.invokes.agent",
    "command",
    commandBody({ interface: { commandType: "fixer" }, invokes: { agents: [] } }),
  ],
  [
    "missing_invokes",
    "command.invokes.agent",
    "command",
    commandBody({ interface: { commandType: null }, invokes: {} }),
  ],
  ["bad_reference", "command.invokes.agent", "command", commandBody({ invokes: { agent: "a@sometime" } })],
  ["bad_reference", "command.invokes.agent", "command", commandBody({ invokes: { agent: ["a"] } })],
  [
    "bad_reference",
    "command.invokes.agents[1]",
    "command",
    commandBody({ invokes: { agents: ["a", "Not A Name"] } }),
  ],
  [
    "bad_reference",
    "command.iteration.target_agent",
    "command",
    commandBody({ iteration: { target_agent: {} } }),
  ],
  ...["tests_pass", undefined, 3, "toString"].map(
    (check): Case => [
      "unknown_kind",
      "command.preflight.checks[0].check",
      "command",
      commandBody({ preflight: { checks: [{ check }] } }),
    ],
  ),
  [
    "unknown_kind",
    "command.preflight.checks",
    "command",
    commandBody({ preflight: { checks: { check: "git_clean" } } }),
  ],
  [
    "unknown_kind",
    "workflow.context.detectors[0].check",
    "workflow",
    workflowBody([{ steps: [STEP] }], { context: { detectors: [{ id: "x", check: "smell" }] } }),
  ],
  [
    "unknown_kind",
    "workflow.preflight.checks[0].check",
    "workflow",
    workflowBody([{ steps: [STEP] }], { preflight: { checks: ["tests pass"] } }),
  ],
  ...[undefined, null, [], {}, "all"].map(
    (phases): Case => ["no_phases", "workflow.orchestration.phases", "workflow", workflowBody(phases)],
  ),
  ["no_phases", "workflow.orchestration.phases", "workflow", { ...workflowBody([]), orchestration: "x" }],
  ...[undefined, null, []].map(
    (steps): Case => ["empty_phase", "workflow.orchestration.phases[0]", "workflow", phase({ steps })],
  ),
  ["bad_step", "workflow.orchestration.phases[0].steps[0]", "workflow", phase({ steps: [{ run: "x" }] })],
  [
    "bad_step",
    "workflow.orchestration.phases[0].steps[1]",
    "workflow",
    phase({ steps: [STEP, { command: "a", agent: "b" }] }),
  ],
  ["bad_step", "workflow.orchestration.phases[0].steps[0]", "workflow", phase({ steps: ["helper@1.0.0"] })],
  ["bad_step", "workflow.orchestration.phases[0].steps", "workflow", phase({ steps: STEP })],
  [
    "bad_reference",
    "workflow.orchestration.phases[0].steps[0].command",
    "workflow",
    phase({ steps: [{ command: "x@three" }] }),
  ],
  [
    "bad_reference",
    "workflow.orchestration.phases[0].steps[0].agent",
    "workflow",
    phase({ steps: [{ agent: [] }] }),
  ],
  [
    "bad_reference",
    "workflow.orchestration.phases[0].commands[0]",
    "workflow",
    phase({ commands: [{ ref: "a" }] }),
  ],
  [
    "unknown_dependency",
    "workflow.orchestration.phases[0].depends_on[0]",
    "workflow",
    phase({ depends_on: ["b"] }),
  ],
  ["unknown_dependency", "workflow.orchestration.phases[0].depends_on", "workflow", phase({ depends_on: 5 })],
  ["cycle", "workflow.orchestration.phases[0].depends_on", "workflow", phase({ depends_on: ["a"] })],
  ...[undefined, null, [], {}, 5].map(
    (stages): Case => ["no_stages", "pipeline.stages", "pipeline", pipelineBody(stages)],
  ),
  ["empty_stage", "pipeline.stages[0]", "pipeline", stage({ agents: [] })],
  [
    "empty_stage",
    "pipeline.stages[0]",
    "pipeline",
    stage({ agents: undefined, steps: [], workflows: null, approval: false }),
  ],
  ["bad_reference", "pipeline.stages[0].workflows[0].ref", "pipeline", stage({ workflows: [{ args: {} }] })],
  ["bad_reference", "pipeline.stages[0].agents[0].ref", "pipeline", stage({ agents: [{ ref: ["a"] }] })],
  [
    "bad_reference",
    "pipeline.triggers[0].pipeline",
    "pipeline",
    { ...stage({}), triggers: [{ type: "pipeline" }] },
  ],
  ["unknown_dependency", "pipeline.stages[0].depends_on[1]", "pipeline", stage({ depends_on: ["a", "z"] })],
  ["cycle", "pipeline.stages[0].depends_on", "pipeline", stage({ depends_on: "a" })],
  [
    "unknown_kind",
    "pipeline.triggers[1].type",
    "pipeline",
    { ...stage({}), triggers: [{ type: "manual" }, { type: "moon" }] },
  ],
  ["unknown_kind", "pipeline.triggers[0].type", "pipeline", { ...stage({}), triggers: ["manual"] }],
  ["unknown_kind", "pipeline.triggers", "pipeline", { ...stage({}), triggers: { git_push: {} } }],
  [
    "unknown_dependency",
    "agent.tasks.operations[0].depends_on[0]",
    "agent",
    agentBody("generator", { tasks: { operations: [{ depends_on: ["x"] }] } }),
  ],
  ["too_large", "agent", "agent", agentBody("explorer", { notes: ["x".repeat(1_048_576)] })],
  [
    "too_large",
    "agent",
    "agent",
    agentBody("explorer", { notes: Array.from({ length: 50 }, () => "€".repeat(10_000)) }),
  ],
];

describe("a definition that cannot be rendered", () => {
  test.each(CASES)("fails with %s at %s", (reason, path, type, body) => {
    const translation = translateBody(type, body);
    if (translation.ok) throw new Error("Rendered a definition that cannot be rendered");
    const [failure] = translation.failures;
    expect(failure).toEqual({ reason, path, message: expect.any(String) } as never);
    expect(failure.message).toMatch(/^[A-Z"][^\n]{10,200}[^.]$/);
  });

  test.each([
    ["helper@^1.0.0", 'A step must be a map with "command" or "agent". Write { agent: "helper@^1.0.0" }'],
    [{ run: "x" }, 'The step has no "command" and no "agent". Write one of them, as in agent: code-reviewer'],
    [{ command: "a", agent: "b" }, 'The step has "command" and "agent". Make two steps of it'],
  ])("says what to write for the step %j", (step, message) => {
    expect(translateBody("workflow", phase({ steps: [step] }))).toMatchObject({ failures: [{ message }] });
  });

  test("every failure reason is covered by a test case", () => {
    expect([...new Set(CASES.map(([reason]) => reason))].toSorted()).toEqual(
      `bad_reference bad_scoring bad_step cycle empty_phase empty_stage empty_tasks missing_block missing_description
      missing_invokes no_phases no_stages too_large unknown_agent_type unknown_dependency unknown_kind`.split(
        /\s+/,
      ),
    );
  });

  test("an exception in the translator is reported as an internal failure", () => {
    const trap = new Proxy(agentBody("explorer"), {
      ownKeys: () => {
        throw new Error("no keys");
      },
    });
    expect(translateBody("agent", trap)).toMatchObject({ ok: false, failures: [{ reason: "internal" }] });
  });
});

describe("a definition that can be rendered", () => {
  test.each(AGENT_TYPES)("an agent of type %s needs only its required blocks", (type) => {
    expect(rendered("agent", agentBody(type))).toContain("\n# Sample\n");
  });

  const LENIENT: readonly (readonly [what: string, type: DefinitionType, body: unknown])[] = [
    [
      "weights that do not add up",
      "agent",
      agentBody("validator", { scoring: { categories: [{ name: "A", weight: 7 }] } }),
    ],
    [
      "extra blocks",
      "agent",
      agentBody("explorer", { scoring: 5, tasks: {}, forecast: [], anything: { a: 1 } }),
    ],
    ["scoring that its type does not use", "agent", agentBody("explorer", { scoring: { categories: [] } })],
    ["an unknown range in a pipeline", "pipeline", stage({ agents: [{ ref: "helper@whenever" }] })],
    ["a stage without a name", "pipeline", stage({ name: undefined, id: undefined })],
    ["a stage with an approval only", "pipeline", stage({ agents: undefined, approval: { required: true } })],
    ["a phase with the older commands list", "workflow", workflowBody([{ id: "a", commands: ["go@1.0.0"] }])],
    ["a reference without a version", "workflow", workflowBody([{ steps: [{ agent: "helper" }] }])],
    ["a utility without an agent", "command", commandBody()],
    ["a custom command", "command", commandBody({ interface: { commandType: "custom" } })],
    [
      "several agents",
      "command",
      commandBody({ interface: { commandType: "agent" }, invokes: { agents: ["a", "b@~1.2.3"] } }),
    ],
    ["a stage in the old format", "pipeline", pipelineBody([{ id: "a", ref: "go@1.0.0", type: "workflow" }])],
    ["workflows as plain text", "pipeline", pipelineBody([{ id: "a", workflows: ["go@1.0.0"] }])],
  ];
  test.each(LENIENT)("may have %s", (_, type, body) => {
    expect(translateBody(type, body).ok).toBe(true);
  });

  test("has the hash of its rendering and the translator's version", () => {
    const translation = translateBody("command", commandBody());
    if (!translation.ok) throw new Error("Cannot translate the sample");
    const hex = createHash("sha256").update(translation.runtimeMd, "utf8").digest("hex");
    expect(translation.promptHash).toBe(`sha256:${hex}`);
    expect(translation.translatorVersion).toBe(TRANSLATOR_VERSION);
  });
});
