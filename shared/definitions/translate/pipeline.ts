/** Runtime Markdown of pipelines. */

import { isRecord } from "../../yaml/values.ts";
import { groupByLevel, readOrdered, writeLevels } from "./dependency_levels.ts";
import { Fields } from "./field_reader.ts";
import { renderFrontMatter } from "./front_matter.ts";
import { writeLeftoverBullets, writeLeftovers } from "./generic_section.ts";
import { code, given, join, listed, md } from "./inline.ts";
import { type Source, writeTitle, writeUnknownBlocks } from "./interface_block.ts";
import { MarkdownWriter } from "./markdown_writer.ts";
import { passage } from "./passage.ts";
import { withoutAddresses } from "./pipeline/addresses.ts";
import { writeArtifacts, writePostflight, writeState } from "./pipeline/afterwards.ts";
import { writeEnvironment } from "./pipeline/environment.ts";
import { writeRollback } from "./pipeline/rollback.ts";
import { writeStages } from "./pipeline/stages.ts";
import { writeTriggers } from "./pipeline/triggers.ts";
import { TranslationFailure } from "./translation_failure.ts";

export function renderPipeline(source: Source): string {
  const { body } = source;
  const stages = readStages(body);
  const levels = groupByLevel(stages);
  const frontMatter = renderFrontMatter([
    ["name", source.name],
    ["description", source.description],
    ["version", source.version],
  ]);
  const w = new MarkdownWriter();
  writeTitle(w, source);
  w.paragraph(passage(source.description));
  writeTriggers(w, body);
  writeEnvironment(w, body);
  w.heading(2, md`Order`);
  writeLevels(w, levels);
  writeStages(w, stages);
  writeRollback(w, body);
  writeNotifications(w, body);
  writeArtifacts(w, body);
  writeState(w, body);
  writePostflight(w, body);
  writeUnknownBlocks(w, source);
  return `${frontMatter}\n${w}`;
}

function readStages(body: Fields) {
  const stages = body.peek("stages");
  if (!Array.isArray(stages) || stages.length === 0) {
    throw new TranslationFailure("no_stages", "pipeline.stages", "The pipeline has no list of stages");
  }
  return readOrdered(body.entries("stages", "name"), md`Stage`);
}

function writeNotifications(w: MarkdownWriter, body: Fields): void {
  const notifications = body.map("notifications");
  if (!notifications) return;
  w.heading(2, md`Tell`);
  for (const [index, value] of notifications.list("channels").entries()) {
    const map = isRecord(value) ? withoutAddresses(value) : withoutAddresses({ type: value });
    writeChannel(w, new Fields(map, `${notifications.path}.channels[${index}]`));
  }
  const templates = notifications.map("templates");
  for (const event of templates?.keys() ?? []) {
    const template = templates?.text(event) ?? null;
    if (template === null) continue;
    w.paragraph(given(code(event), (name) => md`Message for ${name}:`));
    w.fence(template);
  }
  writeLeftovers(w, notifications);
}

function writeChannel(w: MarkdownWriter, channel: Fields): void {
  const type = channel.prose("type") ?? md`Channel`;
  const to = listed([
    ...channel.codes("channel"),
    ...channel.codes("channels"),
    ...channel.codes("recipients"),
    ...channel.codes("to"),
  ]);
  const events = listed(channel.codes("events"), "or");
  const text = join([type, to], " to ") ?? type;
  w.bullet(events === null ? text : md`${text}, on ${events}`, () => {
    w.bullet(given(channel.code("context"), (context) => md`Under the name ${context}`));
    writeLeftoverBullets(w, channel);
  });
}
