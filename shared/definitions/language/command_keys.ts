/** The keys of commands. */
import { checks, interfaceKeys, META, outcome, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flag,
  free,
  integer,
  type Keys,
  list,
  model,
  number,
  prose,
  reference,
  text,
  texts,
  word,
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
  timeout: integer(TIMEOUT_MS, 300_000),
  max_retries: integer("How often to try again, 0 to 5", 2),
  retry_delay: integer("Milliseconds in between", 1_000),
};

const POSTFLIGHT: Keys = {
  steps: entries(
    "Steps afterwards",
    {
      action: word(
        "What to do",
        ["persist_to_tracker", "verify_saved", "present_summary", "custom_command"],
        { or: ["text"] },
      ),
      name: prose("What to do, if there is no action", "Publish the report"),
      command: text("A command", "bun run report"),
      required: flag("False: the step may be left out"),
      on_failure: word("What to do if it fails", ["block", "warn", "ignore"]),
      message: prose("What to say", "The report is saved."),
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
      commandType: word(
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
    examples: texts("Examples, without the name of the command", "[src, --strict src]"),
  }),
  inputs: entries(
    "Its values and where they come from",
    {
      name: text("Its name", "target"),
      source: word("Where it comes from", ["arg", "env", "file", "default", "previous"]),
      arg: text("Name of the argument, for `arg`", "target"),
      env: text("Name of the variable, for `env`", "CI"),
      path: text("The file, for `file`", "config.json"),
      from: text("The earlier step, for `previous`", "review"),
      default: free("The value if there is none", "."),
      value: free("The value, for `default`", "strict"),
      description: text("What it is", "The folder to check"),
    },
    { main: "name" },
  ),
  preflight: block(
    "Before it starts; or the list of checks",
    {
      banner: block(
        "What to show first, or a text",
        { template: text("The text", '"Checking {{target}}"') },
        { or: ["text"] },
      ),
      checks: checks("What has to hold"),
    },
    { or: ["list"], main: "checks" },
  ),
  overrides: block("What differs from the agent's own settings", {
    threshold: number("The score that passes, 0 to 100", 85),
    timeout: integer(TIMEOUT_MS, 300_000),
    temperature: number("From 0 to 1", 0.2),
  }),
  iteration: block("How it repeats", {
    max_attempts: integer("How often at most", 3),
    exit_threshold: number("The score that ends it", 90),
    target_agent: reference("agent", {
      meaning: "The agent to call in each round",
      example: "format-fixer@^1.0.0",
      context: "iteration.target_agent",
    }),
    fix_patterns: flag("Fix the same fault elsewhere too"),
  }),
  postflight: block("Afterwards", POSTFLIGHT, { isOpen: true }),
  tracking: block("Whether the result is saved", {
    enabled: flag("False: nothing is saved"),
    required: flag("Save the result before showing it"),
    variant: word("By what", ["claude-code", "sdk", "custom", "none"], { or: ["text"] }),
    custom: text("The command that saves it, for `custom`", "bun run save"),
  }),
  output: block("The form of the result", {
    schema: text("The name of a schema", "validator-output-v1.1"),
    format: word("The form", ["structured", "summary", "minimal"]),
  }),
  meta: META,
};
