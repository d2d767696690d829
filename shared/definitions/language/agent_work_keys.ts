/** The keys of an agent's knowledge, judgment and work. */
import { TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flagKey,
  free,
  integerKey,
  type Key,
  type Keys,
  names,
  numberKey,
  proseKey,
  prosesKey,
  textKey,
  textsKey,
  wordKey,
} from "./keys.ts";

function samples(meaning: string): Key {
  return entries(
    meaning,
    {
      description: proseKey("What it shows", "A query that is built from input"),
      name: proseKey("The same as `description`", "Built query"),
      severity: textKey("How bad it is", "critical"),
      language: textKey("The language of the code", "ts"),
      code: textKey("The code", "db.query(input)"),
      example: textKey("The same as `code`", "db.query(input)"),
      why: proseKey("Why", "Input becomes SQL."),
      explanation: proseKey("The same as `why`", "Input becomes SQL."),
    },
    { main: "description" },
  );
}

const KNOWLEDGE: Keys = {
  key_definitions: names(textKey("", ""), "Terms and their meanings", "{sink: Where input is used}"),
  global_references: prosesKey("Standards to follow", "[OWASP ASVS 4.0]"),
  sections: entries(
    "What to look for, by category",
    {
      category_ref: textKey("Id of a category of `scoring`", "tests"),
      what_to_check: prosesKey("What has to hold", "[Every branch has a test.]"),
      detection_patterns: entries(
        "Patterns that give a problem away",
        {
          pattern: textKey("The pattern", "eval\\("),
          regex: textKey("The same as `pattern`", "eval\\("),
          severity: textKey("How bad it is", "high"),
          description: proseKey("What it finds", "Code from text"),
          name: proseKey("The same as `description`", "Code from text"),
        },
        { main: "pattern" },
      ),
      red_flags: samples("Wrong code"),
      safe_patterns: samples("Right code"),
      common_mistakes: entries(
        "Mistakes, and what to do instead",
        {
          mistake: proseKey("The mistake", "Trusting a file name"),
          description: proseKey("The same as `mistake`", "Trusting a file name"),
          why_wrong: proseKey("Why it is one", "It may hold a path."),
          why: proseKey("The same as `why_wrong`", "It may hold a path."),
          correct_approach: proseKey("What to do instead", "Keep the base name only."),
          instead: proseKey("The same as `correct_approach`", "Keep the base name only."),
        },
        { main: "mistake" },
      ),
      references: prosesKey("Further reading", "[CWE-89]"),
    },
    { main: "what_to_check" },
  ),
  domain_taxonomy: free("Names and meanings, or a list of records", "{flaky: Fails now and then}"),
  failure_code_examples: free("Failure codes and meanings, or a list of records", "{T-01: Missing test}"),
};

const CRITERION: Keys = {
  id: textKey("Its id", "has-tests"),
  name: textKey("Its name", "Has tests"),
  points: numberKey("Points it gives", 10),
  description: proseKey("When the points are given", "New behavior has a test."),
  failure_taxonomy: block(
    "The failure code, or a text",
    {
      failure_mode: textKey("The code", "T-01"),
      code: textKey("The same as `failure_mode`", "T-01"),
      default_severity: textKey("Its usual severity", "high"),
      severity: textKey("The same as `default_severity`", "high"),
    },
    { or: ["text"], isOpen: true },
  ),
  verification: block(
    "How to check it, or a text",
    {
      method: textKey("The kind of check", "automated"),
      command: textKey("A command that checks it", "bun test"),
      automation: block("A tool that checks it", {
        tool: textKey("The tool", "bun"),
        command: textKey("The command", "bun test --coverage"),
        threshold: textKey("What it has to reach", "80 %"),
      }),
      guidance: proseKey("How to judge", "Read the test, not its name."),
      description: proseKey("The same as `guidance`", "Read the test."),
    },
    { or: ["prose"], isOpen: true },
  ),
  guidance: proseKey("How to judge", "Read the test, not its name."),
  partial_scores: entries(
    "Points for a part",
    {
      points: numberKey("Points", 5),
      score: numberKey("The same as `points`", 5),
      condition: proseKey("When", "Only the good case is tested."),
      description: proseKey("The same as `condition`", "Only the good case is tested."),
    },
    { main: "condition" },
  ),
};

