/** From a score to a word. */
import type { Fields } from "../field_reader.ts";
import { humanize, writeEntries } from "../generic_section.ts";
import { given, type Inline, join, listed, md, prose, strong } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { scoreRange } from "../phrases.ts";
import type { Agent } from "./agent_source.ts";

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

export function writeDecision(w: MarkdownWriter, decisions: Fields, agent: Agent): void {
  const rows = bandRows(agent, decisions);
  if (rows.length > 0) w.paragraph(md`Decide with exactly one of these words:`);
  w.table(["Word", "Score", "Meaning"], rows);
  writeTracking(w, agent, decisions);
  writeEntries(w, decisions.entries("criteria", "condition"), (criterion) => {
    const word = decisionWord(agent, criterion.text("decision"));
    const text = criterion.passage("condition", "description");
    return join([word, text, criterion.passage("label")], " – ");
  });
  for (const text of decisions.passages("guidance")) w.paragraph(text);
}

/** The keys of a vocabulary that are not used, neither by themselves nor by their words. */
export function unusedKeys(vocabulary: Fields | null, used: ReadonlySet<string | null>): string[] {
  if (vocabulary === null) return [];
  return vocabulary.keys().filter((key) => {
    const word = vocabulary.text(key);
    return !used.has(key) && (word === null || !used.has(word));
  });
}

/** The word for `positive`, `negative` and the like; another key stands for itself. */
export function decisionWord(agent: Agent, key: string | null): Inline | null {
  if (key === null) return null;
  return agent.body.map("decisions")?.map("vocabulary")?.strong(key) ?? strong(key);
}

function bandRows(agent: Agent, decisions: Fields): (Inline | null)[][] {
  const thresholds = decisions.entries("thresholds", "decision");
  const bands = thresholds.length === 0 ? decisions.known("preset", PRESETS) : null;
  if (bands) return presetRows(decisions.map("vocabulary"), bands);
  const vocabulary = decisions.map("vocabulary");
  const used = new Set<string | null>();
  const rows = thresholds.map((threshold) => {
    const decision = threshold.text("decision");
    used.add(decision);
    const range = scoreRange(threshold.number("min_score"), threshold.number("max_score"));
    return [decisionWord(agent, decision), range, threshold.prose("label", "description")];
  });
  const others = unusedKeys(vocabulary, used).map((key) => [
    decisionWord(agent, key),
    null,
    prose(humanize(key)),
  ]);
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
  w.paragraph(tracking.known("category", TRACKING));
  const words = listed(
    tracking.texts("notify_on").map((key) => decisionWord(agent, key)),
    "or",
  );
  w.paragraph(given(words, (decision) => md`Notify the people concerned when the decision is ${decision}.`));
}
