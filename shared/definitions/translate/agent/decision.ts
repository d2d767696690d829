/** From a score to a word. */
import type { Fields } from "../field_reader.ts";
import { humanize, writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { given, type Inline, join, listed, md, prose, strong } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { scoreRange } from "../measures.ts";
import { type Agent, agentBlock } from "./agent_source.ts";

/** Lowest scores of the upper and the middle band (definition-languages, section 1). */
const PRESETS: Readonly<Record<string, readonly [pass: number, middle: number]>> = {
  low_risk: [60, 40],
  quality_gate: [70, 50],
  high_stakes: [80, 60],
  security: [85, 70],
  critical: [90, 80],
};

const TRACKING: Readonly<Record<string, Inline>> = {
  gate: md`The decision is a gate: work goes on or stops.`,
  safety: md`The decision is about safety: in doubt, choose the stricter word.`,
  advisory: md`The decision is advice: nobody is held up by it.`,
};

export function writeDecision(w: MarkdownWriter, agent: Agent): void {
  const decisions = agentBlock(agent, "decisions");
  if (!decisions) return;
  w.heading(2, md`Decision`);
  const rows = bandRows(agent, decisions);
  if (rows.length > 0) w.paragraph(md`Decide with exactly one of these words:`);
  w.table(["Word", "Score", "Meaning"], rows);
  writeTracking(w, agent, decisions);
  for (const criterion of decisions.entries("criteria", "condition")) {
    const word = decisionWord(agent, criterion.text("decision"));
    const text = criterion.passage("condition", "description");
    w.bullet(join([word, text, criterion.passage("label")], " – "), () => writeLeftoverBullets(w, criterion));
  }
  for (const text of decisions.passages("guidance")) w.paragraph(text);
  writeLeftovers(w, decisions);
}

/** The word for `positive`, `negative` and the like; another key stands for itself. */
export function decisionWord(agent: Agent, key: string | null): Inline | null {
  if (key === null) return null;
  return agentBlock(agent, "decisions")?.map("vocabulary")?.strong(key) ?? strong(key);
}

function bandRows(agent: Agent, decisions: Fields): (Inline | null)[][] {
  const thresholds = decisions.entries("thresholds", "decision");
  const preset = decisions.peek("preset");
  const bands = typeof preset === "string" && Object.hasOwn(PRESETS, preset) ? PRESETS[preset] : undefined;
  if (thresholds.length === 0 && bands) {
    decisions.skip("preset");
    return presetRows(decisions.map("vocabulary"), bands);
  }
  const words = new Map((decisions.map("vocabulary")?.keys() ?? []).map((key) => [key, true]));
  const rows = thresholds.map((threshold) => {
    const decision = threshold.text("decision");
    words.delete(decision ?? "");
    const range = scoreRange(threshold.number("min_score"), threshold.number("max_score"));
    return [decisionWord(agent, decision), range, threshold.prose("label", "description")];
  });
  const others = [...words.keys()].map((key) => [decisionWord(agent, key), null, prose(humanize(key))]);
  return [...rows, ...others];
}

/** Without a word of its own the middle band counts as negative. */
function presetRows(
  vocabulary: Fields | null,
  bands: readonly [pass: number, middle: number],
): (Inline | null)[][] {
  const [pass, middle] = bands;
  const word = (key: string): Inline => vocabulary?.strong(key) ?? strong(key) ?? md``;
  const conditional = vocabulary?.strong("conditional") ?? null;
  const positive = [word("positive"), scoreRange(pass, null)];
  if (conditional === null) return [positive, [word("negative"), md`below ${pass}`]];
  return [positive, [conditional, scoreRange(middle, pass - 1)], [word("negative"), md`below ${middle}`]];
}

function writeTracking(w: MarkdownWriter, agent: Agent, decisions: Fields): void {
  const tracking = decisions.map("tracking");
  if (!tracking) return;
  const category = tracking.peek("category");
  if (typeof category === "string" && Object.hasOwn(TRACKING, category)) {
    tracking.skip("category");
    w.paragraph(TRACKING[category] ?? null);
  }
  const words = listed(
    tracking.texts("notify_on").map((key) => decisionWord(agent, key)),
    "or",
  );
  w.paragraph(given(words, (decision) => md`Notify the people concerned when the decision is ${decision}.`));
}
