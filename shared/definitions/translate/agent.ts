/** Runtime Markdown of agents: a file for `.claude/agents/`. */
import { type Agent, readAgent } from "./agent/agent_source.ts";
import { writeAutomaticFailure } from "./agent/auto_fail.ts";
import { writeCollaboration, writeVoice } from "./agent/collaboration.ts";
import { writeDecision } from "./agent/decision.ts";
import { runtimeTools } from "./agent/front_matter_tools.ts";
import { writeKnowledge } from "./agent/knowledge.ts";
import { writeForecastFrame, writeLens } from "./agent/lens.ts";
import { writeLimits, writeOpening, writePurpose } from "./agent/mission.ts";
import { writeProcedure } from "./agent/procedure.ts";
import { writeAgentReport } from "./agent/report.ts";
import { writeScoring, writeSeverity } from "./agent/scoring.ts";
import { writeSetting } from "./agent/setting.ts";
import { writeSpecialCases } from "./agent/special_cases.ts";
import { writeCompletion, writeTasks, writeUndo } from "./agent/tasks.ts";
import type { Fields } from "./field_reader.ts";
import { md } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source } from "./markdown_file.ts";
import { modelAlias } from "./model_alias.ts";

/** In the order of the text (definition-languages, section 4). */
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

/** What the registry shows beside the text, and what the host reads from its own settings. */
const REGISTRY_KEYS = ["risk_level", "triggers", "domain_profile"] as const;
const HOST_KEYS = ["timeout", "max_tokens", "temperature"] as const;

/** A model that the host has no word for is named in the text. */
function readModel(defaults: Fields | null): string | null {
  const alias = modelAlias(defaults?.peek("model"));
  if (alias !== null) defaults?.skip("model");
  return alias;
}

export function renderAgent(source: Source): string {
  const agent = readAgent(source);
  const defaults = source.body.map("defaults");
  defaults?.skip(...HOST_KEYS);
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
