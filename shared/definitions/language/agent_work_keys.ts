/** The keys of an agent's knowledge, judgment and work. */
import { TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flag,
  free,
  integer,
  type Key,
  type Keys,
  names,
  number,
  prose,
  proses,
  text,
  texts,
  word,
} from "./keys.ts";

function samples(meaning: string): Key {
  return entries(
    meaning,
    {
      description: prose("What it shows", "A query that is built from input"),
      name: prose("The same as `description`", "Built query"),
      severity: text("How bad it is", "critical"),
      language: text("The language of the code", "ts"),
      code: text("The code", "db.query(input)"),
      example: text("The same as `code`", "db.query(input)"),
      why: prose("Why", "Input becomes SQL."),
      explanation: prose("The same as `why`", "Input becomes SQL."),
    },
    { main: "description" },
  );
}

const KNOWLEDGE: Keys = {
  key_definitions: names(text("", ""), "Terms and their meanings", "{sink: Where input is used}"),
  global_references: proses("Standards to follow", "[OWASP ASVS 4.0]"),
  sections: entries(
    "What to look for, by category",
    {
      category_ref: text("Id of a category of `scoring`", "tests"),
      what_to_check: proses("What has to hold", "[Every branch has a test.]"),
      detection_patterns: entries(
        "Patterns that give a problem away",
        {
          pattern: text("The pattern", "eval\\("),
          regex: text("The same as `pattern`", "eval\\("),
          severity: text("How bad it is", "high"),
          description: prose("What it finds", "Code from text"),
          name: prose("The same as `description`", "Code from text"),
        },
        { main: "pattern" },
      ),
      red_flags: samples("Wrong code"),
      safe_patterns: samples("Right code"),
      common_mistakes: entries(
        "Mistakes, and what to do instead",
        {
          mistake: prose("The mistake", "Trusting a file name"),
          description: prose("The same as `mistake`", "Trusting a file name"),
          why_wrong: prose("Why it is one", "It may hold a path."),
          why: prose("The same as `why_wrong`", "It may hold a path."),
          correct_approach: prose("What to do instead", "Keep the base name only."),
          instead: prose("The same as `correct_approach`", "Keep the base name only."),
        },
        { main: "mistake" },
      ),
      references: proses("Further reading", "[CWE-89]"),
    },
    { main: "what_to_check" },
  ),
  domain_taxonomy: free("Names and meanings, or a list of records", "{flaky: Fails now and then}"),
  failure_code_examples: free("Failure codes and meanings, or a list of records", "{T-01: Missing test}"),
};

const CRITERION: Keys = {
  id: text("Its id", "has-tests"),
  name: text("Its name", "Has tests"),
  points: number("Points it gives", 10),
  description: prose("When the points are given", "New behavior has a test."),
  failure_taxonomy: block(
    "The failure code, or a text",
    {
      failure_mode: text("The code", "T-01"),
      code: text("The same as `failure_mode`", "T-01"),
      default_severity: text("Its usual severity", "high"),
      severity: text("The same as `default_severity`", "high"),
    },
    { or: ["text"], isOpen: true },
  ),
  verification: block(
    "How to check it, or a text",
    {
      method: text("The kind of check", "automated"),
      command: text("A command that checks it", "bun test"),
      automation: block("A tool that checks it", {
        tool: text("The tool", "bun"),
        command: text("The command", "bun test --coverage"),
        threshold: text("What it has to reach", "80 %"),
      }),
      guidance: prose("How to judge", "Read the test, not its name."),
      description: prose("The same as `guidance`", "Read the test."),
    },
    { or: ["prose"], isOpen: true },
  ),
  guidance: prose("How to judge", "Read the test, not its name."),
  partial_scores: entries(
    "Points for a part",
    {
      points: number("Points", 5),
      score: number("The same as `points`", 5),
      condition: prose("When", "Only the good case is tested."),
      description: prose("The same as `condition`", "Only the good case is tested."),
    },
    { main: "condition" },
  ),
};

