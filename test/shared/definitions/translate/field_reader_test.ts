import { expect, test } from "bun:test";
import { scanDefinition } from "../../../../api/documents/safety_scan.ts";
import { parseDefinition } from "../../../../shared/definitions/parse_definition.ts";
import { translateDefinition } from "../../../../shared/definitions/translate/translate.ts";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";
import { parsed } from "../../../helpers/definitions/demo_definitions.ts";

/** Renders a document with a valid interface and `lines` as the rest of its body. */
function rendered(type: DefinitionType, lines: string, agentType = "explorer"): string {
  const yaml = `${type}:
  interface: {name: sample, version: 1.0.0, description: Does what a sample does., agentType: ${agentType}}
${lines.replace(/^/gm, "  ")}`;
  const parsing = parseDefinition(yaml, { type });
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.problems));
  const translation = translateDefinition(parsing.source);
  if (!translation.ok) throw new Error(JSON.stringify(translation.failures));
  return translation.runtimeMd;
}

const MISSION = "mission: {opener: x}\n";

test("a scalar that parsing would change, such as 3.10, is rendered as written", () => {
  const texts = [
    "3.10",
    "12345678901234567890",
    "1e3",
    "0x1F",
    "1_000",
    "2026-01-01",
    ".inf",
    "007",
    "TRUE",
    "-0",
  ];
  const free = rendered(
    "agent",
    `${MISSION}settings: {${texts.map((text, i) => `k${i}: ${text}`).join(", ")}}`,
  );
  const list = rendered("agent", `${MISSION}settings: [${texts.join(", ")}]`);
  for (const [index, text] of texts.entries()) {
    expect(free).toContain(`**K${index}:** ${text.replace("_", "_")}\n`);
    expect(list).toContain(`- ${text}\n`);
  }
  const known = rendered(
    "agent",
    `${MISSION}context: {environment: {PYTHON: 3.10, BUILD: 12345678901234567890}}`,
  );
  expect(known).toContain("`PYTHON`: `3.10`");
  expect(known).toContain("`BUILD`: `12345678901234567890`");
});

test("numbers in a JSON Schema are rendered as numbers, not strings", () => {
  const md = rendered(
    "agent",
    `${MISSION}output:
  schema:
    properties:
      a: {type: number, minimum: 0.10, maximum: 1e3, default: 1.0, enum: [1.0, 2.50]}
      b: {type: string, default: "1.0", enum: ["1.0"]}`,
  );
  const schema = JSON.parse(/```json\n([\s\S]*?)```/.exec(md)?.[1] ?? "");
  expect(schema.properties).toEqual({
    a: { type: "number", minimum: 0.1, maximum: 1000, default: 1, enum: [1, 2.5] },
    b: { type: "string", default: "1.0", enum: ["1.0"] },
  });
});

const WORDS = {
  true: ["true", "True", "yes", "Yes", "on", '"true"'],
  false: ["false", "FALSE", "no", "NO", "off", "'false'"],
};

const STAGE = "stages: [{id: a, name: A, agents: [{ref: helper}], KEY}]";
const PHASE = "orchestration: {phases: [{id: a, name: A, commands: [c], KEY}]}";

