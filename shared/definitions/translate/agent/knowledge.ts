/** What the agent knows before it begins: terms, standards, what to look for, right and wrong. */
import { scalarText } from "../../../yaml/scalars.ts";
import { isRecord } from "../../../yaml/values.ts";
import type { Fields } from "../field_reader.ts";
import { humanize, writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { given, type Inline, join, md, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { type Agent, agentBlock, categoryTitle } from "./agent_source.ts";

export function writeKnowledge(w: MarkdownWriter, agent: Agent): void {
  const knowledge = agentBlock(agent, "knowledge_base");
  if (!knowledge) return;
  w.heading(2, md`Knowledge`);
  const terms = knowledge.map("key_definitions");
  if (terms) {
    w.table(
      ["Term", "Meaning"],
      terms.keys().map((term) => {
        const meaning = terms.prose(term);
        return [meaning && prose(term), meaning];
      }),
    );
  }
  w.bullets(md`Standards to follow:`, knowledge.passages("global_references"));
  for (const section of knowledge.entries("sections", "what_to_check")) {
    writeTopic(w, agent, section);
  }
  writeTaxonomy(w, agent, knowledge);
  writeLeftovers(w, knowledge);
}

function writeTopic(w: MarkdownWriter, agent: Agent, topic: Fields): void {
  w.heading(3, categoryTitle(agent, topic.text("category_ref")) ?? md`General`);
  w.bullets(md`Check that:`, topic.passages("what_to_check"));
  writePatterns(w, topic);
  for (const sample of topic.entries("red_flags", "description")) writeSample(w, sample, md`Wrong`);
  for (const sample of topic.entries("safe_patterns", "description")) writeSample(w, sample, md`Right`);
  const mistakes = topic.entries("common_mistakes", "mistake");
  if (mistakes.length > 0) w.paragraph(md`Common mistakes, as mistake – why it is one – what to do instead:`);
  for (const mistake of mistakes) {
    const parts = [
      mistake.passage("mistake", "description"),
      mistake.passage("why_wrong", "why"),
      given(mistake.passage("correct_approach", "instead"), (text) => md`instead: ${text}`),
    ];
    w.bullet(join(parts, " – "), () => writeLeftoverBullets(w, mistake));
  }
  w.bullets(md`Read more:`, topic.passages("references"));
  writeLeftoverBullets(w, topic);
}

function writePatterns(w: MarkdownWriter, topic: Fields): void {
  const patterns = topic.entries("detection_patterns", "pattern");
  if (patterns.length > 0) w.paragraph(md`Patterns that give it away:`);
  for (const pattern of patterns) {
    const severity = given(pattern.prose("severity"), (text) => md`(${text})`);
    const named = pattern.passage("description", "name");
    w.bullet(join([pattern.code("pattern", "regex"), severity, named], " "), () =>
      writeLeftoverBullets(w, pattern),
    );
  }
}

/** A sample of code under a line that says whether to imitate or to report it. */
function writeSample(w: MarkdownWriter, sample: Fields, verdict: Inline): void {
  const severity = given(sample.prose("severity"), (text) => md` (${text})`) ?? md``;
  const language = scalarText(sample.raw("language")) ?? "";
  const description = sample.passage("description", "name");
  w.paragraph(
    description === null ? md`**${verdict}**${severity}:` : md`**${verdict}**${severity}: ${description}`,
  );
  const text = sample.firstText("code", "example");
  if (text !== null) w.fence(text, language);
  w.paragraph(given(sample.passage("why", "explanation"), (why) => md`Why: ${why}`));
}

function writeTaxonomy(w: MarkdownWriter, agent: Agent, knowledge: Fields): void {
  w.heading(3, md`Taxonomy`);
  writeRecords(w, knowledge, "domain_taxonomy");
  w.heading(3, md`Failure codes`);
  const codes = knowledge.peek("failure_code_examples");
  const hasCodes = typeof codes === "object" && codes !== null && Object.keys(codes).length > 0;
  if (hasCodes && agent.body.map("mission")?.flag("taxonomy_mandate") !== false) {
    w.paragraph(md`Give every finding the code that describes it best.`);
  }
  writeRecords(w, knowledge, "failure_code_examples");
}

const MAX_COLUMNS = 6;

/**
 * Writes a map of scalars as names and meanings, a list of flat maps as one row each. Anything else is left unread,
 * for the generic section.
 */
function writeRecords(w: MarkdownWriter, fields: Fields, key: string): void {
  const value = fields.peek(key);
  const records = Array.isArray(value) ? value : [];
  const columns = [...new Set(records.flatMap((record) => (isRecord(record) ? Object.keys(record) : [])))];
  if (records.length > 0 && records.every(isFlat) && columns.length <= MAX_COLUMNS) {
    fields.skip(key);
    w.table(
      columns.map((column) => prose(humanize(column)) ?? ""),
      records.map((record) => columns.map((column) => cell(record, column))),
    );
  } else if (isFlat(value)) {
    fields.skip(key);
    w.table(
      ["Name", "Meaning"],
      Object.keys(value).map((name) => [prose(name), cell(value, name)]),
    );
  }
}

function isFlat(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.values(value).every((item) => item === null || typeof item !== "object");
}

function cell(record: Record<string, unknown>, key: string): Inline | null {
  const text = Object.hasOwn(record, key) ? scalarText(record[key]) : null;
  return text === null ? null : prose(text);
}
