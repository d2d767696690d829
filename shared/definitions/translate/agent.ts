/** Renders agents as runtime Markdown for a file in `.claude/agents/`. */
import { type Agent, readAgent } from "./agent/agent_source.ts";
import { writeDecision, writeSpecialCases } from "./agent/decision.ts";
import { runtimeTools } from "./agent/front_matter_tools.ts";
import { writeKnowledge } from "./agent/knowledge.ts";
import { writeLimits, writeOpening, writePurpose, writeSetting } from "./agent/mission.ts";
import { writeProcedure } from "./agent/procedure.ts";
import { writeAgentReport } from "./agent/report.ts";
import { writeAutomaticFailure, writeScoring, writeSeverity } from "./agent/scoring.ts";
import { writeCompletion, writeTasks, writeUndo } from "./agent/tasks.ts";
import type { Fields } from "./field_reader.ts";
import { writeEntries, writeLeftovers } from "./generic_section.ts";
import { type Inline, join, listed, md } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { modelAlias } from "./model_alias.ts";

/** The sections in the order in which they are rendered. */
const SECTIONS: readonly MarkdownSection<Agent>[] = [
  writeOpening,
  writePurpose,
  writeLimits,
  writeSetting,
  block("knowledge_base", md`Knowledge`, writeKnowledge),
  block("cognitive_lens", md`Lens`, writeLens),
  block("forecast", md`Forecast frame`, writeForecastFrame),
  block("scoring", md`Scoring`, writeScoring),
  block("deductions", md`Severity`, writeSeverity),
  block("auto_fail", md`Automatic failure`, writeAutomaticFailure),
  block("tasks", md`Inputs`, writeTasks),
  block("process", md`Procedure`, writeProcedure),
  block("decisions", md`Decision`, writeDecision),
  block("completion", md`Completion`, writeCompletion),
  block("rollback", md`Undo`, writeUndo),
  writeSpecialCases,
  block("output", md`Report`, writeAgentReport),
  writeCollaboration,
  block("tone", md`Voice`, writeVoice),
];

/**
 * Keys that the text omits. The registry shows `REGISTRY_KEYS` beside the text, and the host reads `HOST_KEYS` from its settings.
 */
const REGISTRY_KEYS = ["risk_level", "triggers", "domain_profile"] as const;
const HOST_KEYS = ["timeout", "max_tokens", "temperature"] as const;

/** Returns the host's alias for the model. Without an alias, the key stays unread, so that the text names the model. */
function readModel(defaults: Fields): string | null {
  const alias = modelAlias(defaults.peek("model"));
  if (alias !== null) defaults.skip("model");
  return alias;
}

export function renderAgent(source: Source): string {
  const agent = readAgent(source);
  const defaults = source.body.map("defaults");
  defaults.skip(...HOST_KEYS);
  source.interface.skip(...REGISTRY_KEYS);
  const frontMatter = [
    ["name", source.name],
    ["description", source.description],
    ["tools", runtimeTools(agent)],
    ["model", readModel(defaults)],
    ["version", source.version],
  ] as const;
  return renderFile(agent, frontMatter, SECTIONS);
}

function writeCollaboration(w: MarkdownWriter, agent: Agent): void {
  w.heading(2, md`Works with`);
  const dependencies = agent.interface.map("dependencies");
  writeDependencies(w, dependencies);
  const handoff = agent.body.map("handoff");
  writeHandoff(w, handoff);
  for (const block of [dependencies, handoff, agent.body.map("composition")]) writeLeftovers(w, block);
}

function writeDependencies(w: MarkdownWriter, dependencies: Fields): void {
  const agents = (key: string): Inline | null => listed(dependencies.codes(key));
  w.bullet(md`Needs ${agents("requires")}`);
  w.bullet(md`Works well beside ${agents("recommends")}`);
  w.bullet(md`Does not go together with ${agents("conflicts")}`);
}

function writeHandoff(w: MarkdownWriter, handoff: Fields): void {
  const upstream = handoff.map("upstream_context");
  const downstream = handoff.map("downstream_artifacts");
  w.bullet(md`Accepts from those before it: ${listed(upstream.proses("accepts"))}`);
  w.bullet(md`What it must be given: ${upstream.passage("input_contract")}`);
  w.bullet(md`Hands on to those after it: ${listed(downstream.proses("produces"))}`);
  w.bullet(md`What it promises: ${downstream.passage("output_contract")}`);
}

function writeVoice(w: MarkdownWriter, tone: Fields): void {
  w.bullet(md`Tone: ${listed(tone.proses("attributes"))}`);
  for (const guideline of tone.passages("guidelines")) w.bullet(guideline);
}

function writeLens(w: MarkdownWriter, lens: Fields): void {
  w.paragraph(md`Look at the matter as ${lens.prose("thinker", "name", "lens")} would.`);
  w.paragraph(lens.passage("description"));
  writeEntries(w, lens.entries("axioms", "axiom"), (axiom) => describe(axiom, "axiom", "statement"), {
    lead: md`What follows from its axioms:`,
    writeBelow: (axiom) => {
      for (const consequence of [axiom.passage("consequence"), ...axiom.passages("consequences")])
        w.bullet(md`Therefore: ${consequence}`);
    },
  });
  const signatures = lens.entries("failure_signatures", "signature");
  writeEntries(w, signatures, (signature) => describe(signature, "signature", "pattern"), {
    lead: md`How this view misleads, and what helps:`,
    writeBelow: (signature) => w.bullet(md`What helps: ${signature.passage("mitigation")}`),
  });
}

/** Returns `**Name**: text`, or only the part that exists, or else the id. */
function describe(fields: Fields, ...keys: readonly string[]) {
  const name = fields.strong("name");
  const text = fields.passage(...keys, "description", "text");
  return join([name, text], ": ") ?? fields.code("id");
}

function writeForecastFrame(w: MarkdownWriter, forecast: Fields): void {
  w.bullet(md`Kind of actor: ${forecast.prose("actor_type")}`);
  w.bullet(md`Time horizon: ${forecast.prose("time_horizon")}`);
  w.bullet(md`How effects spread: ${forecast.passage("propagation_mechanism")}`);
  w.bullet(md`Form of a prediction: ${forecast.passage("prediction_format")}`);
}
