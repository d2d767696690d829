/** The keys of workflows. */
import { checks, detectors, GATE, interfaceBlock, META, outcome, TIMEOUT_MS } from "./common_keys.ts";
import { type Key, type Keys, key } from "./keys.ts";

function step(type: "agent" | "command"): Key {
  return key.reference(type, `The ${type} to run`, `my-${type}@^1.0.0`);
}

const PHASE: Keys = {
  id: key.text("Its id", "review"),
  name: key.text("Its name", "Review the change"),
  description: key.prose("What it is about", "Find out whether the change can be merged."),
  steps: key.openEntries("What runs, one after the other: each names a command or an agent", "step", {
    command: step("command"),
    agent: step("agent"),
  }),
  commands: key.references("command", "Commands, an older form of `steps`", "[my-command@^1.0.0]"),
  depends_on: key.texts("Ids of phases before it", "[plan]"),
  condition: key.text("When to run it", "context.has_tests"),
  skip_if: key.text("When to skip it", "flags.quick"),
  gate: key.block("The score that it needs", GATE),
  type: key.openWord("What kind of phase it is", ["validate", "execute", "mixed"]),
  group: key.text("A group of phases, 1 to 100", 1),
  barrier: key.flag("Nothing later starts before it has ended"),
  inputs: key.names(key.free(), "Values for its steps", "{to_ref: HEAD}"),
  timeout: key.integer(TIMEOUT_MS, 600_000),
  focus: key.texts("What to look at", "[tests]"),
};

const ARGUMENTS: Keys = {
  positional: key.entries("Arguments by position", "name", {
    name: key.text("Its name", "target"),
    type: key.text("Its type", "string"),
    description: key.text("What it is", "The branch to check"),
    required: key.flag("It cannot be left out"),
    default: key.free("The value if it is left out", "main"),
  }),
  flags: key.entries("Arguments by name", "name", {
    name: key.text("Its name", "strict"),
    short: key.text("One letter", "s"),
    description: key.text("What it does", "Fail on warnings"),
    type: key.openWord("Its type", ["boolean", "string", "number", "array"]),
    required: key.flag("It cannot be left out"),
    default: key.free("The value if it is left out", "false"),
  }),
  derived: key.entries("Values that follow from them", "name", {
    name: key.text("Its name", "range"),
    source: key.text("How", "git merge-base main HEAD"),
  }),
  examples: key.entries("Examples", "command", {
    command: key.text("What the user types", "/checks main"),
    "behavior, description": key.prose("What happens", "Checks the branch main"),
  }),
};

const VARIABLE: Keys = {
  name: key.text("Its name", "base"),
  source: key.text("Where it comes from", "git merge-base main HEAD"),
};

const ORCHESTRATION: Keys = {
  phases: key.entries("The phases", "name", PHASE, { label: "phase", isRequired: true }),
  execution_mode: key.block("Whether phases run together", {
    prompt: key.flag("Ask the user"),
    default: key.openWord("Otherwise", ["sequential", "parallel"]),
    parallel_groups: key.entries("Phases that run together", "number", {
      number: key.text("Number of the group", 1),
      id: key.text("The same as `number`", "checks"),
      name: key.text("The same as `number`", "Checks"),
      mode: key.text("How the group runs", "parallel"),
      phases: key.texts("Ids of its phases", "[review, tests]"),
    }),
  }),
  on_failure: key.openWord("What to do if a phase fails", ["stop", "continue", "abort"]),
  max_parallel: key.integer("Phases at a time, 1 to 10", 3),
  timeout: key.integer("Time limit for all phases in milliseconds", 1_800_000),
};

const EXTRACTION: Keys = {
  id: key.text("Its id", "base"),
  type: key.openWord("Where the value comes from", ["command", "env_var", "json_field", "yaml_field"]),
  command: key.text("The command, for `command`", "git rev-parse HEAD"),
  "name, env": key.text("The variable, for `env_var`", "CI"),
  path: key.text("The file, for fields", "package.json"),
  field: key.text("The field", "version"),
  store_as: key.text("The name of the value", "base"),
};

const PREFLIGHT: Keys = {
  checks: checks("What has to hold"),
  extraction: key.entries("Values to find out", "id", EXTRACTION),
};

/** The keys below `workflow`. */
export const WORKFLOW_KEYS: Keys = {
  interface: interfaceBlock("workflow", {
    duration: key.text("How long it usually takes", "10 minutes"),
    model: key.model("A model: `haiku`, `sonnet`, `opus`, or one of the catalog", "sonnet"),
  }),
  arguments: key.block("What the caller gives", ARGUMENTS),
  preflight: key.block("Before it starts; or the list of checks", PREFLIGHT, {
    or: ["list"],
    main: "checks",
  }),
  context: key.block("What to find out first", {
    detectors: detectors("Conditions, used in expressions as `context.<id>`"),
    variables: key.entries("Variables", "name", {
      ...VARIABLE,
      default: key.free("The value if that is unknown", "main"),
    }),
  }),
  orchestration: key.block("The phases and their order", ORCHESTRATION, { isRequired: true }),
  aggregation: key.block("How phases become one result", {
    score: key.block("The score", {
      method: key.openWord("How", ["weighted_average", "average", "min", "max"]),
      weights: key.names(key.number(), "Weights of phases by id, 0 to 1", "{review: 0.6, tests: 0.4}"),
      skip_missing: key.flag("Skipped phases do not count"),
    }),
    decision: key.names(key.text(), "Words and their conditions", '{PASS: "score >= 80"}'),
  }),
  outputs: key.block("What is written", {
    artifacts: key.entries("Files", "path", {
      "id, name": key.text("Its id", "report"),
      type: key.openWord("Its type", ["markdown", "json", "yaml", "html"]),
      path: key.text("Where", "reports/checks.md"),
    }),
    variables: key.entries("Variables", "name", VARIABLE),
    verification: key.block("Checks of what was written", { post_save: checks("When everything is saved") }),
    tracking: key.block("Whether the result is saved", {
      enabled: key.flag("Save the result"),
      variant: key.text("By what", "sdk"),
    }),
  }),
  postflight: key.openBlock("Afterwards; other keys, such as `on_timeout`, are outcomes too", {
    on_pass: outcome("If it passes"),
    on_warn: outcome("If it passes with warnings"),
    on_fail: outcome("If it fails"),
  }),
  meta: META,
};
