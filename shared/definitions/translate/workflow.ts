/** Runtime Markdown of workflows. */
import { writePreflightList } from "./checks.ts";
import { readSequence } from "./dependency_levels.ts";
import { Fields } from "./field_reader.ts";
import { writeLeftovers } from "./generic_section.ts";
import { given, md } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { bareModelAlias } from "./model_alias.ts";
import { workflowArgumentHint, writeWorkflowArguments } from "./workflow/arguments.ts";
import { writeContext, writeWorkflowPreflight } from "./workflow/context.ts";
import { type Workflow, writePhaseOrder } from "./workflow/order.ts";
import { writePhases } from "./workflow/phases.ts";
import { writeOutcome, writeOutputs, writeResult } from "./workflow/result.ts";

const SECTIONS: readonly MarkdownSection<Workflow>[] = [
  writeDescription,
  writeFacts,
  block("arguments", md`Arguments`, writeWorkflowArguments),
  writePreflightList,
  block("preflight", md`Before you start`, writeWorkflowPreflight),
  block("context", md`Look around first`, writeContext),
  writePhaseOrder,
  writePhases,
  (w, { orchestration }) => writeLeftovers(w, orchestration),
  block("aggregation", md`Result`, writeResult),
  block("outputs", md`Write`, writeOutputs),
  block("postflight", md`Afterwards`, writeOutcome),
];

export function renderWorkflow(source: Source): string {
  const orchestration = source.body.map("orchestration") ?? new Fields({}, "workflow.orchestration");
  const { entries: phases, levels } = readSequence(orchestration, "phases", {
    kind: md`Phase`,
    missing: { reason: "no_phases", message: "The workflow has no list of phases" },
  });
  const model = bareModelAlias(source.interface.peek("model"));
  if (model !== null) source.interface.skip("model");
  const frontMatter = [
    ["description", source.description],
    ["argument-hint", workflowArgumentHint(source.body)],
    ["model", model],
  ] as const;
  return renderFile({ ...source, orchestration, phases, levels }, frontMatter, SECTIONS);
}

/** A model that the front matter cannot name is named in the text. */
function writeFacts(w: MarkdownWriter, source: Source): void {
  w.paragraph(given(source.interface.prose("duration"), (duration) => md`Usual duration: ${duration}`));
  const isNamed = bareModelAlias(source.interface.peek("model")) !== null;
  w.paragraph(given(source.interface.code("model"), (name) => (isNamed ? null : md`Model: ${name}`)));
}
