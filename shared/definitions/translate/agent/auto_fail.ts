/** What fails the whole, whatever the score. */
import type { Fields } from "../field_reader.ts";
import { writeCommand, writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { given, type Inline, join, md, sentence } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { type Agent, agentBlock, categoryTitle } from "./agent_source.ts";

const DETECTION: Readonly<Record<string, Inline>> = {
  pattern: md`Found by pattern`,
  semantic: md`Found by reading for meaning`,
  tool: md`Found by a tool`,
};

export function writeAutomaticFailure(w: MarkdownWriter, agent: Agent): void {
  const autoFail = agentBlock(agent, "auto_fail");
  if (!autoFail) return;
  if (autoFail.flag("enabled") === false) {
    autoFail.discard();
    return;
  }
  w.heading(2, md`Automatic failure`);
  const conditions = autoFail.entries("conditions", "name");
  if (conditions.length > 0) w.paragraph(md`Any of these fails the whole, whatever the score:`);
  for (const condition of conditions) writeCondition(w, condition, agent);
  writeLeftovers(w, autoFail);
}

function writeCondition(w: MarkdownWriter, condition: Fields, agent: Agent): void {
  const id = condition.strong("display_id") ?? condition.strong("id");
  // Every automatic failure is critical.
  if (condition.peek("severity") === "critical") condition.skip("severity");
  condition.skip("id");
  w.bullet(join([id, condition.passage("name", "description", "condition")], " – "), () => {
    writeDetection(w, condition);
    w.bullet(
      given(categoryTitle(agent, condition.text("category_override")), (name) => md`Counts against: ${name}`),
    );
    w.bullet(given(condition.passage("remediation"), (text) => md`Remedy: ${sentence(text)}`));
    writeLeftoverBullets(w, condition);
  });
}

function writeDetection(w: MarkdownWriter, condition: Fields): void {
  w.bullet(given(condition.passage("detection"), (text) => md`Found by: ${text}`));
  const detection = condition.map("detection");
  if (!detection) return;
  const method = detection.peek("method");
  const how = typeof method === "string" && Object.hasOwn(DETECTION, method) ? DETECTION[method] : undefined;
  if (how !== undefined) detection.skip("method");
  const lead = how ?? detection.prose("method") ?? md`Found by`;
  const description = detection.passage("description");
  const patterns = join([...detection.codes("patterns"), detection.code("pattern")], ", ");
  const what = join([description, patterns], ": ");
  if (what !== null || how !== undefined) w.bullet(what === null ? lead : md`${lead}: ${what}`);
  const command = detection.text("command");
  if (command !== null) writeCommand(w, md`Detect with`, command);
}
