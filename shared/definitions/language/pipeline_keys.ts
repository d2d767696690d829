/** The keys of pipelines. */
import type { DefinitionType } from "../../vocabulary.ts";
import { scalarText } from "../../yaml/scalars.ts";
import { titleCase } from "../interface_fields.ts";
import { environment, GATE, interfaceBlock, META, TIMEOUT_MS } from "./common_keys.ts";
import { type Key, type Keys, key } from "./keys.ts";

const SHELL_STEP: Keys = {
  id: key.text("Its id", "build"),
  name: key.text("Its name", "Build"),
  description: key.prose("What it does", "Builds the image."),
  "command, run": key.text("The command", "bun run build"),
  working_dir: key.text("Where it runs", "services/api"),
  env: environment("Environment variables"),
  timeout: key.integer(TIMEOUT_MS, 600_000),
  continue_on_error: key.flag("Go on if it fails"),
  always_run: key.flag("Run it even if something before it failed"),
  retries: key.integer("How often to try again", 2),
  retry_delay: key.integer("Milliseconds in between", 1_000),
  expect_empty: key.flag("It has to print nothing"),
  expect_match: key.text("A pattern that its output has to match", "^ok"),
};

function shellSteps(meaning: string): Key {
  return key.entries(meaning, "command", SHELL_STEP);
}

/** Returns a list of references with arguments. An entry that is plain text is a reference without arguments. */
function runs(type: "workflow" | "command" | "agent", more: Keys = {}): Key {
  return key.openEntries(`${titleCase(type)}s to run`, "ref", {
    ref: key.reference(type, `The ${type}`, `my-${type}@^1.0.0`, { isRequired: true }),
    args: key.names(key.free(), "Its arguments", "{target: main}"),
    ...more,
    condition: key.text("When to run it", "branch == 'main'"),
    timeout: key.integer(TIMEOUT_MS, 600_000),
  });
}

const APPROVAL: Keys = {
  required: key.flag("False: no approval is needed; or a condition", { or: ["text"] }),
  approvers: key.texts("Who may approve", '["@platform-team"]'),
  min_approvals: key.integer("How many have to", 2),
  timeout_hours: key.number("How long to wait", 24),
  timeout_behavior: key.word("What to do then", ["reject", "approve", "extend", "pause"]),
  auto_reject_on_change: key.flag("A change made meanwhile counts as a refusal"),
  allow_self_approval: key.flag("People may approve what they started themselves", { example: "false" }),
  skip_for: key.texts("Who needs none", "[hotfix]"),
  notification: key.free("Whom to tell", "{channel: releases}"),
};

const ARTIFACT: Keys = {
  id: key.text("Its id, if it has no name", "image"),
  name: key.text("Its name", "image"),
  path: key.text("Where it is", "dist/image.tar"),
  required: key.flag("It has to exist"),
  retention_days: key.integer("How long it is kept", 30),
};

const STAGE: Keys = {
  id: key.text("Its id", "deploy"),
  name: key.text("Its name", "Deploy"),
  description: key.prose("What it is about", "Brings the release to production."),
  workflows: runs("workflow"),
  commands: runs("command"),
  agents: runs("agent", { model: key.model("Another model", "opus") }),
  ref: key.reference(
    (stage) => typeOf(stage["type"]),
    "One reference, an older form; `type` says to what",
    "my-command@^1.0.0",
  ),
  type: key.word("What `ref` names", ["command", "workflow", "agent"]),
  steps: shellSteps("Shell commands"),
  depends_on: key.texts("Ids of stages before it", "[build]"),
  condition: key.text("When to run it", "branch == 'main'"),
  parallel: key.flag("Run its parts together"),
  sequential: key.flag("Run its parts one after the other"),
  timeout: key.integer(TIMEOUT_MS, 1_800_000),
  gate: key.block("The score that it needs", GATE),
  approval: key.block("Whose agreement it waits for; or true, false, or a condition", APPROVAL, {
    or: ["boolean", "prose"],
  }),
  inputs: key.names(key.free(), "Values for its parts", "{version: 1.2.0}"),
  env: environment("Environment variables"),
  outputs: key.openEntries("What it hands on", "name", {
    id: key.text("The same as `name`", "image"),
    name: key.text("Its name", "image"),
    value: key.text("Its value", "registry/app:1.2.0"),
    source: key.text("The same as `value`", "build.image"),
  }),
  artifacts: key.openEntries("Files to keep", "path", ARTIFACT),
  artifacts_from: key.texts("Stages whose files it uses", "[build]"),
};

/** The type of definition that the `ref` of a stage refers to, by the stage's `type`. Other types refer to a command. */
export const STAGE_TYPES: Readonly<Record<string, DefinitionType>> = {
  command: "command",
  workflow: "workflow",
  agent: "agent",
  agents: "agent",
};

function typeOf(value: unknown): DefinitionType {
  const type = scalarText(value) ?? "";
  return (Object.hasOwn(STAGE_TYPES, type) && STAGE_TYPES[type]) || "command";
}

