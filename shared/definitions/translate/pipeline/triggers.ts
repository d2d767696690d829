/** What starts a pipeline. */
import { isRecord } from "../../../plain_values.ts";
import { type DocumentMap, Fields } from "../field_reader.ts";
import { writeEntries } from "../generic_section.ts";
import { code, given, type Inline, join, listed, md, type Prose } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { requiredOrOptional } from "../phrases.ts";
import { readPipelineReference } from "../reference.ts";
import { withoutAddresses } from "../remove_secrets.ts";
import { TranslationFailure } from "../translation_failure.ts";

/** Fails with `unknown_kind`, or with `bad_reference` for a pipeline that is not named by text. */
export function writeTriggers(w: MarkdownWriter, { body }: Source): void {
  const triggers = body.raw("triggers") ?? [];
  if (!Array.isArray(triggers)) throw unknownKind("pipeline.triggers");
  w.heading(2, md`Starts when`);
  for (const [index, value] of triggers.entries()) {
    const { trigger, describe } = readTrigger(value, `pipeline.triggers[${index}]`);
    writeEntries(w, [trigger], describe, {
      writeBelow: () => {
        w.bullet(given(trigger.snippet("condition"), (condition) => md`Only if ${condition}`));
        w.bullet(
          given(trigger.snippet("payload_filter"), (filter) => md`Only if the payload fits ${filter}`),
        );
        writeEntries(w, trigger.entries("parameters", "name"), describeParameter);
      },
    });
  }
}

const TRIGGERS: Readonly<Record<string, (trigger: Fields) => Inline>> = {
  git_push: (trigger) => md`Commits are pushed${filters(trigger)}.`,
  pull_request: (trigger) => {
    const actions = listed(trigger.codes("actions"), "or");
    return actions === null
      ? md`A pull request changes${filters(trigger)}.`
      : md`A pull request reports ${actions}${filters(trigger)}.`;
  },
  schedule: (trigger) => {
    const zone = given(trigger.prose("timezone"), (name) => md` in the time zone ${name}`) ?? md``;
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
  const type = isRecord(value) && Object.hasOwn(value, "type") ? value["type"] : undefined;
  const describe = typeof type === "string" && Object.hasOwn(TRIGGERS, type) ? TRIGGERS[type] : undefined;
  if (!describe || !isRecord(value)) throw unknownKind(`${path}.type`);
  const trigger = new Fields(type === "webhook" ? withoutAddresses(value) : withoutSecret(value), path);
  trigger.skip("type");
  return { trigger, describe };
}

function withoutSecret({ secret: _, ...others }: DocumentMap): DocumentMap {
  return others;
}

function filters(trigger: Fields): Inline {
  const branches = given(listed(trigger.codes("branches"), "or"), (names) => md` on the branches ${names}`);
  const tags = given(listed(trigger.codes("tags"), "or"), (names) => md` with the tags ${names}`);
  const paths = given(listed(trigger.codes("paths"), "or"), (names) => md` in the paths ${names}`);
  return join([branches, tags, paths], ",") ?? md``;
}

function describeParameter(parameter: Fields): Prose | null {
  const name = parameter.code("name") ?? code("parameter");
  const facts = join(
    [
      parameter.prose("type"),
      requiredOrOptional(parameter.flag("required")),
      given(parameter.literal("default"), (value) => md`default ${value}`),
      given(listed(parameter.codes("options"), "or"), (values) => md`one of ${values}`),
      given(parameter.code("pattern"), (pattern) => md`must match ${pattern}`),
    ],
    ", ",
  );
  const text = join([given(name, (label) => md`Parameter ${label}`), facts], ": ");
  return join([text, parameter.passage("description")], " – ");
}

function unknownKind(path: string): TranslationFailure {
  const known = Object.keys(TRIGGERS).join(", ");
  return new TranslationFailure("unknown_kind", path, `The kind of trigger must be one of ${known}`);
}