const SCORING: Keys = {
  maxScore: number("The highest score", 100),
  categories: entries(
    "What is judged; weights add up to 100",
    {
      id: text("Its id", "tests"),
      name: text("Its name", "Tests"),
      weight: number("Its share of the score", 25),
      description: prose("What belongs to it", "Whether new behavior is tested"),
      criteria: entries("What gives points; they add up to the weight", CRITERION, { main: "name" }),
    },
    { main: "name", isRequired: true },
  ),
  calibration_examples: entries(
    "Examples with their scores",
    {
      score: text("The score", 85),
      expected_score: text("The same as `score`", 85),
      description: prose("The example", "A good change without a migration test"),
      scenario: prose("The same as `description`", "A good change"),
      example: prose("The same as `description`", "A good change"),
      name: prose("The same as `description`", "A good change"),
      reasoning: prose("Why", "One criterion is missing."),
      why: prose("The same as `reasoning`", "One criterion is missing."),
      rationale: prose("The same as `reasoning`", "One criterion is missing."),
    },
    { main: "description" },
  ),
  interpretation: prose("How to read the score", "Below 70, the change needs work."),
  weight_rationale: prose("Why the weights are as they are", "Tests fail first."),
};

const DECISIONS: Keys = {
  vocabulary: names(text("", ""), "The words to decide with", "{positive: MERGE, negative: HOLD}"),
  thresholds: entries(
    "Words and their scores, instead of `preset`",
    {
      decision: text("A key of `vocabulary`", "positive"),
      min_score: number("The lowest score", 80),
      max_score: number("The highest score", 100),
      label: text("What it means", "Merge it"),
      description: text("The same as `label`", "Merge it"),
    },
    { main: "decision" },
  ),
  preset: word("Common thresholds", ["low_risk", "quality_gate", "high_stakes", "security", "critical"]),
  tracking: block("How the decision is used", {
    category: word("What it decides about", ["gate", "safety", "advisory"]),
    notify_on: texts("Decisions that people are notified of", "[negative]"),
  }),
  criteria: entries(
    "When to choose a word",
    {
      decision: text("A key of `vocabulary`", "negative"),
      condition: prose("When", "a test fails"),
      description: prose("The same as `condition`", "a test fails"),
      label: prose("What it means", "Hold it"),
    },
    { main: "condition" },
  ),
  guidance: proses("How to decide in doubt", "[In doubt, hold.]"),
};

const AUTO_FAIL: Keys = {
  enabled: flag("False: the block does not apply"),
  conditions: entries(
    "What fails the whole, whatever the score",
    {
      id: text("Its id", "secret-in-code"),
      display_id: text("The id that people read", "AF-001"),
      name: prose("Its name", "A secret is committed"),
      description: prose("The same as `name`", "A secret is committed"),
      condition: prose("The same as `name`", "A secret is committed"),
      severity: text("Always critical", "critical"),
      detection: block(
        "How it is found, or a text",
        {
          method: word("By what", ["pattern", "semantic", "tool"], { or: ["text"] }),
          description: prose("How", "A key in a changed line"),
          patterns: texts("Patterns", '["AKIA[0-9A-Z]{16}"]'),
          pattern: text("One pattern", "AKIA[0-9A-Z]{16}"),
          command: text("A command that finds it", "gitleaks detect"),
        },
        { or: ["prose"] },
      ),
      category_override: text("The category it counts against", "security"),
      remediation: prose("What to do", "Revoke the key."),
    },
    { main: "name" },
  ),
};

const SEVERITY: Keys = {
  level: text("Its name", "critical"),
  points: text("Points, or `auto_fail`", -10),
  emoji: text("A sign", "\u{1F534}"),
  label: text("What it means", "Blocks the release"),
  action: text("What to do", "Fix it now."),
};

function values(noun: string, more: Keys): Keys {
  return {
    id: text("Its id", "target"),
    name: text("Its name, or what it is", "Folder to format"),
    type: text("Its type", "path"),
    itemType: text("The type of its items", "path"),
    item_type: text("The same as `itemType`", "path"),
    values: texts("The values it can have", "[users, operators]"),
    required: flag(`The ${noun} cannot be left out`),
    description: text("What it is", "The folder that is formatted."),
    ...more,
  };
}

