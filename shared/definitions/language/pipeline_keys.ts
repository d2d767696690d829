/** The keys of pipelines. */
import { DEFINITION_TYPES } from "../../vocabulary.ts";
import { environment, GATE, interfaceKeys, META, TIMEOUT_MS } from "./common_keys.ts";
import {
  block,
  entries,
  flagKey,
  free,
  integerKey,
  type Key,
  type Keys,
  model,
  names,
  numberKey,
  proseKey,
  reference,
  textKey,
  textsKey,
  wordKey,
} from "./keys.ts";

const SHELL_STEP: Keys = {
  id: textKey("Its id", "build"),
  name: textKey("Its name", "Build"),
  description: proseKey("What it does", "Builds the image."),
  command: textKey("The command", "bun run build"),
  run: textKey("The same as `command`", "bun run build"),
  working_dir: textKey("Where it runs", "services/api"),
  env: environment("Environment variables"),
  timeout: integerKey(TIMEOUT_MS, 600_000),
  continue_on_error: flagKey("Go on if it fails"),
  always_run: flagKey("Run it even if something before it failed"),
  retries: integerKey("How often to try again", 2),
  retry_delay: integerKey("Milliseconds in between", 1_000),
  expect_empty: flagKey("It has to print nothing"),
  expect_match: textKey("A pattern that its output has to match", "^ok"),
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
      condition: textKey("When to run it", "branch == 'main'"),
      timeout: integerKey(TIMEOUT_MS, 600_000),
    },
    { main: "ref", isOpen: true },
  );
}

const APPROVAL: Keys = {
  required: flagKey("False: no approval is needed; or a condition", { or: ["text"] }),
  approvers: textsKey("Who may approve", '["@platform-team"]'),
  min_approvals: integerKey("How many have to", 2),
  timeout_hours: numberKey("How long to wait", 24),
  timeout_behavior: wordKey("What to do then", ["reject", "approve", "extend", "pause"]),
  auto_reject_on_change: flagKey("A change made meanwhile counts as a refusal"),
  allow_self_approval: flagKey("People may approve what they started themselves", { example: "false" }),
  skip_for: textsKey("Who needs none", "[hotfix]"),
  notification: free("Whom to tell", "{channel: releases}"),
};

const ARTIFACT: Keys = {
  id: textKey("Its id, if it has no name", "image"),
  name: textKey("Its name", "image"),
  path: textKey("Where it is", "dist/image.tar"),
  required: flagKey("It has to exist"),
  retention_days: integerKey("How long it is kept", 30),
};

const STAGE: Keys = {
  id: textKey("Its id", "deploy"),
  name: textKey("Its name", "Deploy"),
  description: proseKey("What it is about", "Brings the release to production."),
  workflows: runs("workflow"),
  commands: runs("command"),
  agents: runs("agent", { model: model("Another model", "opus") }),
  ref: reference((stage) => typeOf(stage["type"]), {
    meaning: "One reference, an older form; `type` says to what",
    example: "my-command@^1.0.0",
  }),
  type: textKey("`workflow`, `command` or `agent`, for `ref`", "command"),
  steps: shellSteps("Shell commands"),
  depends_on: textsKey("Ids of stages before it", "[build]"),
  condition: textKey("When to run it", "branch == 'main'"),
  parallel: flagKey("Run its parts together"),
  sequential: flagKey("Run its parts one after the other"),
  timeout: integerKey(TIMEOUT_MS, 1_800_000),
  gate: block("The score that it needs", GATE),
  approval: block("Whose agreement it waits for; or true, false, or a condition", APPROVAL, {
    or: ["boolean", "prose"],
  }),
  inputs: names(free("", ""), "Values for its parts", "{version: 1.2.0}"),
  env: environment("Environment variables"),
  outputs: entries(
    "What it hands on",
    {
      id: textKey("The same as `name`", "image"),
      name: textKey("Its name", "image"),
      value: textKey("Its value", "registry/app:1.2.0"),
      source: textKey("The same as `value`", "build.image"),
    },
    { main: "name", isOpen: true },
  ),
  artifacts: entries("Files to keep", ARTIFACT, { main: "path", isOpen: true }),
  artifacts_from: textsKey("Stages whose files it uses", "[build]"),
};

/** The type beside an older reference; a command if it is no type. */
function typeOf(value: unknown) {
  return DEFINITION_TYPES.find((type) => type === value) ?? "command";
}

