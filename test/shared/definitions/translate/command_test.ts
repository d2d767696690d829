import { describe, expect, test } from "bun:test";
import {
  commandBody,
  load,
  outline,
  rendered,
  sectionOf,
  tableBelow,
} from "../../../helpers/definitions/translation.ts";

type Case = [heading: string, blocks: Record<string, unknown>, text: string];

const CASES: readonly Case[] = [
  [
    "## Arguments",
    { arguments: { examples: ["./src"] } },
    "The caller typed:\n\n$ARGUMENTS\n\nExamples:\n\n- `/sample ./src`",
  ],
  ["## Arguments", { inputs: [{ name: "x", source: "arg" }] }, "The caller typed:\n\n$ARGUMENTS"],
  ["## Arguments", { inputs: [{ name: "x", source: "env", env: "X" }] }, ""],
  [
    "## Before you start",
    {
      preflight: {
        banner: { template: "Hello\n$ARGUMENTS" },
        checks: [
          { check: "file_exists", path: "a", on_fail: "skip" },
          { check: "dir_exists", path: "b", required: false },
          { check: "command", command: "a\nb", expect_empty: true },
          { check: "command", command: "c", expect_output: "d" },
          { check: "json_field", path: "e", field: "f", expect: 0 },
          { check: "yaml_field", path: "e", field: "f" },
          {
            check: "grep",
            pattern: "p",
            path: "q",
            include: ["*.ts"],
            min_matches: 2,
            on_fail: "abort",
            message: "m",
          },
        ],
      },
    },
    "Begin by showing this:\n\n```\nHello\n$ARGUMENTS\n```\n\n1. Check that the file `a` exists.\n" +
      "   - Otherwise skip what needs it and go on\n2. Check that the directory `b` exists.\n   - Otherwise warn and go on\n" +
      "3. Check that the command below prints nothing.\n   ```sh\n   a\n   b\n   ```\n   - Otherwise stop\n" +
      "4. Check that `c` prints `d`.\n   - Otherwise stop\n5. Check that the JSON field `f` of `e` is `0`.\n   - Otherwise stop\n" +
      "6. Check that the YAML field `f` of `e` is there.\n   - Otherwise stop\n" +
      "7. Check that `p` is found in the files under `q`, only in `*.ts`, at least 2 times.\n   - Otherwise stop, with the message: m",
  ],
  [
    "## Before you start",
    { preflight: [{ check: "git_clean" }] },
    "1. Check that Git reports no uncommitted changes.\n   - Otherwise stop",
  ],
  [
    "## Before you start",
    {
      preflight: {
        checks: [
          { check: "command", command: "git status --porcelain", expect_output: "" },
          { check: "command", command: "a", expect: " " },
          { check: "command", command: "b", expect_output: null, expect: null },
          { check: "json_field", path: "c", field: "d", expect: "" },
        ],
      },
    },
    "1. Check that `git status --porcelain` prints nothing.\n   - Otherwise stop\n" +
      "2. Check that `a` prints nothing.\n   - Otherwise stop\n3. Check that `b` succeeds.\n   - Otherwise stop\n" +
      "4. Check that the JSON field `d` of `c` is empty.\n   - Otherwise stop",
  ],
  ["## Run", {}, "There is no agent to call: do the steps of this page yourself."],
  [
    "## Run",
    {
      invokes: { agents: ["a@^1.0.0", "b"] },
      execution: { model: { default: "opus", allowed: ["x/y"] }, timeout: 1500, max_retries: 2 },
      overrides: { threshold: 0, timeout: 3_600_000, temperature: 0 },
    },
    "Give the work to the agents `a@^1.0.0` and `b`.\n\n- Model: `opus`\n- Allowed models: `x/y`\n- Time limit: 1500 ms\n" +
      "- If it fails, try 2 more times at most\n- Here a score of 0 or more passes\n- Here the time limit is 1 hour\n- Temperature: 0",
  ],
  [
    "## Run",
    { execution: { max_retries: 0, retry_delay: 2000 } },
    "There is no agent to call: do the steps of this page yourself.\n\n### Further notes\n\n**Retry delay:** 2000",
  ],
  [
    "## Repeat",
    { iteration: { max_attempts: 1, exit_threshold: 90, target_agent: "a@latest", fix_patterns: false } },
    "- Repeat until the score is 90 or more\n- Make 1 attempt at most\n- In each round, call the agent `a@latest`",
  ],
  [
    "## Afterwards",
    {
      postflight: {
        steps: [
          { action: "verify_saved", required: false, on_failure: "ignore" },
          { action: "custom_command", command: "a\nb", on_failure: "warn", message: "m" },
          { action: "dance" },
          { action: "tell the owner", command: "c" },
        ],
        on_success: { message: "ok", exit_code: 0 },
        on_timeout: "late",
      },
    },
    "1. Check that the result was saved (optional).\n   - If that fails, go on\n2. Run the command below.\n   ```sh\n   a\n   b\n   ```\n" +
      "   - Message: m\n   - If that fails, warn and go on\n3. dance.\n4. tell the owner.\n   - Command: `c`\n\n| Outcome | Message | Exit code |\n| --- | --- | --- |\n" +
      "| Success | ok | 0 |\n| Timeout | late |  |",
  ],
  [
    "## Record",
    { tracking: { required: true, variant: "sdk" } },
    "Save the result before you show it. What could not be saved is not shown.\n\n- Saved by way of: `sdk`",
  ],
  ["## Record", { tracking: { variant: "none", required: true } }, ""],
  ["## Record", { tracking: { enabled: false } }, ""],
  [
    "## Report",
    { output: { format: "minimal", schema: "v1" } },
    "Answer with the outcome alone.\n\nThe answer follows the schema `v1`.",
  ],
];