const TASKS: Keys = {
  inputs: entries(
    "What it is given",
    values("input", {
      default: free("The value if it is left out", "."),
      source: text("Where it comes from", "caller"),
    }),
    { main: "name" },
  ),
  operations: entries(
    "What it does, in order",
    {
      id: text("Its id", "format"),
      name: text("Its name", "Format"),
      description: prose("What to do", "Run the formatter."),
      depends_on: texts("Ids of operations before it", "[plan]"),
      condition: text("When to do it", "changed_files > 0"),
      command: text("A command", "bunx biome format --write"),
      retry: block(
        "How often to try again, or a number",
        {
          max_attempts: integer("How often", 2),
          backoff_ms: integer("Milliseconds in between", 1_000),
        },
        { or: ["integer"] },
      ),
      rollback_on_failure: flag("Undo its changes if it fails"),
    },
    { main: "description", isRequired: true },
  ),
  outputs: entries("What it hands back", values("result", { format: text("Its format", "markdown") }), {
    main: "name",
  }),
};

const STEP: Keys = {
  id: text("Its id", "read"),
  action: prose("What to do", "Read the change."),
  name: prose("The same as `action`", "Read the change."),
  description: prose("The same as `action`", "Read the change."),
  tool: text("The tool for it", "Read"),
  command: text("A command", "git diff main"),
  condition: prose("When to do it", "there is a change"),
  fallback: prose("What to do if that is not possible", "Ask for the diff."),
  output_variable: text("The name of its result", "diff"),
  timeout: integer(TIMEOUT_MS, 60_000),
};

const THOUGHT: Keys = {
  id: text("Its id", "facts"),
  name: text("Its name", "Facts"),
  question: prose("What to ask", "What has changed?"),
  description: prose("The same as `question`", "What has changed?"),
  instruction: prose("The same as `question`", "List what has changed."),
  output: prose("Its result", "A list of changes"),
};

const PROCESS: Keys = {
  description: prose("The procedure in short", "Read, then judge."),
  phases: entries(
    "What it does, in order",
    {
      id: text("Its id", "read"),
      name: text("Its name", "Read the change"),
      description: prose("What it is about", "Know what has changed."),
      instructions: prose("What to do", "Read every file."),
      steps: entries("Its steps", STEP, { main: "action" }),
    },
    { main: "name" },
  ),
  reasoning_scaffolding: block("How to think", {
    description: prose("In short", "Look at it three times."),
    steps: entries("One after the other", THOUGHT, { main: "name" }),
    passes: entries("Again and again", THOUGHT, { main: "name" }),
  }),
  pre_decision_checklist: proses("What to check before deciding", "[Every finding names a line.]"),
};

const EDGE_CASE: Keys = {
  id: text("Its id", "empty-diff"),
  name: text("Its name", "Empty diff"),
  condition: prose("When it applies", "nothing has changed"),
  behavior: proses("What to do, in order", "[Say so., Stop.]"),
  severity: text("How bad it is", "low"),
  score_adjustment: block(
    "How the score changes: points, a text, or a map",
    {
      fixed_score: number("The score", 100),
      exclude_categories: texts("Categories to leave out", "[tests]"),
      rescale: flag("Rescale the others to the full score"),
      points: number("Points to add", -10),
    },
    { or: ["number", "prose"] },
  ),
  report_wording: text("Exact words for the report", "Nothing to review."),
  decision_override: text("A key of `vocabulary`", "positive"),
};

/** Blocks below `agent`, in the order of the rendered text. */
export const AGENT_WORK: Keys = {
  knowledge_base: block("What it knows before it begins", KNOWLEDGE),
  scoring: block("How it gives points", SCORING),
  deductions: block("Severities and the points they cost", {
    severity_scale: entries("From worst to least", SEVERITY, { main: "level" }),
  }),
  auto_fail: block("What fails at once", AUTO_FAIL),
  tasks: block("What it is given, does and hands back", TASKS),
  process: block("How it proceeds", PROCESS),
  decisions: block("From a score to a word", DECISIONS),
  completion: block("How it ends", {
    vocabulary: names(text("", ""), "The words to end with", "{complete: DONE, partial: PARTIAL}"),
    criteria: entries(
      "When to choose a word",
      {
        decision: text("A key of `vocabulary`", "complete"),
        condition: text("When", "all files are formatted"),
        label: text("What it means", "Finished"),
      },
      { main: "condition" },
    ),
  }),
  rollback: block("How failed work is undone", {
    enabled: flag("False: the block does not apply"),
    strategy: word("How", ["git_restore", "git_stash", "backup_restore", "manual", "none"], { or: ["text"] }),
    preserve_logs: flag("Keep the logs"),
  }),
  edge_cases: entries("Situations with rules of their own", EDGE_CASE, { main: "condition" }),
};
