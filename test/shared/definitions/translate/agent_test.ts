import { describe, expect, test } from "bun:test";
import {
  agentBody,
  load,
  outline,
  rendered,
  sectionOf,
  tableBelow,
} from "../../../helpers/definitions/translation.ts";

type Case = [heading: string, agentType: string, blocks: Record<string, unknown>, text: string];

const PHASES = { phases: [{ name: "Look" }] };

const CASES: readonly Case[] = [
  [
    "## Purpose",
    "explorer",
    { mission: { vocabulary_rationale: "C", stakes: "B", outcome_framing: "A" } },
    "A\n\nB\n\nC",
  ],
  [
    "## Limits",
    "explorer",
    {
      mission: { role_boundaries: ["a"], explicit_prohibitions: ["b"], epistemic_limitations: ["c"] },
      interface: {
        epistemic_nature: { verifiability: "not_checkable", claim_type: "observational", own: "d" },
      },
    },
    "Stay within your part:\n\n- a\n\nRules without exception:\n\n- b\n\nWhat you cannot know, and say so:\n\n- c\n\n" +
      "How far your claims reach:\n\n- Nobody can check them; offer them as opinion.\n" +
      "- You report what you observed, without explaining it.\n\n### Further notes\n\n**Own:** d",
  ],
  [
    "## Setting",
    "explorer",
    {
      interface: { tools: ["Read", "API", "MCP"] },
      context: {
        working_directory: "/srv",
        environment: { MODE: "test", API_TOKEN: "abc" },
        shell: "bash",
        timeout_behavior: "fail",
        data_sources: [{ name: "Log", commands: [{ command: "tail\nhead", purpose: "Read it" }] }],
      },
    },
    "- Working directory: `/srv`\n- Shell: `bash`\n- Environment variable `MODE`: `test`\n" +
      "- Environment variable `API_TOKEN`: a secret, not shown here\n- When time runs out, stop and report a failure.\n" +
      "- You also need API and MCP; the host you run in knows under which tool name.\n\n### Log\n\n" +
      "- Read it:\n  ```sh\n  tail\n  head\n  ```",
  ],
  [
    "## Knowledge",
    "explorer",
    {
      knowledge_base: {
        sections: [
          {
            category_ref: "data_access",
            detection_patterns: [{ pattern: "eval(", severity: "high", description: "runs text" }],
            safe_patterns: [{ description: "typed", code: "a`b```c", language: "ts" }],
          },
        ],
        domain_taxonomy: { leak: "data gets out" },
        failure_code_examples: [{ code: "SEM-1", meaning: "a|b" }],
      },
    },
    "### Data access\n\nPatterns that give it away:\n\n- `eval(` (high) runs text\n\n**Right**: typed\n\n````ts\na`b```c\n````\n\n" +
      "### Taxonomy\n\n| Name | Meaning |\n| --- | --- |\n| leak | data gets out |\n\n### Failure codes\n\n" +
      "Give every finding the code that describes it best.\n\n| Code | Meaning |\n| --- | --- |\n| SEM-1 | a\\|b |",
  ],
  [
    "## Lens",
    "explorer",
    {
      cognitive_lens: {
        thinker: "Ada",
        axioms: [{ name: "Order", statement: "All is order", consequences: ["look for it"] }],
        failure_signatures: [{ signature: "Sees order in noise", mitigation: "count" }],
      },
    },
    "Look at the matter as Ada would.\n\nWhat follows from its axioms:\n\n- **Order**: All is order\n" +
      "  - Therefore: look for it\n\nHow this view misleads, and what helps:\n\n- Sees order in noise\n  - What helps: count",
  ],
  [
    "## Forecast frame",
    "forecaster",
    { forecast: { actor_type: "a", time_horizon: "b" } },
    "- Kind of actor: a\n- Time horizon: b",
  ],
  [
    "## Scoring",
    "validator",
    {
      scoring: {
        maxScore: 100,
        categories: [
          {
            name: "A",
            weight: 10.5,
            criteria: [
              {
                id: "x",
                points: 1,
                name: "X",
                failure_taxonomy: { failure_mode: "F-1", default_severity: "low" },
                verification: { method: "automated", automation: { tool: "t", command: "run" } },
                guidance: "g",
                partial_scores: [{ points: 0, condition: "none" }],
              },
            ],
          },
          {
            id: "b",
            criteria: [
              {
                name: "Y",
                failure_taxonomy: { severity: "low" },
                verification: { method: "by hand", command: "c" },
              },
            ],
          },
        ],
        calibration_examples: [{ score: 0, description: "empty" }],
      },
    },
    "The score runs from 0 to 100.\n\n| Category | Weight |\n| --- | --- |\n| A | 10.5 |\n| b |  |\n| **Total** | **10.5** |\n\n" +
      "### A\n\n- 1 point – **X**\n  - Failure code: `F-1`, by default low\n  - Check command (t): `run`\n  - How to judge: g\n" +
      "  - In part: 0 – none\n\n### b\n\n- **Y**\n  - Usual severity: low\n  - Check command: `c`\n  - Kind of check: by hand\n\n### Calibration\n\n- **0** – empty",
  ],
  [
    "## Scoring",
    "analyst",
    { scoring: { categories: [0.4, 0.3, 0.2, 0.1].map((weight) => ({ name: `C ${weight}`, weight })) } },
    "| Category | Weight |\n| --- | --- |\n| C 0.4 | 0.4 |\n| C 0.3 | 0.3 |\n| C 0.2 | 0.2 |\n| C 0.1 | 0.1 |\n" +
      "| **Total** | **1** |",
  ],
  [
    "## Severity",
    "analyst",
    {
      deductions: {
        severity_scale: [
          { level: "a", points: "auto_fail" },
          { level: "b", points: 0, label: "L" },
        ],
      },
    },
    "| Level | Points | Meaning |\n| --- | --- | --- |\n| a | automatic failure |  |\n| b | 0 | L |",
  ],
  [
    "## Automatic failure",
    "analyst",
    {
      auto_fail: {
        conditions: [
          { id: "a", detection: { method: "tool", command: "scan" }, remediation: "Fix it" },
          { id: "b", detection: { method: "By ear", command: "listen" } },
        ],
      },
    },
    "Any of these fails the whole, whatever the score:\n\n- **a**\n  - Found by a tool\n  - Detect with: `scan`\n  - Remedy: Fix it.\n" +
      "- **b**\n  - By ear\n  - Detect with: `listen`",
  ],
  ["## Automatic failure", "analyst", { auto_fail: { enabled: false, conditions: [{ name: "x" }] } }, ""],
  [
    "## Steps",
    "generator",
    {
      tasks: {
        operations: [
          { id: "a", depends_on: ["b"], name: "A", condition: "ready", rollback_on_failure: true },
          { id: "b", description: "B", retry: { max_attempts: 2, backoff_ms: 1500 } },
        ],
      },
    },
    "1. **A**\n   - After step 2\n   - Only if `ready`\n   - If it fails, undo what was changed\n2. B\n" +
      "   - If it fails, try 2 more times at most, 1500 ms apart",
  ],
  [
    "## Procedure",
    "analyst",
    {
      process: {
        reasoning_scaffolding: { steps: ["Think"] },
        phases: [
          {
            steps: [
              {
                action: "Go",
                tool: "Bash",
                command: "a\nb",
                condition: "c",
                fallback: "d",
                output_variable: "e",
              },
            ],
          },
        ],
        pre_decision_checklist: ["Done?"],
      },
    },
    "1. **Think**\n\n### 1. Phase\n\n1. Go (Bash)\n   - Command:\n     ```sh\n     a\n     b\n     ```\n   - Only if: c\n" +
      "   - If that is not possible: d\n   - Remember the result as `e`\n\n### Before you decide\n\n- [ ] Done?",
  ],
  [
    "## Decision",
    "analyst",
    {
      process: PHASES,
      decisions: {
        vocabulary: { positive: "NO" },
        thresholds: [
          { decision: "positive", min_score: 0, max_score: 0 },
          { decision: "other", label: "l" },
        ],
        tracking: { category: "safety", notify_on: ["positive"] },
        criteria: ["be fair"],
        guidance: "g",
      },
    },
    "Decide with exactly one of these words:\n\n| Word | Score | Meaning |\n| --- | --- | --- |\n| **NO** | 0 |  |\n" +
      "| **other** |  | l |\n\nThe decision is about safety: in doubt, choose the stricter word.\n\n" +
      "Notify the people concerned when the decision is **NO**.\n\n- be fair\n\ng",
  ],
  [
    "## Decision",
    "validator",
    {
      process: PHASES,
      decisions: {
        vocabulary: { positive: "PASS", negative: "FAIL" },
        thresholds: [{ decision: "PASS", min_score: 70 }, { decision: "negative" }],
      },
    },
    "Decide with exactly one of these words:\n\n| Word | Score |\n| --- | --- |\n| **PASS** | 70 and above |\n| **FAIL** |  |",
  ],
  [
    "## Completion",
    "executor",
    {
      completion: {
        vocabulary: { complete: "DONE", failed: "LOST" },
        criteria: [{ condition: "all", decision: "DONE" }],
      },
    },
    "End with exactly one of these words:\n\n| Word | When |\n| --- | --- |\n| **DONE** | all |\n| **LOST** |  |",
  ],
  [
    "## Completion",
    "executor",
    {
      completion: {
        vocabulary: { complete: "DONE", failed: "LOST" },
        criteria: [{ condition: "all", decision: "complete" }],
      },
    },
    "End with exactly one of these words:\n\n| Word | When |\n| --- | --- |\n| **DONE** | all |\n| **LOST** |  |",
  ],
  ["## Undo", "executor", { rollback: { enabled: false, strategy: "git_stash" } }, ""],
  [
    "## Undo",
    "executor",
    { rollback: { strategy: "manual" } },
    "If the work fails, list the steps by which a person can undo what you changed.",
  ],
  [
    "## Special cases",
    "validator",
    {
      edge_cases: [
        {
          id: "no_input",
          condition: "nothing",
          behavior: ["a", "b"],
          score_adjustment: -5,
          report_wording: "Sorry.",
          decision_override: "negative",
        },
      ],
    },
    "### No input\n\nWhen: nothing\n\n1. a\n2. b\n\n- Change the score by -5\n- Decide **NO**, whatever the score\n" +
      "- Report it in exactly these words:\n  ```\n  Sorry.\n  ```",
  ],
  [
    "## Report",
    "explorer",
    {
      output: {
        format: "json",
        schema: { type: "object" },
        token_budget: { max: 9, guidance: "short" },
        sections: [{ id: "s", template: "# {{ x }}", condition: "y" }],
        examples: [{ scenario: "e", input: "in", output: "out" }],
        classification: { kind: "k" },
      },
    },
    "Answer in JSON, with nothing around it. Stay below 9 tokens.\n\nshort\n\nThe answer follows this schema:\n\n" +
      '```json\n{\n  "type": "object"\n}\n```\n\nWrite these sections, one after the other:\n\n**s**, only if `y`:\n\n' +
      "```markdown\n# {{ x }}\n```\n\n**Example:** e\n\nGiven:\n\n```\nin\n```\n\nAnswer:\n\n```\nout\n```\n\n" +
      "### Further notes\n\n#### Classification\n\n**Kind:** k",
  ],
  [
    "## Report",
    "explorer",
    {
      output: {
        schema: {
          additionalProperties: "False",
          properties: { a: { type: "boolean", default: "True" }, b: { default: "True", minimum: "1.0" } },
          required: ["True"],
        },
      },
    },
    "The answer follows this schema:\n\n" +
      '```json\n{\n  "additionalProperties": false,\n  "properties": {\n    "a": {\n      "type": "boolean",\n      "default": true\n    },\n' +
      '    "b": {\n      "default": "True",\n      "minimum": 1\n    }\n  },\n  "required": [\n    "True"\n  ]\n}\n```',
  ],
  [
    "## Works with",
    "explorer",
    {
      interface: { dependencies: { requires: ["a@1.0.0"], conflicts: ["b"] } },
      handoff: {
        upstream_context: { accepts: ["x"] },
        downstream_artifacts: { produces: ["y"], output_contract: "z" },
      },
      composition: { pairs_with: ["c"] },
    },
    "- Needs `a@1.0.0`\n- Does not go together with `b`\n- Accepts from those before it: x\n" +
      "- Hands on to those after it: y\n- What it promises: z\n\n### Further notes\n\n**Pairs with:**\n\n- c",
  ],
  [
    "## Voice",
    "explorer",
    { tone: { attributes: ["dry"], guidelines: ["Be kind"] } },
    "- Tone: dry\n- Be kind",
  ],
];

