/** Writes the agent's knowledge: terms, standards, what to check, and right and wrong examples. */
import { isRecord } from "../../../plain_values.ts";
import { scalarText } from "../../../yaml/scalars.ts";
import type { Fields } from "../field_reader.ts";
import { humanize, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { type Inline, join, md, type Prose, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { type Agent, categoryTitle } from "./agent_source.ts";

export function writeKnowledge(w: MarkdownWriter, knowledge: Fields, agent: Agent): void {
  const terms = knowledge.map("key_definitions");
  const meanings = terms.keys().map((term) => {
    const meaning = terms.prose(term);
    return [meaning && prose(term), meaning];
  });
  w.table(["Term", "Meaning"], meanings);
  w.bullets(md`Standards to follow:`, knowledge.passages("global_references"));
  for (const section of knowledge.entries("sections", "what_to_check")) {
    writeTopic(w, agent, section);
  }
  writeTaxonomy(w, agent, knowledge);
}

function writeTopic(w: MarkdownWriter, agent: Agent, topic: Fields): void {
  w.heading(3, categoryTitle(agent, topic.text("category_ref")) ?? md`General`);
  w.bullets(md`Check that:`, topic.passages("what_to_check"));
  writeEntries(w, topic.entries("detection_patterns", "pattern"), describePattern, {
    lead: md`Patterns that give it away:`,
  });
  for (const sample of topic.entries("red_flags", "description")) writeSample(w, sample, md`Wrong`);
  for (const sample of topic.entries("safe_patterns", "description")) writeSample(w, sample, md`Right`);
  writeEntries(w, topic.entries("common_mistakes", "mistake"), describeMistake, {
    lead: md`Common mistakes, as mistake – why it is one – what to do instead:`,
  });
  w.bullets(md`Read more:`, topic.passages("references"));
  writeLeftoverBullets(w, topic);
}

function describeMistake(mistake: Fields): Prose | null {
  const parts = [
    mistake.passage("mistake", "description"),
    mistake.passage("why_wrong", "why"),
    md`instead: ${mistake.passage("correct_approach", "instead")}`,
  ];
  return join(parts, " – ");
}

function describePattern(pattern: Fields): Prose | null {
  const severity = md`(${pattern.prose("severity")})`;
  const named = pattern.passage("description", "name");
  return join([pattern.code("pattern", "regex"), severity, named], " ");
}

/** Writes a code sample below a line that says whether the sample is right or wrong. */
function writeSample(w: MarkdownWriter, sample: Fields, verdict: Inline): void {
  const severity = md` (${sample.prose("severity")})` ?? md``;
  const language = scalarText(sample.raw("language")) ?? "";
  const lead = md`**${verdict}**${severity}:`;
  w.paragraph(md`${lead} ${sample.passage("description", "name")}` ?? lead);
  w.fence(sample.text("code", "example"), language);
  w.paragraph(md`Why: ${sample.passage("why", "explanation")}`);
}

function writeTaxonomy(w: MarkdownWriter, agent: Agent, knowledge: Fields): void {
  w.heading(3, md`Taxonomy`);
  writeRecords(w, knowledge, "domain_taxonomy");
  w.heading(3, md`Failure codes`);
  const codes = knowledge.peek("failure_code_examples");
  const hasCodes = typeof codes === "object" && codes !== null && Object.keys(codes).length > 0;
  if (hasCodes && agent.body.map("mission").flag("taxonomy_mandate") !== false) {
    w.paragraph(md`Give every finding the code that describes it best.`);
  }
  writeRecords(w, knowledge, "failure_code_examples");
}

const MAX_COLUMNS = 6;

/**
 * Writes a map of scalars as a table of names and meanings, and a list of flat maps as a table with one row per map. Other
 * values stay unread, for the generic section.
 */
function writeRecords(w: MarkdownWriter, fields: Fields, key: string): void {
  const value = fields.peek(key);
  const records = Array.isArray(value) ? value : [];
  const columns = [...new Set(records.flatMap((record) => (isRecord(record) ? Object.keys(record) : [])))];
  if (records.length > 0 && records.every(isFlat) && columns.length <= MAX_COLUMNS) {
    fields.skip(key);
    const header = columns.map((column) => prose(humanize(column)) ?? "");
    const rows = records.map((record) => columns.map((column) => cell(record, column)));
    w.table(header, rows);
  } else if (isFlat(value)) {
    fields.skip(key);
    const rows = Object.keys(value).map((name) => [prose(name), cell(value, name)]);
    w.table(["Name", "Meaning"], rows);
  }
}

function isFlat(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.values(value).every((item) => item === null || typeof item !== "object");
}

function cell(record: Record<string, unknown>, key: string): Inline | null {
  return prose(Object.hasOwn(record, key) ? scalarText(record[key]) : null);
}
