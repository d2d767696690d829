/** The keys of pipelines. */
import { DEFINITION_TYPES } from "../../vocabulary.ts";
import { environment, GATE, interfaceKeys, META, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flag,
  free,
  integer,
  type Key,
  type Keys,
  model,
  names,
  number,
  prose,
  reference,
  text,
  texts,
  word,
} from "./keys.ts";

const SHELL_STEP: Keys = {
  id: text("Its id", "build"),
  name: text("Its name", "Build"),
  description: prose("What it does", "Builds the image."),
  command: text("The command", "bun run build"),
  run: text("The same as `command`", "bun run build"),
  working_dir: text("Where it runs", "services/api"),
  env: environment("Environment variables"),
  timeout: integer(TIMEOUT_MS, 600_000),
  continue_on_error: flag("Go on if it fails"),
  always_run: flag("Run it even if something before it failed"),
  retries: integer("How often to try again", 2),
  retry_delay: integer("Milliseconds in between", 1_000),
  expect_empty: flag("It has to print nothing"),
  expect_match: text("A pattern that its output has to match", "^ok"),
};

function shellSteps(meaning: string): Key {
  return entries(meaning, SHELL_STEP, { main: "command" });
}

/** References with their arguments. Below a stage, one that is plain text is the reference alone. */
function runs(type: "workflow" | "command" | "agent", more: Keys = {}): Key {
  const example = `my-${type}@^1.0.0`;
  return entries(
    `${type.charAt(0).toUpperCase()}${type.slice(1)}s to run`,
    {
      ref: reference(type, { meaning: `The ${type}`, example, isRequired: true }),
      args: names(free("", ""), "Its arguments", "{target: main}"),
      ...more,
      condition: text("When to run it", "branch == 'main'"),
      timeout: integer(TIMEOUT_MS, 600_000),
    },
    { main: "ref", isOpen: true },
  );
}

const APPROVAL: Keys = {
  required: flag("False: no approval is needed; or a condition", { or: ["text"] }),
  approvers: texts("Who may approve", '["@platform-team"]'),
  min_approvals: integer("How many have to", 2),
  timeout_hours: number("How long to wait", 24),
  timeout_behavior: word("What to do then", ["reject", "approve", "extend", "pause"]),
  auto_reject_on_change: flag("A change made meanwhile counts as a refusal"),
  allow_self_approval: flag("People may approve what they started themselves", { example: "false" }),
  skip_for: texts("Who needs none", "[hotfix]"),
  notification: free("Whom to tell", "{channel: releases}"),
};

const ARTIFACT: Keys = {
  id: text("Its id, if it has no name", "image"),
  name: text("Its name", "image"),
  path: text("Where it is", "dist/image.tar"),
  required: flag("It has to exist"),
  retention_days: integer("How long it is kept", 30),
};

const STAGE: Keys = {
  id: text("Its id", "deploy"),
  name: text("Its name", "Deploy"),
  description: prose("What it is about", "Brings the release to production."),
  workflows: runs("workflow"),
  commands: runs("command"),
  agents: runs("agent", { model: model("Another model", "opus") }),
  ref: reference((stage) => typeOf(stage["type"]), {
    meaning: "One reference, an older form; `type` says to what",
    example: "my-command@^1.0.0",
  }),
  type: text("`workflow`, `command` or `agent`, for `ref`", "command"),
  steps: shellSteps("Shell commands"),
  depends_on: texts("Ids of stages before it", "[build]"),
  condition: text("When to run it", "branch == 'main'"),
  parallel: flag("Run its parts together"),
  sequential: flag("Run its parts one after the other"),
  timeout: integer(TIMEOUT_MS, 1_800_000),
  gate: block("The score that it needs", GATE),
  approval: block("Whose agreement it waits for; or true, false, or a condition", APPROVAL, {
    or: ["boolean", "prose"],
  }),
  inputs: names(free("", ""), "Values for its parts", "{version: 1.2.0}"),
  env: environment("Environment variables"),
  outputs: entries(
    "What it hands on",
    {
      id: text("The same as `name`", "image"),
      name: text("Its name", "image"),
      value: text("Its value", "registry/app:1.2.0"),
      source: text("The same as `value`", "build.image"),
    },
    { main: "name", isOpen: true },
  ),
  artifacts: entries("Files to keep", ARTIFACT, { main: "path", isOpen: true }),
  artifacts_from: texts("Stages whose files it uses", "[build]"),
};

/** The type beside an older reference; a command if it is no type. */
function typeOf(value: unknown) {
  return DEFINITION_TYPES.find((type) => type === value) ?? "command";
}

