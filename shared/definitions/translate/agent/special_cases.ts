/** Situations in which the agent departs from its usual way. */
import type { Fields } from "../field_reader.ts";
import { humanize, writeLeftoverBullets } from "../generic_section.ts";
import { given, type Inline, join, listed, md, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { type Agent, categoryTitle } from "./agent_source.ts";
import { decisionWord } from "./decision.ts";

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
  w.heading(
    3,
    fields.prose("name") ?? (id === null ? md`Case ${number}` : (prose(humanize(id)) ?? md`Case ${number}`)),
  );
  w.paragraph(given(fields.passage("condition"), (condition) => md`When: ${condition}`));
  for (const [index, action] of fields.passages("behavior").entries()) w.numbered(index + 1, action);
  w.bullet(given(fields.prose("severity"), (severity) => md`Severity: ${severity}`));
  writeScoreAdjustment(w, agent, fields);
  w.bullet(
    given(
      decisionWord(agent, fields.text("decision_override")),
      (word) => md`Decide ${word}, whatever the score`,
    ),
  );
  const wording = fields.text("report_wording");
  if (wording !== null) w.bullet(md`Report it in exactly these words:`, () => w.fence(wording));
  writeLeftoverBullets(w, fields);
}

function writeScoreAdjustment(w: MarkdownWriter, agent: Agent, fields: Fields): void {
  const change = fields.number("score_adjustment");
  const how = change === null ? fields.passage("score_adjustment") : md`by ${change}`;
  if (change !== 0) w.bullet(given(how, (text) => md`Change the score ${text}`));
  const adjustment = fields.map("score_adjustment");
  if (!adjustment) return;
  w.bullet(given(adjustment.number("fixed_score"), (score) => md`The score is ${score}`));
  const left = listed(adjustment.texts("exclude_categories").map((id) => categoryTitle(agent, id)));
  const rescale: Inline | null =
    adjustment.flag("rescale") === true ? md`rescale the others to the full score` : null;
  w.bullet(join([given(left, (names) => md`Leave ${names} out of the score`), rescale], ", and ") ?? null);
  writeAdjustmentPoints(w, adjustment);
}

function writeAdjustmentPoints(w: MarkdownWriter, adjustment: Fields): void {
  const points = adjustment.number("points");
  if (points !== null && points !== 0) w.bullet(md`Change the score by ${points}`);
}
