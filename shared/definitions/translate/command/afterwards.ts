/** What happens after a command has run: steps, outcomes, saving and reporting. */
import type { Fields } from "../field_reader.ts";
import { writeLeftoverBullets, writeOutcomes } from "../generic_section.ts";
import { code, given, type Inline, md, sentence } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";

export function writeAfterwards(w: MarkdownWriter, postflight: Fields): void {
  for (const [index, step] of postflight.entries("steps", "action").entries()) writeStep(w, step, index + 1);
  const outcomes = postflight.keys().filter((key) => key.startsWith("on_"));
  writeOutcomes(w, postflight, outcomes);
}

const ACTIONS: Readonly<Record<string, Inline>> = {
  persist_to_tracker: md`Save the result in the tracker`,
  verify_saved: md`Check that the result was saved`,
  present_summary: md`Show the summary`,
};

const FAILURES: Readonly<Record<string, Inline>> = {
  block: md`stop`,
  warn: md`warn and go on`,
  ignore: md`go on`,
};

function writeStep(w: MarkdownWriter, step: Fields, number: number): void {
  const action = step.text("action") ?? "";
  const command = step.text("command");
  const isScript = command?.trim().includes("\n") ?? false;
  const inline = isScript ? md`the command below` : code(command ?? "");
  const known = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : null;
  const run = given(inline, (text) => md`Run ${text}`);
  const what = known ?? run ?? step.passage("action", "name") ?? md`Continue`;
  const optional = step.flag("required") === false ? md` (optional)` : md``;
  w.numbered(number, md`${what}${optional}.`, () => {
    if (isScript && command !== null) w.fence(command, "sh");
    else if (known && inline !== null) w.bullet(md`Command: ${inline}`);
    w.bullet(given(step.passage("message"), (text) => md`Message: ${text}`));
    const reaction = step.known("on_failure", FAILURES) ?? step.code("on_failure");
    w.bullet(given(reaction, (text) => md`If that fails, ${text}`));
    writeLeftoverBullets(w, step);
  });
}

export function writeRecord(w: MarkdownWriter, tracking: Fields): void {
  if (tracking.flag("enabled") === false || tracking.text("variant") === "none") {
    tracking.discard();
    return;
  }
  const isRequired = tracking.flag("required") === true;
  w.paragraph(
    isRequired
      ? md`Save the result before you show it. What could not be saved is not shown.`
      : md`Save the result, and show it even when saving fails.`,
  );
  w.bullet(given(tracking.code("variant"), (name) => md`Saved by way of: ${name}`));
  w.bullet(given(tracking.code("custom"), (name) => md`Own way of saving: ${name}`));
}

const FORMATS: Readonly<Record<string, Inline>> = {
  structured: md`Answer with structured data.`,
  summary: md`Answer with a short summary.`,
  minimal: md`Answer with the outcome alone.`,
};

export function writeCommandReport(w: MarkdownWriter, output: Fields): void {
  w.paragraph(
    output.known("format", FORMATS) ??
      given(output.prose("format"), (text) => sentence(md`Format of the answer: ${text}`)),
  );
  w.paragraph(given(output.code("schema"), (name) => md`The answer follows the schema ${name}.`));
}