describe("a command's section", () => {
  test.each(CASES)("%s is rendered for %j", (heading, blocks, text) => {
    expect(sectionOf(rendered("command", commandBody(blocks)), heading)).toBe(text);
  });
});

test("inputs are rendered as table rows that show the source of each input", () => {
  const inputs = [
    { name: "a", source: "arg", arg: "b", default: 0 },
    { name: "c", source: "env", env: "D" },
    { name: "e", source: "file", path: "f" },
    { name: "g", source: "default", value: false },
    { name: "h", source: "previous", from: "i" },
    { name: "j", source: "elsewhere" },
  ];
  const markdown = rendered("command", commandBody({ inputs }));
  expect(tableBelow(markdown, "Inputs")).toEqual([
    ["Name", "Source", "Default"],
    ["`a`", "argument `b`", "`0`"],
    ["`c`", "environment variable `D`", ""],
    ["`e`", "file `f`", ""],
    ["`g`", "fixed value", "`false`"],
    ["`h`", "result of `i`", ""],
    ["`j`", "elsewhere", ""],
  ]);
  expect(load(markdown).frontMatter).toEqual({
    description: "Does what a sample does, no more.",
    "argument-hint": "[b]",
  });
});

test.each([
  ["sonnet", "sonnet"],
  ["sonnet-4.5", undefined],
  ["anthropic/claude", undefined],
])("the model %j becomes %j in the front matter, which never grants tools", (model, expected) => {
  const body = commandBody({
    execution: { model: { default: model } },
    "allowed-tools": "Bash(*)",
    tools: ["Bash"],
  });
  const { frontMatter } = load(rendered("command", body));
  expect(frontMatter["model"]).toBe(expected as string);
  expect(Object.keys(frontMatter)).not.toContain("allowed-tools");
});

test("sections have a fixed order, regardless of the order in the document", () => {
  const blocks = {
    output: { format: "x" },
    tracking: {},
    postflight: { on_x: "y" },
    iteration: { max_attempts: 2 },
    inputs: [{ name: "a" }],
  };
  const all = commandBody({
    ...blocks,
    arguments: { examples: ["a"] },
    preflight: { checks: [{ check: "git_clean" }] },
  });
  const sections = "Arguments,Inputs,Before you start,Run,Repeat,Afterwards,Record,Report";
  expect(outline(rendered("command", all)).slice(1)).toEqual(
    sections.split(",").map((section) => `## ${section}`),
  );
});
