/** Runtime Markdown of pipelines. */
import { groupByLevel, readOrdered, writeLevels } from "./dependency_levels.ts";
import type { Fields } from "./field_reader.ts";
import { renderFrontMatter } from "./front_matter.ts";
import { md } from "./inline.ts";
import { type Source, writeTitle, writeUnknownBlocks } from "./interface_block.ts";
import { MarkdownWriter } from "./markdown_writer.ts";
import { passage } from "./passage.ts";
import { writeArtifacts, writePostflight, writeState } from "./pipeline/afterwards.ts";
import { writeEnvironment } from "./pipeline/environment.ts";
import { writeNotifications } from "./pipeline/notifications.ts";
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
