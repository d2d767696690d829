/** Writes the agent's purpose, the limits of its responsibility, its environment and its data sources. */
import type { Fields } from "../field_reader.ts";
import {
  writeAssignments,
  writeCommand,
  writeEntries,
  writeLeftoverBullets,
  writeLeftovers,
} from "../generic_section.ts";
import { type Inline, join, listed, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { modelAlias } from "../model_alias.ts";
import { passage } from "../passage.ts";
import type { Agent } from "./agent_source.ts";
import { hostTools } from "./front_matter_tools.ts";

export function writeOpening(w: MarkdownWriter, agent: Agent): void {
  w.paragraph(agent.body.map("mission").passage("opener") ?? passage(agent.description));
}

export function writePurpose(w: MarkdownWriter, agent: Agent): void {
  const mission = agent.body.map("mission");
  w.heading(2, md`Purpose`);
  w.paragraph(mission.passage("outcome_framing"));
  w.paragraph(mission.passage("stakes"));
  w.paragraph(mission.passage("vocabulary_rationale"));
}

export function writeLimits(w: MarkdownWriter, agent: Agent): void {
  const mission = agent.body.map("mission");
  w.heading(2, md`Limits`);
  w.bullets(md`Stay within your part:`, mission.passages("role_boundaries"));
  w.bullets(md`Rules without exception:`, mission.passages("explicit_prohibitions"));
  w.bullets(md`What you cannot know, and say so:`, mission.passages("epistemic_limitations"));
  const nature = agent.interface.map("epistemic_nature");
  const reach = Object.entries(NATURE).map(([key, sentences]) => nature.known(key, sentences));
  w.bullets(md`How far your claims reach:`, reach);
  writeLeftovers(w, nature);
  // The section about failure codes says whether findings must have a code.
  mission.skip("taxonomy_mandate");
  writeLeftovers(w, mission);
}

const NATURE: Readonly<Record<string, Readonly<Record<string, Inline>>>> = {
  verifiability: {
    mechanically_checkable: md`A machine can check them; say how.`,
    expert_judgment: md`They are expert judgment, which no machine can confirm.`,
    not_checkable: md`Nobody can check them; offer them as opinion.`,
  },
  determinism: {
    deterministic: md`The same input always leads to the same result.`,
    stochastic: md`A second run may differ in its details.`,
    environment_dependent: md`The result depends on the environment; name the one you saw.`,
  },
  claim_type: {
    factual: md`You state what is the case.`,
    normative: md`You state what ought to be the case.`,
    observational: md`You report what you observed, without explaining it.`,
  },
};

const WHEN_TIME_RUNS_OUT: Readonly<Record<string, Inline>> = {
  fail: md`When time runs out, stop and report a failure.`,
  warn: md`When time runs out, deliver what you have and warn that it is incomplete.`,
  continue: md`When time runs out, carry on with what you have.`,
};

export function writeSetting(w: MarkdownWriter, agent: Agent): void {
  const context = agent.body.map("context");
  w.heading(2, md`Setting`);
  w.bullet(md`Working directory: ${context.code("working_directory")}`);
  w.bullet(md`Shell: ${context.code("shell")}`);
  writeAssignments(w, md`Environment variable`, context.map("environment"));
  const timeout = context.known("timeout_behavior", WHEN_TIME_RUNS_OUT);
  w.bullet(timeout ?? md`When time runs out: ${context.prose("timeout_behavior")}`);
  w.bullet(md`Model: ${namedModel(agent)}`);
  const tools = listed(hostTools(agent));
  w.bullet(md`You also need ${tools}; the host you run in knows under which tool name.`);
  for (const source of context.entries("data_sources", "name")) writeDataSource(w, source);
  writeLeftovers(w, context);
}

/** Returns the model if the host has no alias for it, because the front matter then lacks the model. */
function namedModel(agent: Agent): Inline | null {
  const defaults = agent.body.map("defaults");
  return modelAlias(defaults.peek("model")) === null ? defaults.code("model") : null;
}

function writeDataSource(w: MarkdownWriter, source: Fields): void {
  w.heading(3, source.prose("name", "id") ?? md`Data source`);
  w.paragraph(source.passage("description"));
  const describeTool = (tool: Fields) =>
    join([tool.code("name"), tool.passage("purpose", "description")], ": ");
  writeEntries(w, source.entries("tools", "name"), describeTool, {
    writeBelow: (tool) => w.bullet(md`Usage: ${tool.snippet("usage")}`),
  });
  for (const entry of source.entries("commands", "command")) {
    const command = entry.text("command");
    const purpose = entry.passage("purpose", "description") ?? md`Command`;
    writeCommand(w, purpose, command, () => writeLeftoverBullets(w, entry));
  }
  writeLeftoverBullets(w, source);
  w.unlessWritten(md`Use it where it helps.`);
}