const SCORING: Keys = {
  maxScore: numberKey("The highest score", 100),
  categories: entries(
    "What is judged; weights add up to 100",
    {
      id: textKey("Its id", "tests"),
      name: textKey("Its name", "Tests"),
      weight: numberKey("Its share of the score", 25),
      description: proseKey("What belongs to it", "Whether new behavior is tested"),
      criteria: entries("What gives points; they add up to the weight", CRITERION, { main: "name" }),
    },
    { main: "name", isRequired: true },
  ),
  calibration_examples: entries(
    "Examples with their scores",
    {
      score: textKey("The score", 85),
      expected_score: textKey("The same as `score`", 85),
      description: proseKey("The example", "A good change without a migration test"),
      scenario: proseKey("The same as `description`", "A good change"),
      example: proseKey("The same as `description`", "A good change"),
      name: proseKey("The same as `description`", "A good change"),
      reasoning: proseKey("Why", "One criterion is missing."),
      why: proseKey("The same as `reasoning`", "One criterion is missing."),
      rationale: proseKey("The same as `reasoning`", "One criterion is missing."),
    },
    { main: "description" },
  ),
  interpretation: proseKey("How to read the score", "Below 70, the change needs work."),
  weight_rationale: proseKey("Why the weights are as they are", "Tests fail first."),
};

const DECISIONS: Keys = {
  vocabulary: names(textKey("", ""), "The words to decide with", "{positive: MERGE, negative: HOLD}"),
  thresholds: entries(
    "Words and their scores, instead of `preset`",
    {
      decision: textKey("A key of `vocabulary`", "positive"),
      min_score: numberKey("The lowest score", 80),
      max_score: numberKey("The highest score", 100),
      label: textKey("What it means", "Merge it"),
      description: textKey("The same as `label`", "Merge it"),
    },
    { main: "decision" },
  ),
  preset: wordKey("Common thresholds", ["low_risk", "quality_gate", "high_stakes", "security", "critical"]),
  tracking: block("How the decision is used", {
    category: wordKey("What it decides about", ["gate", "safety", "advisory"]),
    notify_on: textsKey("Decisions that people are notified of", "[negative]"),
  }),
  criteria: entries(
    "When to choose a word",
    {
      decision: textKey("A key of `vocabulary`", "negative"),
      condition: proseKey("When", "a test fails"),
      description: proseKey("The same as `condition`", "a test fails"),
      label: proseKey("What it means", "Hold it"),
    },
    { main: "condition" },
  ),
  guidance: prosesKey("How to decide in doubt", "[In doubt, hold.]"),
};

const AUTO_FAIL: Keys = {
  enabled: flagKey("False: the block does not apply"),
  conditions: entries(
    "What fails the whole, whatever the score",
    {
      id: textKey("Its id", "secret-in-code"),
      display_id: textKey("The id that people read", "AF-001"),
      name: proseKey("Its name", "A secret is committed"),
      description: proseKey("The same as `name`", "A secret is committed"),
      condition: proseKey("The same as `name`", "A secret is committed"),
      severity: textKey("Always critical", "critical"),
      detection: block(
        "How it is found, or a text",
        {
          method: wordKey("By what", ["pattern", "semantic", "tool"], { or: ["text"] }),
          description: proseKey("How", "A key in a changed line"),
          patterns: textsKey("Patterns", '["AKIA[0-9A-Z]{16}"]'),
          pattern: textKey("One pattern", "AKIA[0-9A-Z]{16}"),
          command: textKey("A command that finds it", "gitleaks detect"),
        },
        { or: ["prose"] },
      ),
      category_override: textKey("The category it counts against", "security"),
      remediation: proseKey("What to do", "Revoke the key."),
    },
    { main: "name" },
  ),
};

const SEVERITY: Keys = {
  level: textKey("Its name", "critical"),
  points: textKey("Points, or `auto_fail`", -10),
  emoji: textKey("A sign", "\u{1F534}"),
  label: textKey("What it means", "Blocks the release"),
  action: textKey("What to do", "Fix it now."),
};

function values(noun: string, more: Keys): Keys {
  return {
    id: textKey("Its id", "target"),
    name: textKey("Its name, or what it is", "Folder to format"),
    type: textKey("Its type", "path"),
    itemType: textKey("The type of its items", "path"),
    item_type: textKey("The same as `itemType`", "path"),
    values: textsKey("The values it can have", "[users, operators]"),
    required: flagKey(`The ${noun} cannot be left out`),
    description: textKey("What it is", "The folder that is formatted."),
    ...more,
  };
}

