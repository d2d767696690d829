/** Writes the inputs, steps, results, completion and rollback of an executor or generator. */
import { groupByLevel, type Ordered, readOrdered } from "../dependency_levels.ts";
import type { Fields } from "../field_reader.ts";
import { writeCommand, writeLeftoverBullets } from "../generic_section.ts";
import { type Inline, join, listed, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { retries, yesNo } from "../phrases.ts";
import { unusedKeys } from "./decision.ts";

export function writeTasks(w: MarkdownWriter, tasks: Fields): void {
  const inputs = tasks
    .entries("inputs", "name")
    .map((input) => [
      input.code("id", "name"),
      describeType(input),
      yesNo(input.flag("required")),
      input.literal("default"),
      input.prose("source"),
      describeMeaning(input),
    ]);
  w.table(["Input", "Type", "Required", "Default", "From", "Meaning"], inputs);
  w.heading(2, md`Steps`);
  const steps = readOrdered(tasks.entries("operations", "description"), md`Step`);
  groupByLevel(steps);
  for (const step of steps) writeStep(w, step);
  w.heading(2, md`Results`);
  const outputs = tasks
    .entries("outputs", "name")
    .map((output) => [
      output.code("id", "name"),
      describeType(output),
      output.prose("format"),
      yesNo(output.flag("required")),
      describeMeaning(output),
    ]);
  w.table(["Result", "Type", "Format", "Required", "Meaning"], outputs);
}

/** Returns a type such as `array of path`, or an enum with its values in parentheses. */
function describeType(fields: Fields): Inline | null {
  const type = fields.prose("type");
  const item = md`of ${fields.prose("itemType", "item_type")}`;
  const values = md`(${listed(fields.codes("values"), "or")})`;
  return join([type, item, values], " ");
}

/** Returns the name and the description. A name may say more than the id. */
function describeMeaning(fields: Fields): Inline | null {
  return join([fields.prose("name"), fields.prose("description")], ": ");
}

function writeStep(w: MarkdownWriter, step: Ordered): void {
  const { fields } = step;
  fields.skip("id");
  const name = fields.strong("name");
  const text = join([name, fields.passage("description")], ": ") ?? step.title;
  w.numbered(step.number, text, () => {
    const before = listed(step.after.map((index) => md`${index + 1}`));
    const noun = step.after.length === 1 ? md`step` : md`steps`;
    w.bullet(md`After ${noun} ${before}`);
    w.bullet(md`Only if ${fields.snippet("condition")}`);
    const command = fields.text("command");
    if (command !== null) writeCommand(w, md`Command`, command);
    const retry = fields.map("retry");
    const attempts = retry.number("max_attempts") ?? fields.number("retry");
    w.bullet(retries(attempts, () => retry.number("backoff_ms")));
    if (fields.flag("rollback_on_failure") === true) w.bullet(md`If it fails, undo what was changed`);
    writeLeftoverBullets(w, fields);
  });
}

export function writeCompletion(w: MarkdownWriter, completion: Fields): void {
  const vocabulary = completion.map("vocabulary");
  const words = new Map(vocabulary.keys().map((key) => [key, vocabulary.strong(key)]));
  const criteria = completion.entries("criteria", "condition").map((criterion) => {
    const decision = criterion.text("decision") ?? "";
    const word = words.get(decision) ?? criterion.strong("decision");
    const row = [word, criterion.prose("condition"), criterion.prose("label")];
    return { decision, row };
  });
  const used = new Set(criteria.map(({ decision }) => decision));
  const unused = unusedKeys(vocabulary, used).map((key) => [words.get(key) ?? null]);
  w.paragraph(criteria.length + unused.length > 0 ? md`End with exactly one of these words:` : null);
  w.table(["Word", "When", "Meaning"], [...criteria.map(({ row }) => row), ...unused]);
}

const UNDO: Readonly<Record<string, Inline>> = {
  git_restore: md`If the work fails, restore the files you changed from Git.`,
  git_stash: md`Stash uncommitted changes before you begin, and if the work fails, go back to that state.`,
  backup_restore: md`Back up every file before you change it, and if the work fails, put the backups back.`,
  manual: md`If the work fails, list the steps by which a person can undo what you changed.`,
  none: md`Changes are not undone if the work fails.`,
};

export function writeUndo(w: MarkdownWriter, rollback: Fields): void {
  if (rollback.isOff()) return;
  const how =
    rollback.known("strategy", UNDO) ??
    md`If the work fails, undo it: ${rollback.prose("strategy")}.` ??
    md`If the work fails, undo what you changed.`;
  const logs = rollback.flag("preserve_logs") === true ? md`Keep the logs.` : null;
  w.paragraph(join([how, logs], " "));
}