describe("an agent's section", () => {
  test.each(CASES)("%s is rendered for type %s", (heading, agentType, blocks, text) => {
    expect(sectionOf(rendered("agent", agentBody(agentType, blocks)), heading)).toBe(text);
  });
});

test.each([
  ["low_risk", 60, 40],
  ["quality_gate", 70, 50],
  ["high_stakes", 80, 60],
  ["security", 85, 70],
  ["critical", 90, 80],
])("the preset %s is rendered as score ranges", (preset, pass, middle) => {
  const table = (vocabulary: object) =>
    tableBelow(rendered("agent", agentBody("validator", { decisions: { vocabulary, preset } })), "Decision");
  expect(table({ positive: "P", conditional: "C", negative: "N" }).slice(1)).toEqual([
    ["**P**", `${pass} and above`],
    ["**C**", `${middle}–${pass - 1}`],
    ["**N**", `below ${middle}`],
  ]);
  expect(table({ positive: "P", negative: "N" }).slice(1)).toEqual([
    ["**P**", `${pass} and above`],
    ["**N**", `below ${pass}`],
  ]);
});

test("a decision override in a special case does not add a section for the decision vocabulary", () => {
  const decisions = { vocabulary: { positive: "PASS", negative: "FAIL" }, preset: "quality_gate" };
  const edge_cases = [{ id: "e", condition: "c", decision_override: "negative" }];
  const markdown = rendered("agent", agentBody("validator", { process: PHASES, decisions, edge_cases }));
  expect(sectionOf(markdown, "## Special cases")).toBe(
    "### E\n\nWhen: c\n\n- Decide **FAIL**, whatever the score",
  );
  expect(outline(markdown).filter((heading) => /Decisions|Vocabulary/.test(heading))).toEqual([]);
});

