import { describe, expect, test } from "bun:test";
import { listReferences } from "../../../../shared/definitions/references.ts";
import { outline, pipelineBody, rendered, sectionOf } from "../../../helpers/definitions/translation.ts";

const STAGES = [{ id: "s", name: "S", agents: [{ ref: "helper" }] }];

type Case = [heading: string, stages: readonly object[], blocks: Record<string, unknown>, text: string];

const CASES: readonly Case[] = [
  [
    "## Starts when",
    STAGES,
    {
      triggers: [
        { type: "git_push", branches: ["main", "x/*"], tags: ["v*"], paths: ["src"] },
        { type: "pull_request" },
        { type: "schedule", cron: "0 0 * * *", skip_if_running: false },
        { type: "webhook", event: "done", payload_filter: "x == 1" },
        { type: "manual", allowed: false },
        {
          type: "manual",
          parameters: [
            {
              name: "p",
              type: "string",
              default: 0,
              required: false,
              options: ["a", "b"],
              pattern: "^a|b$",
              description: "d",
            },
          ],
        },
        { type: "pipeline", pipeline: "other@^1.0.0", condition: "failed" },
      ],
    },
    "- Commits are pushed on the branches `main` or `x/*`, with the tags `v*`, in the paths `src`.\n- A pull request changes.\n" +
      "- The schedule `0 0 * * *` is due.\n- The webhook event `done` is received.\n  - Only if the payload fits `x == 1`\n- Never by hand.\n" +
      "- Somebody starts it by hand.\n  - Parameter `p`: string, optional, default `0`, one of `a` or `b`, must match `^a|b$` – d\n" +
      "- The pipeline `other@^1.0.0` has run.\n  - Only if `failed`",
  ],
  [
    "## Environment",
    STAGES,
    {
      environment: {
        variables: { A: 1 },
        secrets: [{ name: "B", required: true, stages: ["s"], provider: "vault" }],
      },
    },
    "| Variable | Value |\n| --- | --- |\n| `A` | `1` |\n\n| Secret | Required | Stages | Provider |\n| --- | --- | --- | --- |\n" +
      "| `B` | yes | `s` | vault |",
  ],
  ["## Environment", STAGES, { environment: { secrets: { B: "hunter2" } } }, "| Secret |\n| --- |\n| `B` |"],
  [
    "## Order",
    [{ id: "b", steps: ["x"], depends_on: "a" }, { id: "a", steps: ["x"] }, { steps: ["x"] }],
    {},
    "1. `a`, Stage 3 (these may run together)\n2. `b`",
  ],
  [
    "## Stages",
    [
      {
        id: "s",
        name: "S",
        parallel: true,
        timeout: 1000,
        approval: {
          required: "risky",
          approvers: ["@a", "b"],
          min_approvals: 2,
          timeout_hours: 1,
          timeout_behavior: "extend",
          auto_reject_on_change: true,
          allow_self_approval: true,
          skip_for: ["bots"],
        },
        inputs: { i: "x" },
        env: { E: "y" },
        workflows: [{ ref: "w@1.0.0", args: { a: 1 }, condition: "c", timeout: 2000 }],
        agents: [{ ref: "helper", model: "opus" }],
        gate: { threshold: 9, on_failure: "abort", on_success: "skip_remaining" },
        outputs: [{ name: "o", value: "v" }],
        artifacts: [{ name: "f", path: "*.x", retention_days: 1, required: false }],
        artifacts_from: ["before"],
        steps: [
          {
            name: "One",
            command: "a",
            working_dir: "d",
            env: { X: 1 },
            always_run: true,
            retries: 1,
            retry_delay: 1000,
          },
          { command: "a\nb", continue_on_error: true, expect_empty: true, expect_match: "^x" },
          { command: "c", retries: 0, retry_delay: 1000 },
        ],
        extra: "e",
      },
    ],
    {},
    "### 1. S\n\n- Run the parts of this stage in parallel\n- Time limit: 1 second\n- Approval is needed before this stage starts if `risky`\n" +
      "  - From `@a` or `b`\n  - At least 2 approvals\n  - Within 1 hour\n  - When that time is over, wait longer\n" +
      "  - People may approve what they started themselves\n  - A change made meanwhile counts as a refusal\n  - Not needed for `bots`\n" +
      "- Input `i`: `x`\n- Environment variable `E`: `y`\n- Run the workflow `w@1.0.0`\n  - Only if `c`\n  - Time limit: 2 seconds\n" +
      "  - Argument `a`: `1`\n- Run the agent `helper`\n  - Model: `opus`\n- Gate: the score must be 9 or more\n" +
      "  - Below 9: end the whole run at once\n  - When it is passed: skip everything that is left\n- Output `o`: `v`\n" +
      "- Artifact `f` at `*.x` (kept for 1 day, optional)\n- Uses the artifacts of `before`\n\n1. **One**: `a`\n   - In the directory `d`\n" +
      "   - Environment variable `X`: `1`\n   - Run it even when something before it failed\n   - If it fails, try 1 more time at most, 1 second apart\n" +
      "2. **Step 2**:\n   ```sh\n   a\n   b\n   ```\n   - Go on when it fails\n   - It must print nothing\n   - Its output must match `^x`\n" +
      "3. **Step 3**: `c`\n   - **Retry delay:** 1000\n\n- **Extra:** e",
  ],
  ["## Stages", [{ approval: true }], {}, "### 1. Stage 1\n\n- Approval is needed: from anybody"],
  [
    "## Undo",
    STAGES,
    {
      rollback: {
        strategy: "revert_to_previous",
        triggers: [{ condition: "x" }],
        actions: { a: { timeout: 1000, steps: ["b"] } },
      },
    },
    "Go back to the version before this one.\n\n- When `x`\n\n### Action `a`\n\n- Time limit: 1 second\n\n1. **Step 1**: `b`",
  ],
  ["## Undo", STAGES, { rollback: { enabled: false, strategy: "custom" } }, ""],
  [
    "## Tell",
    STAGES,
    {
      notifications: {
        channels: ["email", { type: "slack", channel: "#x", mention: "all" }],
        templates: { ok: "a\n```" },
        rate_limit: { per_hour: 2 },
      },
    },
    "- email\n- slack to `#x`\n  - **Mention:** all\n\nMessage for `ok`:\n\n````\na\n```\n````\n\n### Further notes\n\n#### Rate limit\n\n**Per hour:** 2",
  ],
  ["## Keep", STAGES, { artifacts: [{ path: "x" }, "y"] }, "- Artifact `x`\n- Artifact `y`"],
  [
    "## Remember",
    STAGES,
    { state: { persistence: false, ttl: "1d", custom: [{ name: "a", value: 0, on: "failure" }] } },
    "- Forget the state after each run\n- Forget it after 1d\n- Set `a`: `0`, on failure",
  ],
  [
    "## Remember",
    STAGES,
    { state: { custom: [{ on: "failure", action: "retry" }] } },
    "### Further notes\n\n**Custom:**\n\n- **On:** failure\n  - **Action:** retry",
  ],
  [
    "## Afterwards",
    STAGES,
    {
      postflight: {
        tracker: { enabled: true },
        on_success: ["a"],
        always: [{ description: "b", command: "c\nd" }],
      },
    },
    "Save the result in the tracker.\n\nOn success:\n\n- a\n\nIn any case:\n\n- b:\n  ```sh\n  c\n  d\n  ```",
  ],
];

