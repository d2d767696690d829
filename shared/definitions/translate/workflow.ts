/** Runtime Markdown of workflows. */
import { groupByLevel, readOrdered } from "./dependency_levels.ts";
import { Fields } from "./field_reader.ts";
import { renderFrontMatter } from "./front_matter.ts";
import { writeLeftovers } from "./generic_section.ts";
import { given, md } from "./inline.ts";
import { type Source, writeTitle, writeUnknownBlocks } from "./interface_block.ts";
import { MarkdownWriter } from "./markdown_writer.ts";
import { bareModelAlias } from "./model_alias.ts";
import { passage } from "./passage.ts";
import { TranslationFailure } from "./translation_failure.ts";
import { workflowArgumentHint, writeWorkflowArguments } from "./workflow/arguments.ts";
import { writeContext, writeWorkflowPreflight } from "./workflow/context.ts";
import { writeOrder } from "./workflow/order.ts";
import { writePhases } from "./workflow/phases.ts";
import { writeOutcome, writeOutputs, writeResult } from "./workflow/result.ts";

export function renderWorkflow(source: Source): string {
  const { body } = source;
  const orchestration = body.map("orchestration") ?? new Fields({}, "workflow.orchestration");
  const phases = readPhases(orchestration);
  const levels = groupByLevel(phases);
  const model = bareModelAlias(source.interface.peek("model"));
  if (model !== null) source.interface.skip("model");
  const frontMatter = renderFrontMatter([
    ["description", source.description],
    ["argument-hint", workflowArgumentHint(body)],
    ["model", model],
  ]);
  const w = new MarkdownWriter();
  writeTitle(w, source);
  w.paragraph(passage(source.description));
  w.paragraph(given(source.interface.prose("duration"), (duration) => md`Usual duration: ${duration}`));
  w.paragraph(given(source.interface.code("model"), (name) => (model === null ? md`Model: ${name}` : null)));
  writeWorkflowArguments(w, body);
  writeWorkflowPreflight(w, body);
  writeContext(w, body);
  writeOrder(w, { orchestration, phases, levels });
  writePhases(w, phases);
  writeLeftovers(w, orchestration);
  writeResult(w, body, phases);
  writeOutputs(w, body);
  writeOutcome(w, body);
  writeUnknownBlocks(w, source);
  return `${frontMatter}\n${w}`;
}

function readPhases(orchestration: Fields) {
  const phases = orchestration.peek("phases");
  if (!Array.isArray(phases) || phases.length === 0) {
    throw new TranslationFailure(
      "no_phases",
      "workflow.orchestration.phases",
      "The workflow has no list of phases",
    );
  }
  return readOrdered(orchestration.entries("phases", "name"), md`Phase`);
}
