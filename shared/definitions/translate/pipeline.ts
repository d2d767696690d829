/** Renders pipelines as runtime Markdown. */
import { toRecord } from "../../plain_values.ts";
import { readSequence } from "./dependency_levels.ts";
import { type DocumentMap, Fields } from "./field_reader.ts";
import { shownValue, writeEntries, writeLeftoverBullets } from "./generic_section.ts";
import { code, type Inline, join, listed, md, type Prose, prose } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { duration, requiredOrOptional, yesNo } from "./phrases.ts";
import { writeArtifacts, writeNotifications, writePostflight, writeState } from "./pipeline/afterwards.ts";
import { type Pipeline, writeShellSteps, writeStages } from "./pipeline/stages.ts";
import { readPipelineReference } from "./reference.ts";
import { withoutAddresses } from "./remove_secrets.ts";
import { TranslationFailure } from "./translation_failure.ts";

const SECTIONS: readonly MarkdownSection<Pipeline>[] = [
  writeDescription,
  writeTriggers,
  block("environment", md`Environment`, writeEnvironment),
  writeStages,
  block("rollback", md`Undo`, writeRollback),
  block("notifications", md`Tell`, writeNotifications),
  writeArtifacts,
  block("state", md`Remember`, writeState),
  block("postflight", md`Afterwards`, writePostflight),
];

export function renderPipeline(source: Source): string {
  const { entries: stages, levels } = readSequence(source.body, "stages", {
    kind: md`Stage`,
    missing: { reason: "no_stages", message: "The pipeline has no list of stages" },
  });
  const frontMatter = [
    ["name", source.name],
    ["description", source.description],
    ["version", source.version],
  ] as const;
  return renderFile({ ...source, stages, levels }, frontMatter, SECTIONS);
}

/** Writes the triggers. Fails with `unknown_kind`, or with `bad_reference` if the name of a pipeline is not a text. */
function writeTriggers(w: MarkdownWriter, { body }: Source): void {
  const triggers = body.raw("triggers") ?? [];
  if (!Array.isArray(triggers)) throw unknownKind("pipeline.triggers");
  w.heading(2, md`Starts when`);
  for (const [index, value] of triggers.entries()) {
    const { trigger, describe } = readTrigger(value, `pipeline.triggers[${index}]`);
    writeEntries(w, [trigger], describe, {
      writeBelow: () => {
        w.bullet(md`Only if ${trigger.snippet("condition")}`);
        w.bullet(md`Only if the payload fits ${trigger.snippet("payload_filter")}`);
        writeEntries(w, trigger.entries("parameters", "name"), describeParameter);
      },
    });
  }
}

const TRIGGERS: Readonly<Record<string, (trigger: Fields) => Inline>> = {
  git_push: (trigger) => md`Commits are pushed${filters(trigger)}.`,
  pull_request: (trigger) => {
    const event = md`reports ${listed(trigger.codes("actions"), "or")}` ?? md`changes`;
    return md`A pull request ${event}${filters(trigger)}.`;
  },
  schedule: (trigger) => {
    const zone = md` in the time zone ${trigger.prose("timezone")}` ?? md``;
    const skip = trigger.flag("skip_if_running") === true ? md`, unless an earlier run is still going` : md``;
    return md`The schedule ${trigger.code("cron") ?? md`of the host`} is due${zone}${skip}.`;
  },
  webhook: (trigger) => md`The webhook event ${trigger.code("event") ?? md`arrives`} is received.`,
  manual: (trigger) =>
    trigger.flag("allowed") === false ? md`Never by hand.` : md`Somebody starts it by hand.`,
  pipeline: (trigger) => {
    const reference = readPipelineReference(trigger.raw("pipeline"), `${trigger.path}.pipeline`);
    return md`The pipeline ${reference} has run.`;
  },
};

function readTrigger(value: unknown, path: string) {
  const map = toRecord(value);
  const trigger = new Fields(map["type"] === "webhook" ? withoutAddresses(map) : withoutSecret(map), path);
  const describe = trigger.known("type", TRIGGERS);
  if (describe === null) throw unknownKind(`${path}.type`);
  return { trigger, describe };
}

