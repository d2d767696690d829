/** The keys of workflows. */
import { checks, detectors, GATE, interfaceKeys, META, outcome, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flagKey,
  free,
  integerKey,
  type Key,
  type Keys,
  list,
  model,
  names,
  numberKey,
  proseKey,
  reference,
  textKey,
  textsKey,
  wordKey,
} from "./keys.ts";

function step(type: "agent" | "command"): Key {
  const example = `my-${type}@^1.0.0`;
  return reference(type, { meaning: `The ${type} to run`, example });
}

const PHASE: Keys = {
  id: textKey("Its id", "review"),
  name: textKey("Its name", "Review the change"),
  description: proseKey("What it is about", "Find out whether the change can be merged."),
  steps: entries(
    "What runs, one after the other: each names a command or an agent",
    {
      command: step("command"),
      agent: step("agent"),
    },
    { main: "step", isOpen: true },
  ),
  commands: list(
    reference("command", { meaning: "", example: "" }),
    "Commands, an older form of `steps`",
    "[my-command@^1.0.0]",
  ),
  depends_on: textsKey("Ids of phases before it", "[plan]"),
  condition: textKey("When to run it", "context.has_tests"),
  skip_if: textKey("When to skip it", "flags.quick"),
  gate: block("The score that it needs", GATE),
  type: wordKey("What kind of phase it is", ["validate", "execute", "mixed"], { or: ["text"] }),
  group: textKey("A group of phases, 1 to 100", 1),
  barrier: flagKey("Nothing later starts before it has ended"),
  inputs: names(free("", ""), "Values for its steps", "{to_ref: HEAD}"),
  timeout: integerKey(TIMEOUT_MS, 600_000),
  focus: textsKey("What to look at", "[tests]"),
};

const ARGUMENTS: Keys = {
  positional: entries(
    "Arguments by position",
    {
      name: textKey("Its name", "target"),
      type: textKey("Its type", "string"),
      description: textKey("What it is", "The branch to check"),
      required: flagKey("It cannot be left out"),
      default: free("The value if it is left out", "main"),
    },
    { main: "name" },
  ),
  flags: entries(
    "Arguments by name",
    {
      name: textKey("Its name", "strict"),
      short: textKey("One letter", "s"),
      description: textKey("What it does", "Fail on warnings"),
      type: wordKey("Its type", ["boolean", "string", "number", "array"], { or: ["text"] }),
      required: flagKey("It cannot be left out"),
      default: free("The value if it is left out", "false"),
    },
    { main: "name" },
  ),
  derived: entries(
    "Values that follow from them",
    { name: textKey("Its name", "range"), source: textKey("How", "git merge-base main HEAD") },
    { main: "name" },
  ),
  examples: entries(
    "Examples",
    {
      command: textKey("What the user types", "/checks main"),
      behavior: proseKey("What happens", "Checks the branch main"),
      description: proseKey("The same as `behavior`", "Checks the branch main"),
    },
    { main: "command" },
  ),
};

const VARIABLE: Keys = {
  name: textKey("Its name", "base"),
  source: textKey("Where it comes from", "git merge-base main HEAD"),
  default: free("The value if that is unknown", "main"),
};

const ORCHESTRATION: Keys = {
  phases: entries("The phases", PHASE, { main: "name", label: "phase", isRequired: true }),
  execution_mode: block("Whether phases run together", {
    prompt: flagKey("Ask the user"),
    default: wordKey("Otherwise", ["sequential", "parallel"], { or: ["text"] }),
    parallel_groups: entries(
      "Phases that run together",
      {
        number: textKey("Number of the group", 1),
        id: textKey("The same as `number`", "checks"),
        name: textKey("The same as `number`", "Checks"),
        mode: textKey("How the group runs", "parallel"),
        phases: textsKey("Ids of its phases", "[review, tests]"),
      },
      { main: "number" },
    ),
  }),
  on_failure: wordKey("What to do if a phase fails", ["stop", "continue", "abort"], { or: ["text"] }),
  max_parallel: integerKey("Phases at a time, 1 to 10", 3),
  timeout: integerKey("Time limit for all phases in milliseconds", 1_800_000),
};

const EXTRACTION: Keys = {
  id: textKey("Its id", "base"),
  type: wordKey("Where the value comes from", ["command", "env_var", "json_field", "yaml_field"], {
    or: ["text"],
  }),
  command: textKey("The command, for `command`", "git rev-parse HEAD"),
  name: textKey("The variable, for `env_var`", "CI"),
  env: textKey("The same as `name`", "CI"),
  path: textKey("The file, for fields", "package.json"),
  field: textKey("The field", "version"),
  store_as: textKey("The name of the value", "base"),
};

/** Everything below `workflow`. */
export const WORKFLOW_KEYS: Keys = {
  interface: block(
    "What identifies the workflow",
    {
      ...interfaceKeys("workflow"),
      duration: textKey("How long it usually takes", "10 minutes"),
      model: model("A model: `haiku`, `sonnet`, `opus`, or one of the catalog", "sonnet"),
    },
    { isRequired: true },
  ),
  arguments: block("What the caller gives", ARGUMENTS),
  preflight: block(
    "Before it starts; or the list of checks",
    {
      checks: checks("What has to hold"),
      extraction: entries("Values to find out", EXTRACTION, { main: "id" }),
    },
    { or: ["list"], main: "checks" },
  ),
  context: block("What to find out first", {
    detectors: detectors("Conditions, used in expressions as `context.<id>`"),
    variables: entries("Variables", VARIABLE, { main: "name" }),
  }),
  orchestration: block("The phases and their order", ORCHESTRATION, { isRequired: true }),
  aggregation: block("How phases become one result", {
    score: block("The score", {
      method: wordKey("How", ["weighted_average", "average", "min", "max"], { or: ["text"] }),
      weights: names(numberKey("", ""), "Weights of phases by id, 0 to 1", "{review: 0.6, tests: 0.4}"),
      skip_missing: flagKey("Skipped phases do not count"),
    }),
    decision: names(textKey("", ""), "Words and their conditions", '{PASS: "score >= 80"}'),
  }),
  outputs: block("What is written", {
    artifacts: entries(
      "Files",
      {
        id: textKey("Its id", "report"),
        name: textKey("The same as `id`", "report"),
        type: wordKey("Its type", ["markdown", "json", "yaml", "html"], { or: ["text"] }),
        path: textKey("Where", "reports/checks.md"),
      },
      { main: "path" },
    ),
    variables: entries("Variables", { name: VARIABLE["name"], source: VARIABLE["source"] } as Keys, {
      main: "name",
    }),
    verification: block("Checks of what was written", { post_save: checks("When everything is saved") }),
    tracking: block("Whether the result is saved", {
      enabled: flagKey("Save the result"),
      variant: textKey("By what", "sdk"),
    }),
  }),
  postflight: block(
    "Afterwards; other keys, such as `on_timeout`, are outcomes too",
    {
      on_pass: outcome("If it passes"),
      on_warn: outcome("If it passes with warnings"),
      on_fail: outcome("If it fails"),
    },
    { isOpen: true },
  ),
  meta: META,
};