const EVERY_BLOCK = {
  forecast: { actor_type: "a" },
  scoring: { categories: [{ name: "A", weight: 100 }] },
  deductions: { severity_scale: [{ level: "x" }] },
  auto_fail: { conditions: [{ name: "x" }] },
  tasks: { operations: [{ name: "x" }] },
  process: PHASES,
  mission: { stakes: "x" },
  decisions: { vocabulary: { positive: "YES" } },
  completion: { vocabulary: { complete: "DONE" } },
  rollback: { strategy: "none" },
};

test.each([
  ["validator", "Purpose Scoring Severity Automatic-failure Procedure Decision"],
  ["executor", "Purpose Automatic-failure Steps Procedure Completion Undo"],
  ["analyst", "Purpose Scoring Severity Automatic-failure Procedure Decision"],
  ["generator", "Purpose Steps Procedure Decision Completion Undo"],
  ["explorer", "Purpose Procedure"],
  ["forecaster", "Purpose Forecast-frame Scoring Severity Automatic-failure Procedure Decision"],
])("an agent of type %s leaves out the blocks of other types", (agentType, sections) => {
  const headings = outline(rendered("agent", agentBody(agentType, EVERY_BLOCK)));
  expect(headings.filter((heading) => heading.startsWith("## "))).toEqual(
    sections.split(" ").map((section) => `## ${section.replace("-", " ")}`),
  );
});

test.each([
  ["explorer", undefined, "Read, Grep, Glob"],
  ["executor", undefined, undefined],
  ["generator", [], undefined],
  ["analyst", ["API"], "Read, Grep, Glob"],
  ["executor", ["MCP", "Web", "Read", "Read"], "WebFetch, WebSearch, Read"],
  ["executor", ["Edit", "constructor"], "Read, Grep, Glob"],
  ["executor", ["API"], "Read, Grep, Glob"],
  ["generator", "MCP", "Read, Grep, Glob"],
])("an agent of type %s with the tools %j has the runtime tools %j", (agentType, tools, expected) => {
  const { frontMatter } = load(rendered("agent", agentBody(agentType, { interface: { tools } })));
  expect(frontMatter["tools"]).toBe(expected as string);
});

test.each([
  ["sonnet", "sonnet"],
  ["opus-4.5", "opus"],
  ["gpt", undefined],
  ["sonnets", undefined],
  [4, undefined],
])("the model %j becomes %j in the front matter", (model, expected) => {
  const { frontMatter } = load(rendered("agent", agentBody("explorer", { defaults: { model } })));
  expect(frontMatter["model"]).toBe(expected as string);
});
