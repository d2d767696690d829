/** The keys of an agent's knowledge, judgment and work. */
import { TIMEOUT_MS } from "./common_keys.ts";
import { type Key, type Keys, key } from "./keys.ts";

function samples(meaning: string): Key {
  return key.entries(meaning, "description", {
    description: key.prose("What it shows", "A query that is built from input"),
    name: key.prose("The same as `description`", "Built query"),
    severity: key.text("How bad it is", "critical"),
    language: key.text("The language of the code", "ts"),
    "code, example": key.text("The code", "db.query(input)"),
    "why, explanation": key.prose("Why", "Input becomes SQL."),
  });
}

const KNOWLEDGE: Keys = {
  key_definitions: key.names(key.text(), "Terms and their meanings", "{sink: Where input is used}"),
  global_references: key.proses("Standards to follow", "[OWASP ASVS 4.0]"),
  sections: key.entries("What to look for, by category", "what_to_check", {
    category_ref: key.text("Id of a category of `scoring`", "tests"),
    what_to_check: key.proses("What has to hold", "[Every branch has a test.]"),
    detection_patterns: key.entries("Patterns that give a problem away", "pattern", {
      "pattern, regex": key.text("The pattern", "eval\\("),
      severity: key.text("How bad it is", "high"),
      "description, name": key.prose("What it finds", "Code from text"),
    }),
    red_flags: samples("Wrong code"),
    safe_patterns: samples("Right code"),
    common_mistakes: key.entries("Mistakes, and what to do instead", "mistake", {
      "mistake, description": key.prose("The mistake", "Trusting a file name"),
      "why_wrong, why": key.prose("Why it is one", "It may hold a path."),
      "correct_approach, instead": key.prose("What to do instead", "Keep the base name only."),
    }),
    references: key.proses("Further reading", "[CWE-89]"),
  }),
  domain_taxonomy: key.free("Names and meanings, or a list of records", "{flaky: Fails now and then}"),
  failure_code_examples: key.free("Failure codes and meanings, or a list of records", "{T-01: Missing test}"),
};

const FAILURE_CODE: Keys = {
  "failure_mode, code": key.text("The code", "T-01"),
  "default_severity, severity": key.text("Its usual severity", "high"),
};

const VERIFICATION: Keys = {
  method: key.text("The kind of check", "automated"),
  command: key.text("A command that checks it", "bun test"),
  automation: key.block("A tool that checks it", {
    tool: key.text("The tool", "bun"),
    command: key.text("The command", "bun test --coverage"),
    threshold: key.text("What it has to reach", "80 %"),
  }),
  guidance: key.prose("How to judge", "Read the test, not its name."),
  description: key.prose("The same as `guidance`", "Read the test."),
};

const CRITERION: Keys = {
  id: key.text("Its id", "has-tests"),
  name: key.text("Its name", "Has tests"),
  points: key.number("Points it gives", 10),
  description: key.prose("When the points are given", "New behavior has a test."),
  failure_taxonomy: key.openBlock("The failure code, or a text", FAILURE_CODE, { or: ["text"] }),
  verification: key.openBlock("How to check it, or a text", VERIFICATION, { or: ["prose"] }),
  guidance: key.prose("How to judge", "Read the test, not its name."),
  partial_scores: key.entries("Points for a part", "condition", {
    "points, score": key.number("Points", 5),
    "condition, description": key.prose("When", "Only the good case is tested."),
  }),
};

const CATEGORY: Keys = {
  id: key.text("Its id", "tests"),
  name: key.text("Its name", "Tests"),
  weight: key.number("Its share of the score", 25),
  description: key.prose("What belongs to it", "Whether new behavior is tested"),
  criteria: key.entries("What gives points; they add up to the weight", "name", CRITERION),
};

