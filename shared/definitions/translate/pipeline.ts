/** Runtime Markdown of pipelines. */
import { readSequence } from "./dependency_levels.ts";
import { md } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import { writeArtifacts, writeNotifications, writePostflight, writeState } from "./pipeline/afterwards.ts";
import { writeEnvironment } from "./pipeline/environment.ts";
import { writeRollback } from "./pipeline/rollback.ts";
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
