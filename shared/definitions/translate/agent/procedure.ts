/** Writes the agent's procedure: reasoning steps, phases with their steps, and a final check. */
import type { Fields } from "../field_reader.ts";
import { writeCommand, writeLeftoverBullets } from "../generic_section.ts";
import { join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration } from "../phrases.ts";

export function writeProcedure(w: MarkdownWriter, process: Fields): void {
  w.paragraph(process.passage("description"));
  writeScaffolding(w, process.map("reasoning_scaffolding"));
  for (const [index, phase] of process.entries("phases", "name").entries()) writePhase(w, phase, index + 1);
  w.heading(3, md`Before you decide`);
  for (const item of process.passages("pre_decision_checklist")) w.checkbox(item);
}

function writeScaffolding(w: MarkdownWriter, scaffolding: Fields): void {
  w.paragraph(scaffolding.passage("description"));
  for (const key of ["steps", "passes"]) {
    for (const [index, pass] of scaffolding.entries(key, "name").entries()) {
      pass.skip("id");
      const name = pass.strong("name") ?? pass.strong("id");
      const text = join([name, pass.passage("question", "description", "instruction")], ": ");
      w.numbered(index + 1, text, () => {
        w.bullet(md`Result: ${pass.passage("output")}`);
        writeLeftoverBullets(w, pass);
      });
    }
  }
}

function writePhase(w: MarkdownWriter, phase: Fields, number: number): void {
  const title = phase.prose("name") ?? phase.prose("id") ?? md`Phase`;
  phase.skip("id");
  w.heading(3, md`${number}. ${title}`);
  w.paragraph(phase.passage("description"));
  w.paragraph(phase.passage("instructions"));
  for (const [index, step] of phase.entries("steps", "action").entries()) writeStep(w, step, index + 1);
  writeLeftoverBullets(w, phase);
  w.unlessWritten(md`Do what the name of this phase says.`);
}

function writeStep(w: MarkdownWriter, step: Fields, number: number): void {
  step.skip("id");
  const action = step.passage("action", "name", "description") ?? md`Continue`;
  const tool = md`(${step.prose("tool")})`;
  w.numbered(number, join([action, tool], " "), () => {
    const command = step.text("command");
    if (command !== null) writeCommand(w, md`Command`, command);
    w.bullet(md`Only if: ${step.passage("condition")}`);
    w.bullet(md`If that is not possible: ${step.passage("fallback")}`);
    w.bullet(md`Remember the result as ${step.code("output_variable")}`);
    w.bullet(md`Time limit: ${duration(step.number("timeout"))}`);
    writeLeftoverBullets(w, step);
  });
}