const TRIGGER: Keys = {
  type: key.word(
    "What starts it",
    ["git_push", "pull_request", "schedule", "webhook", "manual", "pipeline"],
    { isRequired: true },
  ),
  branches: key.texts("Only these branches", "[main]"),
  tags: key.texts("Only these tags", '["v*"]'),
  paths: key.texts("Only changes in these paths", '["src/**"]'),
  actions: key.texts("What happened to the pull request", "[opened, synchronize]"),
  cron: key.text("The schedule", '"0 4 * * *"'),
  timezone: key.text("Its time zone", "Europe/Berlin"),
  skip_if_running: key.flag("Not while an earlier run is going"),
  event: key.text("The event of the webhook", "deployment"),
  secret: key.text("The secret of the webhook, which is not rendered", '"{{secrets.HOOK}}"'),
  payload_filter: key.text("Only if the payload fits", "action == 'created'"),
  allowed: key.flag("False: never by hand"),
  parameters: key.entries("What to ask for", "name", {
    name: key.text("Its name", "target"),
    type: key.openWord("Its type", ["string", "boolean", "number"]),
    required: key.flag("It cannot be left out"),
    default: key.free("The value if it is left out", "main"),
    options: key.texts("The values it can have", "[staging, production]"),
    pattern: key.text("A pattern that it has to match", "^v\\\\d+"),
    description: key.prose("What it is", "Where to deploy"),
  }),
  pipeline: key.reference(
    (trigger) => (trigger["type"] === "pipeline" ? "pipeline" : null),
    "The pipeline that has to have run; no dependency",
    "release-train@^1.0.0",
    { context: "trigger", inTree: false },
  ),
  condition: key.text("Only if", "tests.passed"),
};

const VARIABLE: Keys = {
  name: key.text("Its name", "REGION"),
  value: key.text("Its value", "eu-central-1"),
  stages: key.texts("Stages that need it", "[deploy]"),
};

const SECRET: Keys = {
  name: key.text("Its name", "DEPLOY_KEY"),
  required: key.flag("It has to exist"),
  stages: key.texts("Stages that need it", "[deploy]"),
  provider: key.text("Where it is kept", "vault"),
  path: key.text("Its path there", "ci/deploy"),
};

const ENVIRONMENT: Keys = {
  variables: key.entries("Variables; or a map of names and values", "name", VARIABLE, { or: ["names"] }),
  secrets: key.openEntries("Secrets, by name only; or a map", "name", SECRET, { or: ["names"] }),
};

const NOTIFICATIONS: Keys = {
  channels: key.openEntries("Whom to tell", "type", {
    type: key.openWord("How", ["slack", "email", "github_status", "webhook", "pagerduty", "teams"]),
    channel: key.texts("Name of the channel", "releases"),
    channels: key.texts("Names of channels", "[releases]"),
    recipients: key.texts("People", "[release-manager]"),
    to: key.texts("People", "[release-manager]"),
    events: key.texts("When", "[success, failure]"),
    context: key.text("The name of a status", "ci/release"),
  }),
  templates: key.names(key.text(), "Messages by event", '{success: "{{name}} is live"}'),
  rate_limit: key.free("How often at most", "{per_hour: 10}"),
};

/** Returns a list of actions that follow a run. */
function actions(meaning: string): Key {
  return key.openEntries(meaning, "description", {
    "description, name, action": key.prose("What to do", "Tag the release."),
    command: key.text("A command", "git tag v1.2.0"),
  });
}

/** The keys below `pipeline`. Pipelines may contain any other keys. */
export const PIPELINE_KEYS: Keys = {
  interface: interfaceBlock("pipeline"),
  triggers: key.openEntries("What starts it", "type", TRIGGER),
  environment: key.openBlock("Variables and secrets", ENVIRONMENT),
  stages: key.openEntries("The stages", "name", STAGE, { label: "stage", isRequired: true }),
  rollback: key.openBlock("How it goes back", {
    enabled: key.flag("False: the block does not apply"),
    strategy: key.openWord("How", ["revert_to_last_success", "revert_to_previous", "custom", "none"]),
    triggers: key.openEntries("When", "condition", {
      condition: key.text("When", "error_rate > 5"),
      action: key.text("What to do", "withdraw"),
    }),
    actions: key.names(
      key.openBlock("", {
        steps: shellSteps("Shell commands"),
        timeout: key.integer(TIMEOUT_MS, 600_000),
        notify: key.flag("Notify the people concerned"),
      }),
      "Actions by name",
    ),
  }),
  notifications: key.openBlock("Whom to tell", NOTIFICATIONS),
  artifacts: key.openEntries("Files to keep", "path", ARTIFACT),
  state: key.openBlock("What is remembered from run to run", {
    persistence: key.flag("False: nothing is remembered"),
    ttl: key.text("How long", "30 days"),
    custom: key.openEntries("Values", "name", {
      name: key.text("Its name", "last_release"),
      value: key.text("Its value", '"{{version}}"'),
      on: key.text("When it is set", "success"),
    }),
  }),
  postflight: key.openBlock("Afterwards", {
    tracker: key.openBlock("Whether the result is saved", { enabled: key.flag("Save the result") }),
    on_success: actions("If it succeeds"),
    on_failure: actions("If it fails"),
    always: actions("In any case"),
  }),
  meta: META,
};
