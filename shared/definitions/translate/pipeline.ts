/** Runtime Markdown of pipelines. */
import { isRecord } from "../../plain_values.ts";
import { scalarText } from "../../yaml/scalars.ts";
import { readSequence } from "./dependency_levels.ts";
import type { Fields } from "./field_reader.ts";
import { shownValue, writeEntries, writeLeftoverBullets } from "./generic_section.ts";
import { code, given, type Inline, join, listed, md, prose } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { duration, yesNo } from "./phrases.ts";
import { writeArtifacts, writeNotifications, writePostflight, writeState } from "./pipeline/afterwards.ts";
import { writeShellSteps } from "./pipeline/shell_steps.ts";
import { type Pipeline, writeStageOrder, writeStages } from "./pipeline/stages.ts";
import { writeTriggers } from "./pipeline/triggers.ts";

const SECTIONS: readonly MarkdownSection<Pipeline>[] = [
  writeDescription,
  writeTriggers,
  block("environment", md`Environment`, writeEnvironment),
  writeStageOrder,
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

const STRATEGIES: Readonly<Record<string, Inline>> = {
  revert_to_last_success: md`Go back to the last version that succeeded.`,
  revert_to_previous: md`Go back to the version before this one.`,
  custom: md`Go back by the actions below.`,
  none: md`There is no way back: nothing is undone.`,
};

function writeRollback(w: MarkdownWriter, rollback: Fields): void {
  if (rollback.isOff()) return;
  w.paragraph(
    rollback.known("strategy", STRATEGIES) ??
      given(rollback.prose("strategy"), (text) => md`Way back: ${text}`),
  );
  writeEntries(w, rollback.entries("triggers", "condition"), (trigger) => {
    const condition = md`When ${trigger.code("condition") ?? md`something fails`}`;
    return given(trigger.code("action"), (action) => md`${condition}: ${action}`) ?? condition;
  });
  const actions = rollback.map("actions");
  for (const name of actions?.keys() ?? []) writeAction(w, name, actions?.map(name) ?? null);
}

function writeAction(w: MarkdownWriter, name: string, action: Fields | null): void {
  if (!action) return;
  w.heading(3, given(code(name), (label) => md`Action ${label}`) ?? prose(name) ?? md`Action`);
  if (action.flag("notify") === true) w.bullet(md`Notify the people concerned`);
  w.bullet(given(action.number("timeout"), (ms) => md`Time limit: ${duration(ms)}`));
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
    const value = variable.text("value");
    const shown = given(value, (text) => shownValue(name ?? "", text));
    return [code(name ?? ""), shown, listed(variable.codes("stages"))];
  });
}

/** Variables written as one map. */
function mappedVariables(environment: Fields): (Inline | null)[][] {
  const variables = environment.map("variables");
  return (variables?.keys() ?? []).map((name) => [
    code(name),
    given(variables?.text(name) ?? null, (text) => shownValue(name, text)),
  ]);
}

function listSecrets(environment: Fields): (Inline | null)[][] {
  return environment.entries("secrets", "name").map((secret) => {
    const row = [
      secret.code("name"),
      yesNo(secret.flag("required")),
      listed(secret.codes("stages")),
      join([secret.prose("provider"), secret.code("path")], ", "),
    ];
    // Whatever else is said of a secret may be its value.
    secret.discard();
    return row;
  });
}

/** Secrets written as one map, whose values are left out. */
function mappedSecrets(environment: Fields): (Inline | null)[][] {
  const secrets = environment.peek("secrets");
  if (isRecord(secrets)) environment.skip("secrets");
  return isRecord(secrets) ? Object.keys(secrets).map((name) => [code(scalarText(name) ?? "")]) : [];
}
