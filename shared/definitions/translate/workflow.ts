/** Renders workflows as runtime Markdown. */
import { isRecord, toItems } from "../../plain_values.ts";
import { scalarFlag, scalarText } from "../../yaml/scalars.ts";
import { readChecks, readClause, writeChecks, writePreflightList } from "./checks.ts";
import { readSequence } from "./dependency_levels.ts";
import type { Fields } from "./field_reader.ts";
import {
  humanize,
  writeEntries,
  writeLeftoverBullets,
  writeLeftovers,
  writeOutcomes,
} from "./generic_section.ts";
import { code, collapse, type Inline, join, md, type Prose, prose, strong } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { bareModelAlias } from "./model_alias.ts";
import { yesNo } from "./phrases.ts";
import { type Workflow, writePhaseOrder, writePhases } from "./workflow/phases.ts";

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
  block("postflight", md`Afterwards`, (w, postflight) => writeOutcomes(w, postflight, postflight.keys())),
];

export function renderWorkflow(source: Source): string {
  const orchestration = source.body.map("orchestration");
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

/** Writes the duration, and the model if the front matter cannot name it. */
function writeFacts(w: MarkdownWriter, source: Source): void {
  w.paragraph(md`Usual duration: ${source.interface.prose("duration")}`);
  if (bareModelAlias(source.interface.peek("model")) === null)
    w.paragraph(md`Model: ${source.interface.code("model")}`);
}

/** Returns a hint such as `<target> [--strict boolean]`; `null` without arguments. */
function workflowArgumentHint(body: Fields): string | null {
  const block = body.map("arguments");
  const hints = [
    ...listMaps(block.peek("positional")).map(({ name, map }) =>
      isOptional(map) ? `[${name}]` : `<${name}>`,
    ),
    ...listMaps(block.peek("flags")).map(({ name, map }) => {
      const type = scalarText(map["type"]);
      return type === null ? `[--${name}]` : `[--${name} ${collapse(type)}]`;
    }),
  ];
  return hints.length === 0 ? null : hints.join(" ");
}

function listMaps(value: unknown): { name: string; map: Readonly<Record<string, unknown>> }[] {
  return toItems(value).flatMap((item) => {
    const map = isRecord(item) ? item : { name: item };
    const name = collapse(scalarText(map["name"]) ?? "");
    return name === "" ? [] : [{ name, map }];
  });
}

function isOptional(map: Readonly<Record<string, unknown>>): boolean {
  return scalarFlag(map["required"]) === false || (map["default"] ?? null) !== null;
}

function writeWorkflowArguments(w: MarkdownWriter, block: Fields): void {
  const positional = block
    .entries("positional", "name")
    .map((argument) => row(argument, argument.code("name")));
  const flags = block.entries("flags", "name").map((flag) => row(flag, describeFlag(flag)));
  w.table(["Argument", "Type", "Required", "Default", "Meaning"], [...positional, ...flags]);
  const describeDerived = (value: Fields) => join([value.code("name"), value.snippet("source")], " is ");
  writeEntries(w, block.entries("derived", "name"), describeDerived, { lead: md`Worked out from them:` });
  const describeExample = (example: Fields) =>
    join([example.code("command"), example.passage("behavior", "description")], ": ");
  writeEntries(w, block.entries("examples", "command"), describeExample, { lead: md`Examples:` });
}

function row(argument: Fields, name: Inline | null): (Inline | null)[] {
  return [
    name,
    argument.prose("type"),
    yesNo(argument.flag("required")),
    argument.literal("default"),
    argument.prose("description"),
  ];
}

function describeFlag(flag: Fields): Inline | null {
  const name = flag.text("name");
  const short = flag.text("short");
  const word = name === null ? null : code(`--${name.trim()}`);
  const letter = short === null ? null : code(`-${short.trim().replace(/^-+/, "")}`);
  return join([word, letter], ", ");
}

function writeWorkflowPreflight(w: MarkdownWriter, preflight: Fields): void {
  writeChecks(w, readChecks(preflight, "checks"));
  writeEntries(w, preflight.entries("extraction", "id"), describeExtraction, { lead: md`Then find out:` });
}

/** The source of a value, by the word in `type`. */
const EXTRACTIONS: Readonly<Record<string, (extraction: Fields) => Prose | null>> = {
  command: (extraction) => md`the output of ${extraction.snippet("command")}`,
  env_var: (extraction) => md`the environment variable ${extraction.code("name", "env")}`,
  json_field: (extraction) => describeField(extraction, md`JSON`),
  yaml_field: (extraction) => describeField(extraction, md`YAML`),
};

function describeField(extraction: Fields, format: Inline): Inline | null {
  const field = extraction.code("field");
  const file = field && md` of ${extraction.code("path")}`;
  return md`the ${format} field ${field}${file ?? md``}`;
}

function describeExtraction(extraction: Fields): Prose | null {
  const name = extraction.code("store_as", "id");
  if (extraction.peek("store_as") === extraction.peek("id")) extraction.skip("id");
  const describe = extraction.known("type", EXTRACTIONS);
  const value = describe ? describe(extraction) : prose(humanize(extraction.text("type") ?? ""));
  return join([name, value], ": ");
}

function writeContext(w: MarkdownWriter, context: Fields): void {
  for (const [index, detector] of readChecks(context, "detectors").entries()) {
    writeDetector(w, detector, index + 1);
  }
  const lead = md`Then set these variables:`;
  writeEntries(w, context.entries("variables", "name"), describeVariable, { lead });
}

function describeVariable(variable: Fields): Prose | null {
  const fallback = md`, or ${variable.literal("default")} when that is unknown` ?? md``;
  const text = join([contextName(variable.text("name")), variable.snippet("source")], " is ");
  return md`${text}${fallback}`;
}

function writeDetector(w: MarkdownWriter, detector: Fields, number: number): void {
  const id = detector.text("id") ?? `detector_${number}`;
  const { text, script } = readClause(detector);
  const name = contextName(id) ?? md`The context`;
  w.bullet(md`${name} is true when ${text}.`, () => {
    w.fence(script, "sh");
    writeLeftoverBullets(w, detector);
  });
}

function contextName(id: string | null): Inline | null {
  return id === null ? null : code(`context.${id.trim()}`);
}

const METHODS: Readonly<Record<string, Inline>> = {
  min: md`The score is the lowest of the phases' scores.`,
  max: md`The score is the highest of the phases' scores.`,
  average: md`The score is the average of the phases' scores.`,
  weighted_average: md`The score is the weighted average of the phases' scores.`,
};

function writeResult(w: MarkdownWriter, aggregation: Fields, { phases }: Workflow): void {
  writeScore(w, aggregation.map("score"), phases);
  const decision = aggregation.map("decision");
  const words = decision.keys().map((word) => {
    const when = decision.code(word);
    return [when && strong(word), when];
  });
  w.table(["Decision", "When"], words);
}

function writeScore(w: MarkdownWriter, score: Fields, phases: Workflow["phases"]): void {
  const skipped = score.flag("skip_missing");
  const method = score.known("method", METHODS) ?? md`Method of scoring: ${score.prose("method")}.`;
  const missing =
    skipped === null ? null : skipped ? md`Skipped phases do not count.` : md`A skipped phase counts as 0.`;
  w.paragraph(join([method, missing], " "));
  const weights = score.map("weights");
  const titles = new Map(phases.map(({ fields, title }) => [scalarText(fields.peek("id")), title]));
  const known = weights.keys().flatMap((id) => {
    const weight = weights.number(id);
    return weight === null ? [] : [{ name: titles.get(id) ?? prose(id), weight }];
  });
  // Weights range from 0 to 1. Some authors write points instead, as in the scoring of agents.
  const arePoints = known.some(({ weight }) => weight > 1);
  const rows = known.map(({ name, weight }) => [name, arePoints ? md`${weight}` : percentage(weight)]);
  w.table(["Phase", "Weight"], rows);
}

/** Formats a share in percent. Rounded, because 0.07 * 100 gives 7.000000000000001. */
function percentage(share: number): Inline {
  return md`${Number((share * 100).toFixed(2))} %`;
}

function writeOutputs(w: MarkdownWriter, outputs: Fields): void {
  writeEntries(w, outputs.entries("artifacts", "path"), describeArtifact);
  writeEntries(w, outputs.entries("variables", "name"), describeOutput);
  const tracking = outputs.map("tracking");
  const isSaved = tracking.flag("enabled");
  if (isSaved === false) tracking.discard();
  else if (isSaved) w.bullet(md`Save the result in the tracker`);
  else w.bullet(md`Save the result by way of ${tracking.code("variant")}`);
  const checks = readChecks(outputs.map("verification"), "post_save");
  if (checks.length > 0) w.paragraph(md`When everything is saved:`);
  writeChecks(w, checks);
}

function describeArtifact(artifact: Fields): Prose | null {
  const type = md`(${artifact.prose("type")})`;
  const path = md`to ${artifact.code("path")}`;
  return join([artifact.code("id", "name"), type, path], " ");
}

function describeOutput(variable: Fields): Prose | null {
  const text = join([variable.code("name"), variable.snippet("source")], " is ");
  return md`The variable ${text}`;
}