const TRIGGER: Keys = {
  type: wordKey("What starts it", ["git_push", "pull_request", "schedule", "webhook", "manual", "pipeline"], {
    isRequired: true,
  }),
  branches: textsKey("Only these branches", "[main]"),
  tags: textsKey("Only these tags", '["v*"]'),
  paths: textsKey("Only changes in these paths", '["src/**"]'),
  actions: textsKey("What happened to the pull request", "[opened, synchronize]"),
  cron: textKey("The schedule", '"0 4 * * *"'),
  timezone: textKey("Its time zone", "Europe/Berlin"),
  skip_if_running: flagKey("Not while an earlier run is going"),
  event: textKey("The event of the webhook", "deployment"),
  secret: textKey("The secret of the webhook, which is not rendered", '"{{secrets.HOOK}}"'),
  payload_filter: textKey("Only if the payload fits", "action == 'created'"),
  allowed: flagKey("False: never by hand"),
  parameters: entries(
    "What to ask for",
    {
      name: textKey("Its name", "target"),
      type: wordKey("Its type", ["string", "boolean", "number"], { or: ["text"] }),
      required: flagKey("It cannot be left out"),
      default: free("The value if it is left out", "main"),
      options: textsKey("The values it can have", "[staging, production]"),
      pattern: textKey("A pattern that it has to match", "^v\\\\d+"),
      description: proseKey("What it is", "Where to deploy"),
    },
    { main: "name" },
  ),
  pipeline: reference((trigger) => (trigger["type"] === "pipeline" ? "pipeline" : null), {
    meaning: "The pipeline that has to have run; no dependency",
    example: "release-train@^1.0.0",
    context: "trigger",
    inTree: false,
  }),
  condition: textKey("Only if", "tests.passed"),
};

const ENVIRONMENT: Keys = {
  variables: entries(
    "Variables; or a map of names and values",
    {
      name: textKey("Its name", "REGION"),
      value: textKey("Its value", "eu-central-1"),
      stages: textsKey("Stages that need it", "[deploy]"),
    },
    { main: "name", or: ["names"] },
  ),
  secrets: entries(
    "Secrets, by name only; or a map",
    {
      name: textKey("Its name", "DEPLOY_KEY"),
      required: flagKey("It has to exist"),
      stages: textsKey("Stages that need it", "[deploy]"),
      provider: textKey("Where it is kept", "vault"),
      path: textKey("Its path there", "ci/deploy"),
    },
    { main: "name", or: ["names"], isOpen: true },
  ),
};

const NOTIFICATIONS: Keys = {
  channels: entries(
    "Whom to tell",
    {
      type: wordKey("How", ["slack", "email", "github_status", "webhook", "pagerduty", "teams"], {
        or: ["text"],
      }),
      channel: textsKey("Name of the channel", "releases"),
      channels: textsKey("Names of channels", "[releases]"),
      recipients: textsKey("People", "[release-manager]"),
      to: textsKey("People", "[release-manager]"),
      events: textsKey("When", "[success, failure]"),
      context: textKey("The name of a status", "ci/release"),
    },
    { main: "type", isOpen: true },
  ),
  templates: names(textKey("", ""), "Messages by event", '{success: "{{name}} is live"}'),
  rate_limit: free("How often at most", "{per_hour: 10}"),
};

/** What is done when a run has ended. */
function actions(meaning: string): Key {
  return entries(
    meaning,
    {
      description: proseKey("What to do", "Tag the release."),
      name: proseKey("The same as `description`", "Tag the release."),
      action: proseKey("The same as `description`", "Tag the release."),
      command: textKey("A command", "git tag v1.2.0"),
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
      enabled: flagKey("False: the block does not apply"),
      strategy: wordKey("How", ["revert_to_last_success", "revert_to_previous", "custom", "none"], {
        or: ["text"],
      }),
      triggers: entries(
        "When",
        { condition: textKey("When", "error_rate > 5"), action: textKey("What to do", "withdraw") },
        { main: "condition", isOpen: true },
      ),
      actions: names(
        block(
          "",
          {
            steps: shellSteps("Shell commands"),
            timeout: integerKey(TIMEOUT_MS, 600_000),
            notify: flagKey("Notify the people concerned"),
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
      persistence: flagKey("False: nothing is remembered"),
      ttl: textKey("How long", "30 days"),
      custom: entries(
        "Values",
        {
          name: textKey("Its name", "last_release"),
          value: textKey("Its value", '"{{version}}"'),
          on: textKey("When it is set", "success"),
        },
        { main: "name", isOpen: true },
      ),
    },
    { isOpen: true },
  ),
  postflight: block(
    "Afterwards",
    {
      tracker: block(
        "Whether the result is saved",
        { enabled: flagKey("Save the result") },
        { isOpen: true },
      ),
      on_success: actions("If it succeeds"),
      on_failure: actions("If it fails"),
      always: actions("In any case"),
    },
    { isOpen: true },
  ),
  meta: META,
};
