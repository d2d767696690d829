/** The keys of commands. */
import { checks, interfaceBlock, META, outcome, TIMEOUT_MS } from "./common_keys.ts";
import { type Keys, key } from "./keys.ts";

/** The last three types are older names of `agent`. */
const COMMAND_TYPES = ["agent", "utility", "custom", "validator", "executor", "fixer"];

const MODEL: Keys = {
  default: key.model("The usual model", "sonnet"),
  allowed: key.list(key.model(), "Models that a user may choose", "[sonnet, opus]"),
};

const EXECUTION: Keys = {
  model: key.block("The model, or a text", MODEL, { or: ["model"] }),
  timeout: key.integer(TIMEOUT_MS, 300_000),
  max_retries: key.integer("How often to try again, 0 to 5", 2),
  retry_delay: key.integer("Milliseconds in between", 1_000),
};

const POSTFLIGHT: Keys = {
  steps: key.entries("Steps afterwards", "action", {
    action: key.openWord("What to do", [
      "persist_to_tracker",
      "verify_saved",
      "present_summary",
      "custom_command",
    ]),
    name: key.prose("What to do, if there is no action", "Publish the report"),
    command: key.text("A command", "bun run report"),
    required: key.flag("False: the step may be left out"),
    on_failure: key.word("What to do if it fails", ["block", "warn", "ignore"]),
    message: key.prose("What to say", "The report is saved."),
  }),
  on_success: outcome("If it succeeds"),
  on_partial: outcome("If it succeeds in part"),
  on_failure: outcome("If it fails"),
};

const BANNER: Keys = { template: key.text("The text", '"Checking {{target}}"') };

const PREFLIGHT: Keys = {
  banner: key.block("What to show first, or a text", BANNER, { or: ["text"] }),
  checks: checks("What has to hold"),
};

/** The keys below `command`. */
export const COMMAND_KEYS: Keys = {
  interface: interfaceBlock("command", {
    commandType: key.word(
      "`agent` calls an agent; `utility` and `custom` have steps of their own",
      COMMAND_TYPES,
    ),
  }),
  invokes: key.block("The agents that it calls", {
    agent: key.reference("agent", "One agent", "my-agent@^1.0.0", { context: "invokes.agent" }),
    agents: key.references("agent", "Several agents", "[my-agent@^1.0.0, helper]", {
      context: "invokes.agent",
    }),
  }),
  execution: key.block("How it runs", EXECUTION),
  arguments: key.block("What the caller types", {
    examples: key.texts("Examples, without the name of the command", "[src, --strict src]"),
  }),
  inputs: key.entries("Its values and where they come from", "name", {
    name: key.text("Its name", "target"),
    source: key.word("Where it comes from", ["arg", "env", "file", "default", "previous"]),
    arg: key.text("Name of the argument, for `arg`", "target"),
    env: key.text("Name of the variable, for `env`", "CI"),
    path: key.text("The file, for `file`", "config.json"),
    from: key.text("The earlier step, for `previous`", "review"),
    default: key.free("The value if there is none", "."),
    value: key.free("The value, for `default`", "strict"),
    description: key.text("What it is", "The folder to check"),
  }),
  preflight: key.block("Before it starts; or the list of checks", PREFLIGHT, {
    or: ["list"],
    main: "checks",
  }),
  overrides: key.block("What differs from the agent's own settings", {
    threshold: key.number("The score that passes, 0 to 100", 85),
    timeout: key.integer(TIMEOUT_MS, 300_000),
    temperature: key.number("From 0 to 1", 0.2),
  }),
  iteration: key.block("How it repeats", {
    max_attempts: key.integer("How often at most", 3),
    exit_threshold: key.number("The score that ends it", 90),
    target_agent: key.reference("agent", "The agent to call in each round", "format-fixer@^1.0.0", {
      context: "iteration.target_agent",
    }),
    fix_patterns: key.flag("Fix the same fault elsewhere too"),
  }),
  postflight: key.openBlock("Afterwards", POSTFLIGHT),
  tracking: key.block("Whether the result is saved", {
    enabled: key.flag("False: nothing is saved"),
    required: key.flag("Save the result before showing it"),
    variant: key.openWord("By what", ["claude-code", "sdk", "custom", "none"]),
    custom: key.text("The command that saves it, for `custom`", "bun run save"),
  }),
  output: key.block("The form of the result", {
    schema: key.text("The name of a schema", "validator-output-v1.1"),
    format: key.word("The form", ["structured", "summary", "minimal"]),
  }),
  meta: META,
};
