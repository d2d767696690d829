/** Writes how the agent assigns points, and which conditions fail automatically. */
import type { Fields } from "../field_reader.ts";
import { writeCommand, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { type Inline, join, md, type Prose, sentence } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { plural } from "../phrases.ts";
import { type Agent, categoryTitle } from "./agent_source.ts";

export function writeScoring(w: MarkdownWriter, scoring: Fields): void {
  w.paragraph(md`The score runs from 0 to ${scoring.number("maxScore")}.`);
  const categories = scoring.entries("categories", "name").map((fields, index) => ({
    fields,
    title: fields.prose("name") ?? fields.prose("id") ?? md`Category ${index + 1}`,
    weight: fields.number("weight"),
  }));
  const sum = categories.reduce((total, category) => total + (category.weight ?? 0), 0);
  // Rounded, because 0.4 + 0.3 + 0.2 + 0.1 gives 0.9999999999999999.
  const total = Number(sum.toFixed(10));
  const rows = categories.map(({ title, weight }) => [title, md`${weight}`]);
  w.table(["Category", "Weight"], [...rows, [md`**Total**`, md`**${total}**`]]);
  w.paragraph(scoring.passage("weight_rationale"));
  w.paragraph(scoring.passage("interpretation"));
  for (const { fields, title } of categories) writeCategory(w, fields, title);
  w.heading(3, md`Calibration`);
  writeEntries(w, scoring.entries("calibration_examples", "description"), describeCalibration);
}

function writeCategory(w: MarkdownWriter, category: Fields, title: Inline): void {
  w.heading(3, title);
  category.skip("id");
  w.paragraph(category.passage("description"));
  writeEntries(w, category.entries("criteria", "name"), describeCriterion, {
    writeBelow: (criterion) => {
      writeFailureCode(w, criterion);
      writeVerification(w, criterion);
      w.bullet(md`How to judge: ${criterion.passage("guidance")}`);
      writeEntries(w, criterion.entries("partial_scores", "condition"), describePartialScore);
    },
  });
  writeLeftoverBullets(w, category);
}

function describeCriterion(criterion: Fields): Prose | null {
  const points = plural(criterion.number("points"), "point");
  const name = criterion.strong("name") ?? criterion.strong("id");
  criterion.skip("id");
  return join([points, name, criterion.passage("description")], " – ");
}

function describePartialScore(partial: Fields): Prose | null {
  const score = md`${partial.number("points") ?? partial.number("score")}`;
  const text = join([score, partial.passage("condition", "description")], " – ");
  return md`In part: ${text}`;
}

function writeFailureCode(w: MarkdownWriter, criterion: Fields): void {
  w.bullet(md`Failure code: ${criterion.code("failure_taxonomy")}`);
  const taxonomy = criterion.map("failure_taxonomy");
  const severity = taxonomy.prose("default_severity", "severity");
  const failureCode = taxonomy.code("failure_mode", "code");
  const usual = md`, by default ${severity}` ?? md``;
  w.bullet(md`Failure code: ${failureCode}${usual}` ?? md`Usual severity: ${severity}`);
}

function writeVerification(w: MarkdownWriter, criterion: Fields): void {
  w.bullet(md`How to check: ${criterion.passage("verification")}`);
  const verification = criterion.map("verification");
  const automation = verification.map("automation");
  const tool = md`Check command (${automation.prose("tool")})`;
  const command = automation.text("command") ?? verification.text("command");
  if (tool !== null || command !== null) writeCommand(w, tool ?? md`Check command`, command);
  w.bullet(md`Threshold of the check: ${automation.prose("threshold")}`);
  w.bullet(md`How to judge: ${verification.passage("guidance", "description")}`);
  // A command already shows that the check is automated.
  if (command !== null && verification.peek("method") === "automated") verification.skip("method");
  else w.bullet(md`Kind of check: ${verification.prose("method")}`);
}

function describeCalibration(example: Fields): Prose | null {
  const score = md`**${example.prose("score", "expected_score")}**`;
  const text = example.passage("description", "scenario", "example", "name");
  return join([score, text, example.passage("reasoning", "why", "rationale")], " – ");
}

export function writeSeverity(w: MarkdownWriter, deductions: Fields): void {
  const rows = deductions
    .entries("severity_scale", "level")
    .map((level) => [
      join([level.prose("emoji"), level.prose("level")], " "),
      level.known("points", { auto_fail: md`automatic failure` }) ?? level.prose("points"),
      level.prose("label"),
      level.prose("action"),
    ]);
  w.table(["Level", "Points", "Meaning", "Action"], rows);
}

const DETECTION: Readonly<Record<string, Inline>> = {
  pattern: md`Found by pattern`,
  semantic: md`Found by reading for meaning`,
  tool: md`Found by a tool`,
};

export function writeAutomaticFailure(w: MarkdownWriter, autoFail: Fields, agent: Agent): void {
  if (autoFail.isOff()) return;
  const lead = md`Any of these fails the whole, whatever the score:`;
  writeEntries(w, autoFail.entries("conditions", "name"), describeCondition, {
    lead,
    writeBelow: (condition) => {
      writeDetection(w, condition);
      const category = categoryTitle(agent, condition.text("category_override"));
      w.bullet(md`Counts against: ${category}`);
      w.bullet(md`Remedy: ${sentence(condition.passage("remediation"))}`);
    },
  });
}

function describeCondition(condition: Fields): Prose | null {
  const id = condition.strong("display_id") ?? condition.strong("id");
  // Every automatic failure is critical.
  if (condition.peek("severity") === "critical") condition.skip("severity");
  condition.skip("id");
  return join([id, condition.passage("name", "description", "condition")], " – ");
}

function writeDetection(w: MarkdownWriter, condition: Fields): void {
  w.bullet(md`Found by: ${condition.passage("detection")}`);
  const detection = condition.map("detection");
  const how = detection.known("method", DETECTION) ?? detection.prose("method");
  const description = detection.passage("description");
  const patterns = join([...detection.codes("patterns"), detection.code("pattern")], ", ");
  const what = join([description, patterns], ": ");
  w.bullet(what === null ? how : md`${how ?? md`Found by`}: ${what}`);
  const command = detection.text("command");
  if (command !== null) writeCommand(w, md`Detect with`, command);
}