const FLAGS: readonly [DefinitionType, key: string, lines: string, agentType?: string][] = [
  [
    "workflow",
    "arguments.positional[].required",
    `${PHASE.replace(", KEY", "")}\narguments: {positional: [{name: x, required: FLAG}]}`,
  ],
  ["workflow", "phases[].barrier", PHASE.replace("KEY", "barrier: FLAG")],
  [
    "workflow",
    "score.skip_missing",
    `${PHASE.replace(", KEY", "")}\naggregation: {score: {method: min, skip_missing: FLAG}}`,
  ],
  [
    "workflow",
    "outputs.tracking.enabled",
    `${PHASE.replace(", KEY", "")}\noutputs: {tracking: {enabled: FLAG}}`,
  ],
  [
    "pipeline",
    "rollback.enabled",
    `${STAGE.replace(", KEY", "")}\nrollback: {enabled: FLAG, strategy: custom}`,
  ],
  ["pipeline", "stages[].parallel", STAGE.replace("KEY", "parallel: FLAG")],
  ["pipeline", "stages[].approval", STAGE.replace("KEY", "approval: FLAG")],
  ["pipeline", "stages[].approval.required", STAGE.replace("KEY", "approval: {required: FLAG}")],
  [
    "pipeline",
    "stages[].approval.allow_self_approval",
    STAGE.replace("KEY", "approval: {allow_self_approval: FLAG}"),
  ],
  [
    "pipeline",
    "stages[].steps[].always_run",
    STAGE.replace("KEY", "steps: [{name: s, command: c, always_run: FLAG}]"),
  ],
  [
    "pipeline",
    "triggers[].allowed",
    `${STAGE.replace(", KEY", "")}\ntriggers: [{type: manual, allowed: FLAG}]`,
  ],
  [
    "pipeline",
    "triggers[].parameters[].required",
    `${STAGE.replace(", KEY", "")}\ntriggers: [{type: manual, parameters: [{name: p, required: FLAG}]}]`,
  ],
  ["command", "preflight.checks[].required", "preflight: {checks: [{check: git_clean, required: FLAG}]}"],
  ["command", "tracking.enabled", "tracking: {enabled: FLAG}"],
  ["command", "tracking.required", "tracking: {required: FLAG}"],
  ["command", "postflight.steps[].required", "postflight: {steps: [{action: verify_saved, required: FLAG}]}"],
  ["command", "iteration.fix_patterns", "iteration: {max_attempts: 2, fix_patterns: FLAG}"],
  [
    "agent",
    "rollback.enabled",
    "tasks: {operations: [{id: a, description: b}]}\ncompletion: {vocabulary: {complete: DONE}}\nrollback: {enabled: FLAG}",
    "executor",
  ],
  [
    "agent",
    "auto_fail.enabled",
    "process: {phases: [{name: a}]}\nauto_fail: {enabled: FLAG, conditions: [{name: x}]}",
    "analyst",
  ],
  [
    "agent",
    "mission.taxonomy_mandate",
    `mission: {opener: x, taxonomy_mandate: FLAG}\nknowledge_base: {failure_code_examples: {A: b}}`,
  ],
];

test.each(FLAGS.map(([type, key, lines, agentType]) => ({ type, key, lines, agentType })))(
  "$type: every word for a boolean in $key renders the same",
  ({ type, lines, agentType }) => {
    const [yes, no] = (["true", "false"] as const).map((value) => {
      const texts = WORDS[value].map((word) => rendered(type, lines.replace("FLAG", word), agentType));
      expect(new Set(texts).size).toBe(1);
      return texts[0];
    });
    expect(yes).not.toBe(no);
  },
);

test("boolean words are rendered as text in keys that are not boolean", () => {
  const md = rendered("agent", `${MISSION}settings: {country: NO, switch: on}`);
  expect(md).toContain("**Country:** NO");
  expect(md).toContain("**Switch:** on");
  const check = rendered(
    "command",
    'preflight: {checks: [{check: command, command: ask, expect_output: "yes"}]}',
  );
  expect(check).toContain("prints `yes`");
});

test.each(["yes", "on", '"True"', "true"])("the safety scan detects allow_self_approval: %s", (word) => {
  const yaml = `pipeline: {interface: {name: a, version: 1.0.0}, stages: [{approval: {allow_self_approval: ${word}, min_approvals: 1.0}}]}`;
  expect(scanDefinition(parsed(yaml, "pipeline")).signals.map(({ id }) => id)).toEqual(["self-approval"]);
});

test.each([
  ["sonnet", "sonnet"],
  ["sonnet-4.5", "sonnet"],
  ["inherit", "inherit"],
  ["claude-3-5-haiku-latest", "haiku"],
  ["anthropic/claude-sonnet-4-20250514", "sonnet"],
  ["amazon-bedrock/us.anthropic.claude-opus-4-1-20250805-v1:0", "opus"],
])("the model %s becomes %s in an agent's front matter", (model, word) => {
  const md = rendered("agent", `${MISSION}defaults: {model: "${model}"}`);
  expect(md).toContain(`\nmodel: "${word}"\n`);
  expect(md).not.toContain("Model:");
});

test.each(["gpt-5-mini", "openai/gpt-5", "mistral/magnum-opus", "{{ model }}"])(
  "the model %s has no alias, so an agent's text names the model",
  (model) => {
    const agent = rendered("agent", `${MISSION}defaults: {model: "${model}"}`);
    expect(agent).toContain(`- Model: \`${model}\`\n`);
    expect(agent).not.toContain("\nmodel:");
  },
);

