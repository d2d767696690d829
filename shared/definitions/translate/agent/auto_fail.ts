/** What fails the whole, whatever the score. */
import type { Fields } from "../field_reader.ts";
import { writeCommand, writeEntries } from "../generic_section.ts";
import { given, type Inline, join, md, type Prose, sentence } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { type Agent, categoryTitle } from "./agent_source.ts";

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
      w.bullet(given(category, (name) => md`Counts against: ${name}`));
      w.bullet(given(condition.passage("remediation"), (text) => md`Remedy: ${sentence(text)}`));
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
  w.bullet(given(condition.passage("detection"), (text) => md`Found by: ${text}`));
  const detection = condition.map("detection");
  if (!detection) return;
  const how = detection.known("method", DETECTION);
  const lead = how ?? detection.prose("method") ?? md`Found by`;
  const description = detection.passage("description");
  const patterns = join([...detection.codes("patterns"), detection.code("pattern")], ", ");
  const what = join([description, patterns], ": ");
  if (what !== null || how !== null) w.bullet(what === null ? lead : md`${lead}: ${what}`);
  const command = detection.text("command");
  if (command !== null) writeCommand(w, md`Detect with`, command);
}
