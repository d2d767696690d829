/** Writes the decision words for scores, and the special cases in which the agent works differently. */
import type { Fields } from "../field_reader.ts";
import { humanize, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { type Inline, join, listed, md, prose, strong } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { scoreRange } from "../phrases.ts";
import { type Agent, categoryTitle } from "./agent_source.ts";

/** The minimum scores of the positive decision and of the middle band. */
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

/** Returns the vocabulary keys that are not used, either as a key or as the key's word. */
export function unusedKeys(vocabulary: Fields, used: ReadonlySet<string | null>): string[] {
  return vocabulary.keys().filter((key) => {
    const word = vocabulary.text(key);
    return !used.has(key) && (word === null || !used.has(word));
  });
}

/** Returns the word for a key such as `positive` or `negative`. A key without a word is its own word. */
function decisionWord(agent: Agent, key: string | null): Inline | null {
  if (key === null) return null;
  return agent.body.map("decisions").map("vocabulary").strong(key) ?? strong(key);
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

/** Returns a row for each band. Without its own word, the middle band counts as negative. */
function presetRows(vocabulary: Fields, bands: readonly [pass: number, middle: number]): (Inline | null)[][] {
  const [pass, middle] = bands;
  const word = (key: string): Inline => vocabulary.strong(key) ?? strong(key) ?? md``;
  const conditional = vocabulary.strong("conditional");
  const positive = [word("positive"), scoreRange(pass, null)];
  if (conditional === null) return [positive, [word("negative"), md`below ${pass}`]];
  return [positive, [conditional, scoreRange(middle, pass - 1)], [word("negative"), md`below ${middle}`]];
}

function writeTracking(w: MarkdownWriter, agent: Agent, decisions: Fields): void {
  const tracking = decisions.map("tracking");
  w.paragraph(tracking.known("category", TRACKING));
  const words = tracking.texts("notify_on").map((key) => decisionWord(agent, key));
  w.paragraph(md`Notify the people concerned when the decision is ${listed(words, "or")}.`);
}

export function writeSpecialCases(w: MarkdownWriter, agent: Agent): void {
  w.heading(2, md`Special cases`);
  for (const [index, edgeCase] of agent.body.entries("edge_cases", "condition").entries()) {
    writeCase(w, agent, { fields: edgeCase, number: index + 1 });
  }
}

function writeCase(
  w: MarkdownWriter,
  agent: Agent,
  { fields, number }: { fields: Fields; number: number },
): void {
  const id = fields.text("id");
  const title = fields.prose("name") ?? (id === null ? null : prose(humanize(id)));
  w.heading(3, title ?? md`Case ${number}`);
  w.paragraph(md`When: ${fields.passage("condition")}`);
  for (const [index, action] of fields.passages("behavior").entries()) w.numbered(index + 1, action);
  w.bullet(md`Severity: ${fields.prose("severity")}`);
  writeScoreAdjustment(w, agent, fields);
  const decision = decisionWord(agent, fields.text("decision_override"));
  w.bullet(md`Decide ${decision}, whatever the score`);
  const wording = fields.text("report_wording");
  if (wording !== null) w.bullet(md`Report it in exactly these words:`, () => w.fence(wording));
  writeLeftoverBullets(w, fields);
}

function writeScoreAdjustment(w: MarkdownWriter, agent: Agent, fields: Fields): void {
  const change = fields.number("score_adjustment");
  const how = change === null ? fields.passage("score_adjustment") : md`by ${change}`;
  if (change !== 0) w.bullet(md`Change the score ${how}`);
  const adjustment = fields.map("score_adjustment");
  w.bullet(md`The score is ${adjustment.number("fixed_score")}`);
  const left = listed(adjustment.texts("exclude_categories").map((id) => categoryTitle(agent, id)));
  const rescale = adjustment.flag("rescale") === true ? md`rescale the others to the full score` : null;
  w.bullet(join([md`Leave ${left} out of the score`, rescale], ", and "));
  const points = adjustment.number("points");
  if (points !== null && points !== 0) w.bullet(md`Change the score by ${points}`);
}
