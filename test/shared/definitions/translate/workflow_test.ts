import { describe, expect, test } from "bun:test";
import { load, rendered, sectionOf, workflowBody } from "../../../helpers/definitions/translation.ts";

const STEPS = [{ agent: "a@1.0.0" }];
const PHASES = [{ id: "p", name: "P", steps: STEPS }];

type Case = [heading: string, phases: readonly object[], blocks: Record<string, unknown>, text: string];

const CASES: readonly Case[] = [
  [
    "## Arguments",
    PHASES,
    {
      arguments: {
        positional: [
          { name: "a", required: true, description: "A" },
          { name: "b", default: 0 },
        ],
        flags: [{ name: "f", short: "-f", type: "number", default: false }, { name: "g" }],
        derived: [{ name: "d", source: "x(a)" }],
        examples: [{ command: "/sample 1", behavior: "one" }],
      },
    },
    "| Argument | Type | Required | Default | Meaning |\n| --- | --- | --- | --- | --- |\n| `a` |  | yes |  | A |\n| `b` |  |  | `0` |  |\n" +
      "| `--f`, `-f` | number |  | `false` |  |\n| `--g` |  |  |  |  |\n\nWorked out from them:\n\n- `d` is `x(a)`\n\nExamples:\n\n- `/sample 1`: one",
  ],
  [
    "## Before you start",
    PHASES,
    {
      preflight: {
        checks: [{ check: "env_var", name: "X" }],
        extraction: [
          { id: "a", type: "json_field", path: "p", field: "f" },
          { id: "b", type: "magic_word", store_as: "c" },
          { id: "d", type: "yaml_field", path: "q" },
        ],
      },
    },
    "1. Check that the environment variable `X` is set.\n   - Otherwise stop\n\nThen find out:\n\n- `a`: the JSON field `f` of `p`\n" +
      "- `c`: Magic word\n  - **Id:** b\n- `d`\n  - **Path:** q",
  ],
  [
    "## Look around first",
    PHASES,
    {
      context: {
        detectors: [
          {
            id: "g",
            check: "grep",
            path: "src",
            pattern: "a|b",
            include: ["*.ts"],
            exclude: ["dist", "out"],
          },
          { id: "f", check: "find", pattern: "*.md" },
        ],
        variables: [{ name: "v", source: "not(g)", default: false }],
      },
    },
    "- `context.g` is true when `a|b` is found in the files under `src`, only in `*.ts`, but not in `dist` or `out`.\n" +
      "- `context.f` is true when there is a file named `*.md`.\n\nThen set these variables:\n\n" +
      "- `context.v` is `not(g)`, or `false` when that is unknown",
  ],
  [
    "## Order",
    [
      { id: "c", depends_on: ["a", "b", "a"], steps: STEPS },
      { id: "a", name: "A", steps: STEPS },
      { id: "b", name: "B", steps: STEPS, depends_on: null },
      { name: "D", steps: STEPS, depends_on: ["c"] },
    ],
    {},
    "1. A, B (these may run together)\n2. `c`\n3. D",
  ],
  [
    "## Phases",
    [
      {
        id: "p",
        name: "P",
        description: "d",
        steps: [{ command: "x@>=1.0.0", note: "n" }],
        commands: ["y"],
        condition: "on",
        skip_if: "NO",
        type: "mixed",
        group: 1,
        gate: { threshold: 0, warn_threshold: 50, aggregate: "all", on_fail: "skip", on_warn: "stop" },
        barrier: true,
        inputs: { i: 1, api_key: "hunter2" },
        timeout: 90_000,
        focus: ["a", "b"],
      },
    ],
    {},
    "### 1. P\n\nd\n\n1. Run the command `x@>=1.0.0`\n   - **Note:** n\n2. Run the command `y`\n\n- Only if `on`\n- Skip it if `NO`\n" +
      "- Kind of phase: mixed\n- Group: 1\n- Gate: every single result must be 0 or more\n  - Below 0: skip what waits for this and go on\n" +
      "  - From 0, but below 50: stop\n- Nothing that comes later starts before this phase has ended\n- Input `i`: `1`\n" +
      "- Input `api_key`: a secret, not shown here\n- Time limit: 90 seconds\n- Focus: a and b",
  ],
  [
    "## Phases",
    [{ name: "P", steps: STEPS, gate: { threshold: 80, warn_threshold: 70 } }],
    {},
    "### 1. P\n\n1. Call the agent `a@1.0.0`\n\n- Gate: the score must be 80 or more\n  - **Warn threshold:** 70",
  ],
  [
    "## Phases",
    [{ name: "P", steps: STEPS, gate: { threshold: 5, on_warn: "stop" } }],
    {},
    "### 1. P\n\n1. Call the agent `a@1.0.0`\n\n- Gate: the score must be 5 or more\n  - **On warn:** stop",
  ],
  [
    "## Result",
    PHASES,
    {
      aggregation: {
        score: { method: "weighted_average", weights: { p: 0.07, other: 1 }, skip_missing: false },
        decision: { NO: "score < 5", on: "a | b" },
      },
    },
    "The score is the weighted average of the phases' scores. A skipped phase counts as 0.\n\n| Phase | Weight |\n| --- | --- |\n| P | 7 % |\n" +
      "| other | 100 % |\n\n| Decision | When |\n| --- | --- |\n| **NO** | `score < 5` |\n| **on** | `a \\| b` |",
  ],
  [
    "## Result",
    PHASES,
    { aggregation: { score: { weights: { p: 60, other: 39.5, third: 0.5, none: "?" } } } },
    "| Phase | Weight |\n| --- | --- |\n| P | 60 |\n| other | 39.5 |\n| third | 0.5 |\n\n" +
      "### Further notes\n\n#### Score\n\n##### Weights\n\n**None:** ?",
  ],
  [
    "## Write",
    PHASES,
    {
      outputs: {
        artifacts: [{ id: "r", type: "html", path: "x/{{ y }}" }],
        variables: [{ name: "v", source: "s" }],
        verification: { post_save: [{ check: "file_exists", path: "x", on_mismatch: "warn" }] },
        tracking: { enabled: true },
      },
    },
    "- `r` (html) to `x/{{ y }}`\n- The variable `v` is `s`\n- Save the result in the tracker\n\nWhen everything is saved:\n\n" +
      "1. Check that the file `x` exists.\n   - Otherwise warn and go on",
  ],
  [
    "## Afterwards",
    PHASES,
    { postflight: { on_pass: { message: "p", exit_code: 0 }, on_odd_day: { message: "o" }, silent: {} } },
    "| Outcome | Message | Exit code |\n| --- | --- | --- |\n| Pass | p | 0 |\n| Odd day | o |  |",
  ],
];