function withoutSecret({ secret: _, ...others }: DocumentMap): DocumentMap {
  return others;
}

function filters(trigger: Fields): Inline {
  const branches = md` on the branches ${listed(trigger.codes("branches"), "or")}`;
  const tags = md` with the tags ${listed(trigger.codes("tags"), "or")}`;
  const paths = md` in the paths ${listed(trigger.codes("paths"), "or")}`;
  return join([branches, tags, paths], ",") ?? md``;
}

function describeParameter(parameter: Fields): Prose | null {
  const name = parameter.code("name") ?? code("parameter");
  const facts = [
    parameter.prose("type"),
    requiredOrOptional(parameter.flag("required")),
    md`default ${parameter.literal("default")}`,
    md`one of ${listed(parameter.codes("options"), "or")}`,
    md`must match ${parameter.code("pattern")}`,
  ];
  const text = join([md`Parameter ${name}`, join(facts, ", ")], ": ");
  return join([text, parameter.passage("description")], " – ");
}

function unknownKind(path: string): TranslationFailure {
  const known = Object.keys(TRIGGERS).join(", ");
  return new TranslationFailure("unknown_kind", path, `The kind of trigger must be one of ${known}`);
}

const STRATEGIES: Readonly<Record<string, Inline>> = {
  revert_to_last_success: md`Go back to the last version that succeeded.`,
  revert_to_previous: md`Go back to the version before this one.`,
  custom: md`Go back by the actions below.`,
  none: md`There is no way back: nothing is undone.`,
};

function writeRollback(w: MarkdownWriter, rollback: Fields): void {
  if (rollback.isOff()) return;
  w.paragraph(rollback.known("strategy", STRATEGIES) ?? md`Way back: ${rollback.prose("strategy")}`);
  writeEntries(w, rollback.entries("triggers", "condition"), (trigger) => {
    const condition = md`When ${trigger.code("condition") ?? md`something fails`}`;
    return md`${condition}: ${trigger.code("action")}` ?? condition;
  });
  const actions = rollback.map("actions");
  for (const name of actions.keys()) if (actions.hasMap(name)) writeAction(w, name, actions.map(name));
}

function writeAction(w: MarkdownWriter, name: string, action: Fields): void {
  w.heading(3, md`Action ${code(name)}` ?? prose(name) ?? md`Action`);
  if (action.flag("notify") === true) w.bullet(md`Notify the people concerned`);
  w.bullet(md`Time limit: ${duration(action.number("timeout"))}`);
  writeShellSteps(w, action.entries("steps", "command"));
  writeLeftoverBullets(w, action);
}

function writeEnvironment(w: MarkdownWriter, environment: Fields): void {
  w.table(["Variable", "Value", "Stages"], [...listVariables(environment), ...mappedVariables(environment)]);
  const secrets = [...listSecrets(environment), ...mappedSecrets(environment)];
  w.table(["Secret", "Required", "Stages", "Provider"], secrets);
}

function listVariables(environment: Fields): (Inline | null)[][] {
  return environment.entries("variables", "name").map((variable) => {
    const name = variable.text("name");
    return [code(name), shownValue(name, variable.text("value")), listed(variable.codes("stages"))];
  });
}

/** Returns the rows of variables that are written as a map. */
function mappedVariables(environment: Fields): (Inline | null)[][] {
  const variables = environment.map("variables");
  return variables.keys().map((name) => [code(name), shownValue(name, variables.text(name))]);
}

function listSecrets(environment: Fields): (Inline | null)[][] {
  return environment.entries("secrets", "name").map((secret) => {
    const row = [
      secret.code("name"),
      yesNo(secret.flag("required")),
      listed(secret.codes("stages")),
      join([secret.prose("provider"), secret.code("path")], ", "),
    ];
    // Any other field may contain the value of the secret.
    secret.discard();
    return row;
  });
}

/** Returns the rows of secrets that are written as a map. Their values are omitted. */
function mappedSecrets(environment: Fields): (Inline | null)[][] {
  const secrets = environment.map("secrets");
  secrets.discard();
  return secrets.keys().map((name) => [code(name)]);
}