const SCORING: Keys = {
  maxScore: key.number("The highest score", 100),
  categories: key.entries("What is judged; weights add up to 100", "name", CATEGORY, { isRequired: true }),
  calibration_examples: key.entries("Examples with their scores", "description", {
    "score, expected_score": key.text("The score", 85),
    description: key.prose("The example", "A good change without a migration test"),
    scenario: key.prose("The same as `description`", "A good change"),
    example: key.prose("The same as `description`", "A good change"),
    name: key.prose("The same as `description`", "A good change"),
    "reasoning, why, rationale": key.prose("Why", "One criterion is missing."),
  }),
  interpretation: key.prose("How to read the score", "Below 70, the change needs work."),
  weight_rationale: key.prose("Why the weights are as they are", "Tests fail first."),
};

const DECISIONS: Keys = {
  vocabulary: key.names(key.text(), "The words to decide with", "{positive: MERGE, negative: HOLD}"),
  thresholds: key.entries("Words and their scores, instead of `preset`", "decision", {
    decision: key.text("A key of `vocabulary`", "positive"),
    min_score: key.number("The lowest score", 80),
    max_score: key.number("The highest score", 100),
    "label, description": key.text("What it means", "Merge it"),
  }),
  preset: key.word("Common thresholds", ["low_risk", "quality_gate", "high_stakes", "security", "critical"]),
  tracking: key.block("How the decision is used", {
    category: key.word("What it decides about", ["gate", "safety", "advisory"]),
    notify_on: key.texts("Decisions that people are notified of", "[negative]"),
  }),
  criteria: key.entries("When to choose a word", "condition", {
    decision: key.text("A key of `vocabulary`", "negative"),
    "condition, description": key.prose("When", "a test fails"),
    label: key.prose("What it means", "Hold it"),
  }),
  guidance: key.proses("How to decide in doubt", "[In doubt, hold.]"),
};

const DETECTION: Keys = {
  method: key.openWord("By what", ["pattern", "semantic", "tool"]),
  description: key.prose("How", "A key in a changed line"),
  patterns: key.texts("Patterns", '["AKIA[0-9A-Z]{16}"]'),
  pattern: key.text("One pattern", "AKIA[0-9A-Z]{16}"),
  command: key.text("A command that finds it", "gitleaks detect"),
};

const AUTO_FAIL: Keys = {
  enabled: key.flag("False: the block does not apply"),
  conditions: key.entries("What fails the whole, whatever the score", "name", {
    id: key.text("Its id", "secret-in-code"),
    display_id: key.text("The id that people read", "AF-001"),
    "name, description, condition": key.prose("Its name", "A secret is committed"),
    severity: key.text("Always critical", "critical"),
    detection: key.block("How it is found, or a text", DETECTION, { or: ["prose"] }),
    category_override: key.text("The category it counts against", "security"),
    remediation: key.prose("What to do", "Revoke the key."),
  }),
};

const SEVERITY: Keys = {
  level: key.text("Its name", "critical"),
  points: key.text("Points, or `auto_fail`", -10),
  emoji: key.text("A sign", "\u{1F534}"),
  label: key.text("What it means", "Blocks the release"),
  action: key.text("What to do", "Fix it now."),
};

function values(meaning: string, noun: string, more: Keys): Key {
  return key.entries(meaning, "name", {
    id: key.text("Its id", "target"),
    name: key.text("Its name, or what it is", "Folder to format"),
    type: key.text("Its type", "path"),
    "itemType, item_type": key.text("The type of its items", "path"),
    values: key.texts("The values it can have", "[users, operators]"),
    required: key.flag(`The ${noun} cannot be left out`),
    description: key.text("What it is", "The folder that is formatted."),
    ...more,
  });
}

const RETRY: Keys = {
  max_attempts: key.integer("How often", 2),
  backoff_ms: key.integer("Milliseconds in between", 1_000),
};

const OPERATION: Keys = {
  id: key.text("Its id", "format"),
  name: key.text("Its name", "Format"),
  description: key.prose("What to do", "Run the formatter."),
  depends_on: key.texts("Ids of operations before it", "[plan]"),
  condition: key.text("When to do it", "changed_files > 0"),
  command: key.text("A command", "bunx biome format --write"),
  retry: key.block("How often to try again, or a number", RETRY, { or: ["integer"] }),
  rollback_on_failure: key.flag("Undo its changes if it fails"),
};