describe("a workflow is rendered with the section", () => {
  test.each(CASES)("%s", (heading, phases, blocks, text) => {
    expect(sectionOf(rendered("workflow", workflowBody(phases, blocks)), heading)).toBe(text);
  });
});

test("the Order section describes how phases run", () => {
  const orchestration = {
    phases: PHASES,
    on_failure: "abort",
    max_parallel: 1,
    timeout: 60_000,
    execution_mode: {
      prompt: true,
      default: "sequential",
      parallel_groups: [{ number: 1, mode: "gate", phases: ["p"] }],
    },
  };
  expect(sectionOf(rendered("workflow", workflowBody([], { orchestration })), "## Order")).toBe(
    "1. P\n\n- Ask first whether to run the phases one after the other or in parallel.\n" +
      "- Unless told otherwise, run one phase after the other.\n- If a phase fails, end the whole run at once.\n" +
      "- Run 1 phase at a time at most.\n- Time limit for all phases: 1 minute\n- Group 1 (gate): P",
  );
});

test("the argument hint lists positional arguments, then flags", () => {
  const header = { description: "Does it all.", model: "opus", duration: "1 h" };
  const positional = [
    { name: "a" },
    { name: "b", required: false },
    { name: "c", default: "x" },
    { name: " " },
  ];
  const flags = [{ name: "f", type: "boolean" }, { name: "g" }];
  const markdown = rendered(
    "workflow",
    workflowBody(PHASES, { interface: header, arguments: { positional, flags } }),
  );
  expect(load(markdown).frontMatter).toEqual({
    description: "Does it all.",
    "argument-hint": "<a> [b] [c] [--f boolean] [--g]",
    model: "opus",
  });
  expect(load(markdown).body).toStartWith("# Sample\n\nDoes it all.\n\nUsual duration: 1 h\n");
  // A text is accepted in place of a list with one item.
  const short = rendered(
    "workflow",
    workflowBody(PHASES, { arguments: { positional: "target", flags: "strict" } }),
  );
  expect(load(short).frontMatter["argument-hint"]).toBe("<target> [--strict]");
});