const TASKS: Keys = {
  inputs: entries(
    "What it is given",
    values("input", {
      default: free("The value if it is left out", "."),
      source: textKey("Where it comes from", "caller"),
    }),
    { main: "name" },
  ),
  operations: entries(
    "What it does, in order",
    {
      id: textKey("Its id", "format"),
      name: textKey("Its name", "Format"),
      description: proseKey("What to do", "Run the formatter."),
      depends_on: textsKey("Ids of operations before it", "[plan]"),
      condition: textKey("When to do it", "changed_files > 0"),
      command: textKey("A command", "bunx biome format --write"),
      retry: block(
        "How often to try again, or a number",
        {
          max_attempts: integerKey("How often", 2),
          backoff_ms: integerKey("Milliseconds in between", 1_000),
        },
        { or: ["integer"] },
      ),
      rollback_on_failure: flagKey("Undo its changes if it fails"),
    },
    { main: "description", isRequired: true },
  ),
  outputs: entries("What it hands back", values("result", { format: textKey("Its format", "markdown") }), {
    main: "name",
  }),
};

const STEP: Keys = {
  id: textKey("Its id", "read"),
  action: proseKey("What to do", "Read the change."),
  name: proseKey("The same as `action`", "Read the change."),
  description: proseKey("The same as `action`", "Read the change."),
  tool: textKey("The tool for it", "Read"),
  command: textKey("A command", "git diff main"),
  condition: proseKey("When to do it", "there is a change"),
  fallback: proseKey("What to do if that is not possible", "Ask for the diff."),
  output_variable: textKey("The name of its result", "diff"),
  timeout: integerKey(TIMEOUT_MS, 60_000),
};

const THOUGHT: Keys = {
  id: textKey("Its id", "facts"),
  name: textKey("Its name", "Facts"),
  question: proseKey("What to ask", "What has changed?"),
  description: proseKey("The same as `question`", "What has changed?"),
  instruction: proseKey("The same as `question`", "List what has changed."),
  output: proseKey("Its result", "A list of changes"),
};

const PROCESS: Keys = {
  description: proseKey("The procedure in short", "Read, then judge."),
  phases: entries(
    "What it does, in order",
    {
      id: textKey("Its id", "read"),
      name: textKey("Its name", "Read the change"),
      description: proseKey("What it is about", "Know what has changed."),
      instructions: proseKey("What to do", "Read every file."),
      steps: entries("Its steps", STEP, { main: "action" }),
    },
    { main: "name" },
  ),
  reasoning_scaffolding: block("How to think", {
    description: proseKey("In short", "Look at it three times."),
    steps: entries("One after the other", THOUGHT, { main: "name" }),
    passes: entries("Again and again", THOUGHT, { main: "name" }),
  }),
  pre_decision_checklist: prosesKey("What to check before deciding", "[Every finding names a line.]"),
};

const EDGE_CASE: Keys = {
  id: textKey("Its id", "empty-diff"),
  name: textKey("Its name", "Empty diff"),
  condition: proseKey("When it applies", "nothing has changed"),
  behavior: prosesKey("What to do, in order", "[Say so., Stop.]"),
  severity: textKey("How bad it is", "low"),
  score_adjustment: block(
    "How the score changes: points, a text, or a map",
    {
      fixed_score: numberKey("The score", 100),
      exclude_categories: textsKey("Categories to leave out", "[tests]"),
      rescale: flagKey("Rescale the others to the full score"),
      points: numberKey("Points to add", -10),
    },
    { or: ["number", "prose"] },
  ),
  report_wording: textKey("Exact words for the report", "Nothing to review."),
  decision_override: textKey("A key of `vocabulary`", "positive"),
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
    vocabulary: names(textKey("", ""), "The words to end with", "{complete: DONE, partial: PARTIAL}"),
    criteria: entries(
      "When to choose a word",
      {
        decision: textKey("A key of `vocabulary`", "complete"),
        condition: textKey("When", "all files are formatted"),
        label: textKey("What it means", "Finished"),
      },
      { main: "condition" },
    ),
  }),
  rollback: block("How failed work is undone", {
    enabled: flagKey("False: the block does not apply"),
    strategy: wordKey("How", ["git_restore", "git_stash", "backup_restore", "manual", "none"], {
      or: ["text"],
    }),
    preserve_logs: flagKey("Keep the logs"),
  }),
  edge_cases: entries("Situations with rules of their own", EDGE_CASE, { main: "condition" }),
};