describe("a pipeline is rendered with the section", () => {
  test.each(CASES)("%s", (heading, stages, blocks, text) => {
    expect(sectionOf(rendered("pipeline", pipelineBody(stages, blocks)), heading)).toBe(text);
  });
});

test("a stage without a name or an id is titled with its number", () => {
  expect(outline(rendered("pipeline", pipelineBody([{ steps: ["a"] }])))).toEqual([
    "# Sample",
    "## Order",
    "## Stages",
    "### 1. Stage 1",
  ]);
});

test.each([
  ["command", "command"],
  ["workflow", "workflow"],
  ["agent", "agent"],
  ["agents", "agent"],
  ["pipeline", "command"],
  ["constructor", "command"],
])("a stage of type %s is rendered and referenced as %s, and an unknown type is shown", (type, read) => {
  const body = pipelineBody([{ name: "S", type, ref: "helper" }]);
  const markdown = rendered("pipeline", body);
  expect(markdown).toContain(`- Run the ${read} \`helper\``);
  expect(markdown.includes("Type")).toBe(!type.startsWith(read));
  expect(listReferences({ type: "pipeline", body })).toMatchObject([{ type: read, name: "helper" }]);
});

test("the condition `on` is rendered as text, not as a boolean", () => {
  const markdown = rendered("pipeline", pipelineBody([{ ...STAGES[0], condition: "on" }]));
  expect(markdown).toContain("- Only if `on`");
});