/** Every location of a model, with `MODEL` as its value. */
const MODEL_PLACES: readonly [type: DefinitionType, yaml: string][] = [
  ["agent", `${MISSION}defaults: {model: MODEL}`],
  ["command", "execution: {model: MODEL}"],
  ["command", "execution: {model: {default: MODEL}}"],
  ["command", "execution: {model: {default: opus, allowed: [MODEL]}}"],
  // A workflow's model is part of its interface.
  ["workflow", PHASE.replace(", KEY", "")],
  ["pipeline", "stages: [{id: a, agents: [{ref: a, model: MODEL}]}]"],
];

test.each(MODEL_PLACES)("no model of a %s is dropped: %s", (type, yaml) => {
  for (const model of [
    "gpt-5-mini",
    "openai/gpt-5",
    "sonnet-5-pro",
    "5",
    '"{{ model }}"',
    "[a-model]",
    "{x: a-model}",
  ]) {
    const header = type === "workflow" ? `explorer, model: ${model}` : "explorer";
    const markdown = rendered(type, yaml.replace("MODEL", model), header);
    const name = model.startsWith("[") || model.startsWith("{") ? "a-model" : model.replaceAll('"', "");
    const word = type === "agent" && name.startsWith("sonnet") ? 'model: "sonnet"' : name;
    expect(markdown, model).toContain(word);
  }
});

test("an empty default counts as a default, so the argument is optional", () => {
  const workflow = rendered(
    "workflow",
    `${PHASE.replace(", KEY", "")}\narguments: {positional: [{name: x, default: ""}]}`,
  );
  expect(workflow).toContain('argument-hint: "[x]"');
  expect(workflow).toContain('| `x` | `""` |');
  const command = rendered("command", 'inputs: [{name: x, source: arg, default: ""}]');
  expect(command).toContain('argument-hint: "[x]"');
  expect(command).toContain('`""`');
});

const TASKS = "tasks: {operations: [{description: x}]}";
const WORDS_OF_COMPLETION = "vocabulary: {complete: DONE, partial: PARTIAL, failed: FAILED}";

test("fields without a table column are rendered below the table, labeled with the name of the row", () => {
  const executor = rendered(
    "agent",
    `${TASKS}\ncompletion: {${WORDS_OF_COMPLETION}, criteria: [{decision: complete, exit_code: 0}, {decision: partial}, {decision: failed, exit_code: 1}]}`,
    "executor",
  );
  expect(executor).toContain(
    "**Criteria:**\n\n- **Decision:** complete\n  - **Exit code:** 0\n- **Decision:** failed\n  - **Exit code:** 1\n",
  );
  const workflow = rendered(
    "workflow",
    `${PHASE.replace(", KEY", "")}\narguments: {flags: [{name: strict}, {name: level, choices: [low, high]}]}`,
  );
  expect(workflow).toContain("**Flags:**\n\n- **Name:** level\n  - **Choices:**\n    - low\n    - high\n\n");
  const lines = "output: {sections: [{id: a, template: x}, {id: b, template: y, tone: calm}]}";
  expect(rendered("agent", MISSION + lines)).toContain("**Sections:**\n\n- **Id:** b\n  - **Tone:** calm\n");
});

test("below the table, a row without a unique name is identified by its number", () => {
  const completion = (criteria: string) =>
    rendered("agent", `${TASKS}\ncompletion: {${WORDS_OF_COMPLETION}, criteria: [${criteria}]}`, "executor");
  expect(
    completion(
      "{condition: a, decision: failed}, {condition: b, decision: failed, exit_code: 2}, {condition: c, exit_code: 3}",
    ),
  ).toContain(
    "**Criteria:**\n\n- **Entry:** 2\n  - **Exit code:** 2\n- **Entry:** 3\n  - **Exit code:** 3\n",
  );
  expect(completion("{condition: a, exit_code: 1}")).toContain("**Criteria:**\n\n- **Exit code:** 1\n");
});

test("a row whose remaining fields are empty adds no notes below the table", () => {
  const body = `${PHASE.replace(", KEY", "")}\narguments: {flags: [{name: a, choices: []}, {name: b, note: " ", more: {x: }}]}`;
  expect(rendered("workflow", body)).not.toContain("Further notes");
});