const TASKS: Keys = {
  inputs: values("What it is given", "input", {
    default: key.free("The value if it is left out", "."),
    source: key.text("Where it comes from", "caller"),
  }),
  operations: key.entries("What it does, in order", "description", OPERATION, { isRequired: true }),
  outputs: values("What it hands back", "result", { format: key.text("Its format", "markdown") }),
};

const STEP: Keys = {
  id: key.text("Its id", "read"),
  "action, name, description": key.prose("What to do", "Read the change."),
  tool: key.text("The tool for it", "Read"),
  command: key.text("A command", "git diff main"),
  condition: key.prose("When to do it", "there is a change"),
  fallback: key.prose("What to do if that is not possible", "Ask for the diff."),
  output_variable: key.text("The name of its result", "diff"),
  timeout: key.integer(TIMEOUT_MS, 60_000),
};

const THOUGHT: Keys = {
  id: key.text("Its id", "facts"),
  name: key.text("Its name", "Facts"),
  "question, description": key.prose("What to ask", "What has changed?"),
  instruction: key.prose("The same as `question`", "List what has changed."),
  output: key.prose("Its result", "A list of changes"),
};

const PROCESS: Keys = {
  description: key.prose("The procedure in short", "Read, then judge."),
  phases: key.entries("What it does, in order", "name", {
    id: key.text("Its id", "read"),
    name: key.text("Its name", "Read the change"),
    description: key.prose("What it is about", "Know what has changed."),
    instructions: key.prose("What to do", "Read every file."),
    steps: key.entries("Its steps", "action", STEP),
  }),
  reasoning_scaffolding: key.block("How to think", {
    description: key.prose("In short", "Look at it three times."),
    steps: key.entries("One after the other", "name", THOUGHT),
    passes: key.entries("Again and again", "name", THOUGHT),
  }),
  pre_decision_checklist: key.proses("What to check before deciding", "[Every finding names a line.]"),
};

const SCORE_ADJUSTMENT: Keys = {
  fixed_score: key.number("The score", 100),
  exclude_categories: key.texts("Categories to leave out", "[tests]"),
  rescale: key.flag("Rescale the others to the full score"),
  points: key.number("Points to add", -10),
};

const EDGE_CASE: Keys = {
  id: key.text("Its id", "empty-diff"),
  name: key.text("Its name", "Empty diff"),
  condition: key.prose("When it applies", "nothing has changed"),
  behavior: key.proses("What to do, in order", "[Say so., Stop.]"),
  severity: key.text("How bad it is", "low"),
  score_adjustment: key.block("How the score changes: points, a text, or a map", SCORE_ADJUSTMENT, {
    or: ["number", "prose"],
  }),
  report_wording: key.text("Exact words for the report", "Nothing to review."),
  decision_override: key.text("A key of `vocabulary`", "positive"),
};

/** The blocks below `agent`, in the order of the rendered text. */
export const AGENT_WORK: Keys = {
  knowledge_base: key.block("What it knows before it begins", KNOWLEDGE),
  scoring: key.block("How it gives points", SCORING),
  deductions: key.block("Severities and the points they cost", {
    severity_scale: key.entries("From worst to least", "level", SEVERITY),
  }),
  auto_fail: key.block("What fails at once", AUTO_FAIL),
  tasks: key.block("What it is given, does and hands back", TASKS),
  process: key.block("How it proceeds", PROCESS),
  decisions: key.block("From a score to a word", DECISIONS),
  completion: key.block("How it ends", {
    vocabulary: key.names(key.text(), "The words to end with", "{complete: DONE, partial: PARTIAL}"),
    criteria: key.entries("When to choose a word", "condition", {
      decision: key.text("A key of `vocabulary`", "complete"),
      condition: key.text("When", "all files are formatted"),
      label: key.text("What it means", "Finished"),
    }),
  }),
  rollback: key.block("How failed work is undone", {
    enabled: key.flag("False: the block does not apply"),
    strategy: key.openWord("How", ["git_restore", "git_stash", "backup_restore", "manual", "none"]),
    preserve_logs: key.flag("Keep the logs"),
  }),
  edge_cases: key.entries("Situations with rules of their own", "condition", EDGE_CASE),
};