const TRIGGER: Keys = {
  type: word("What starts it", ["git_push", "pull_request", "schedule", "webhook", "manual", "pipeline"], {
    isRequired: true,
  }),
  branches: texts("Only these branches", "[main]"),
  tags: texts("Only these tags", '["v*"]'),
  paths: texts("Only changes in these paths", '["src/**"]'),
  actions: texts("What happened to the pull request", "[opened, synchronize]"),
  cron: text("The schedule", '"0 4 * * *"'),
  timezone: text("Its time zone", "Europe/Berlin"),
  skip_if_running: flag("Not while an earlier run is going"),
  event: text("The event of the webhook", "deployment"),
  secret: text("The secret of the webhook, which is not rendered", '"{{secrets.HOOK}}"'),
  payload_filter: text("Only if the payload fits", "action == 'created'"),
  allowed: flag("False: never by hand"),
  parameters: entries(
    "What to ask for",
    {
      name: text("Its name", "target"),
      type: word("Its type", ["string", "boolean", "number"], { or: ["text"] }),
      required: flag("It cannot be left out"),
      default: free("The value if it is left out", "main"),
      options: texts("The values it can have", "[staging, production]"),
      pattern: text("A pattern that it has to match", "^v\\\\d+"),
      description: prose("What it is", "Where to deploy"),
    },
    { main: "name" },
  ),
  pipeline: reference((trigger) => (trigger["type"] === "pipeline" ? "pipeline" : null), {
    meaning: "The pipeline that has to have run; no dependency",
    example: "release-train@^1.0.0",
    context: "trigger",
    inTree: false,
  }),
  condition: text("Only if", "tests.passed"),
};

const ENVIRONMENT: Keys = {
  variables: entries(
    "Variables; or a map of names and values",
    {
      name: text("Its name", "REGION"),
      value: text("Its value", "eu-central-1"),
      stages: texts("Stages that need it", "[deploy]"),
    },
    { main: "name", or: ["names"] },
  ),
  secrets: entries(
    "Secrets, by name only; or a map",
    {
      name: text("Its name", "DEPLOY_KEY"),
      required: flag("It has to exist"),
      stages: texts("Stages that need it", "[deploy]"),
      provider: text("Where it is kept", "vault"),
      path: text("Its path there", "ci/deploy"),
    },
    { main: "name", or: ["names"], isOpen: true },
  ),
};

const NOTIFICATIONS: Keys = {
  channels: entries(
    "Whom to tell",
    {
      type: word("How", ["slack", "email", "github_status", "webhook", "pagerduty", "teams"], {
        or: ["text"],
      }),
      channel: texts("Name of the channel", "releases"),
      channels: texts("Names of channels", "[releases]"),
      recipients: texts("People", "[release-manager]"),
      to: texts("People", "[release-manager]"),
      events: texts("When", "[success, failure]"),
      context: text("The name of a status", "ci/release"),
    },
    { main: "type", isOpen: true },
  ),
  templates: names(text("", ""), "Messages by event", '{success: "{{name}} is live"}'),
  rate_limit: free("How often at most", "{per_hour: 10}"),
};

/** What is done when a run has ended. */
function actions(meaning: string): Key {
  return entries(
    meaning,
    {
      description: prose("What to do", "Tag the release."),
      name: prose("The same as `description`", "Tag the release."),
      action: prose("The same as `description`", "Tag the release."),
      command: text("A command", "git tag v1.2.0"),
    },
    { main: "description", isOpen: true },
  );
}

/** Everything below `pipeline`. Pipelines carry keys of their own freely. */
export const PIPELINE_KEYS: Keys = {
  interface: block("What identifies the pipeline", interfaceKeys("pipeline"), { isRequired: true }),
  triggers: entries("What starts it", TRIGGER, { main: "type", isOpen: true }),
  environment: block("Variables and secrets", ENVIRONMENT, { isOpen: true }),
  stages: entries("The stages", STAGE, { main: "name", label: "stage", isRequired: true, isOpen: true }),
  rollback: block(
    "How it goes back",
    {
      enabled: flag("False: the block does not apply"),
      strategy: word("How", ["revert_to_last_success", "revert_to_previous", "custom", "none"], {
        or: ["text"],
      }),
      triggers: entries(
        "When",
        { condition: text("When", "error_rate > 5"), action: text("What to do", "withdraw") },
        { main: "condition", isOpen: true },
      ),
      actions: names(
        block(
          "",
          {
            steps: shellSteps("Shell commands"),
            timeout: integer(TIMEOUT_MS, 600_000),
            notify: flag("Notify the people concerned"),
          },
          { isOpen: true },
        ),
        "Actions by name",
      ),
    },
    { isOpen: true },
  ),
  notifications: block("Whom to tell", NOTIFICATIONS, { isOpen: true }),
  artifacts: entries("Files to keep", ARTIFACT, { main: "path", isOpen: true }),
  state: block(
    "What is remembered from run to run",
    {
      persistence: flag("False: nothing is remembered"),
      ttl: text("How long", "30 days"),
      custom: entries(
        "Values",
        {
          name: text("Its name", "last_release"),
          value: text("Its value", '"{{version}}"'),
          on: text("When it is set", "success"),
        },
        { main: "name", isOpen: true },
      ),
    },
    { isOpen: true },
  ),
  postflight: block(
    "Afterwards",
    {
      tracker: block("Whether the result is saved", { enabled: flag("Save the result") }, { isOpen: true }),
      on_success: actions("If it succeeds"),
      on_failure: actions("If it fails"),
      always: actions("In any case"),
    },
    { isOpen: true },
  ),
  meta: META,
};
