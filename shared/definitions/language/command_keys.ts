/** The keys of commands. */
import { checks, interfaceKeys, META, outcome, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flagKey,
  free,
  integerKey,
  type Keys,
  list,
  model,
  numberKey,
  proseKey,
  reference,
  textKey,
  textsKey,
  wordKey,
} from "./keys.ts";

/** The last three are from before version 2 and mean `agent`. */
const COMMAND_TYPES = ["agent", "utility", "custom", "validator", "executor", "fixer"];

const EXECUTION: Keys = {
  model: {
    ...block("The model, or a text", {
      default: model("The usual model", "sonnet"),
      allowed: list(model("", ""), "Models that a user may choose", "[sonnet, opus]"),
    }),
    or: ["model"],
  },
  timeout: integerKey(TIMEOUT_MS, 300_000),
  max_retries: integerKey("How often to try again, 0 to 5", 2),
  retry_delay: integerKey("Milliseconds in between", 1_000),
};

const POSTFLIGHT: Keys = {
  steps: entries(
    "Steps afterwards",
    {
      action: wordKey(
        "What to do",
        ["persist_to_tracker", "verify_saved", "present_summary", "custom_command"],
        { or: ["text"] },
      ),
      name: proseKey("What to do, if there is no action", "Publish the report"),
      command: textKey("A command", "bun run report"),
      required: flagKey("False: the step may be left out"),
      on_failure: wordKey("What to do if it fails", ["block", "warn", "ignore"]),
      message: proseKey("What to say", "The report is saved."),
    },
    { main: "action" },
  ),
  on_success: outcome("If it succeeds"),
  on_partial: outcome("If it succeeds in part"),
  on_failure: outcome("If it fails"),
};

/** Everything below `command`. */
export const COMMAND_KEYS: Keys = {
  interface: block(
    "What identifies the command",
    {
      ...interfaceKeys("command"),
      commandType: wordKey(
        "`agent` calls an agent; `utility` and `custom` have steps of their own",
        COMMAND_TYPES,
      ),
    },
    { isRequired: true },
  ),
  invokes: block("The agents that it calls", {
    agent: reference("agent", {
      meaning: "One agent",
      example: "my-agent@^1.0.0",
      context: "invokes.agent",
    }),
    agents: list(
      reference("agent", { meaning: "", example: "", context: "invokes.agent" }),
      "Several agents",
      "[my-agent@^1.0.0, helper]",
    ),
  }),
  execution: block("How it runs", EXECUTION),
  arguments: block("What the caller types", {
    examples: textsKey("Examples, without the name of the command", "[src, --strict src]"),
  }),
  inputs: entries(
    "Its values and where they come from",
    {
      name: textKey("Its name", "target"),
      source: wordKey("Where it comes from", ["arg", "env", "file", "default", "previous"]),
      arg: textKey("Name of the argument, for `arg`", "target"),
      env: textKey("Name of the variable, for `env`", "CI"),
      path: textKey("The file, for `file`", "config.json"),
      from: textKey("The earlier step, for `previous`", "review"),
      default: free("The value if there is none", "."),
      value: free("The value, for `default`", "strict"),
      description: textKey("What it is", "The folder to check"),
    },
    { main: "name" },
  ),
  preflight: block(
    "Before it starts; or the list of checks",
    {
      banner: block(
        "What to show first, or a text",
        { template: textKey("The text", '"Checking {{target}}"') },
        { or: ["text"] },
      ),
      checks: checks("What has to hold"),
    },
    { or: ["list"], main: "checks" },
  ),
  overrides: block("What differs from the agent's own settings", {
    threshold: numberKey("The score that passes, 0 to 100", 85),
    timeout: integerKey(TIMEOUT_MS, 300_000),
    temperature: numberKey("From 0 to 1", 0.2),
  }),
  iteration: block("How it repeats", {
    max_attempts: integerKey("How often at most", 3),
    exit_threshold: numberKey("The score that ends it", 90),
    target_agent: reference("agent", {
      meaning: "The agent to call in each round",
      example: "format-fixer@^1.0.0",
      context: "iteration.target_agent",
    }),
    fix_patterns: flagKey("Fix the same fault elsewhere too"),
  }),
  postflight: block("Afterwards", POSTFLIGHT, { isOpen: true }),
  tracking: block("Whether the result is saved", {
    enabled: flagKey("False: nothing is saved"),
    required: flagKey("Save the result before showing it"),
    variant: wordKey("By what", ["claude-code", "sdk", "custom", "none"], { or: ["text"] }),
    custom: textKey("The command that saves it, for `custom`", "bun run save"),
  }),
  output: block("The form of the result", {
    schema: textKey("The name of a schema", "validator-output-v1.1"),
    format: wordKey("The form", ["structured", "summary", "minimal"]),
  }),
  meta: META,
};
