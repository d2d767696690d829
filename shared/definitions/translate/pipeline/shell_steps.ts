/** Commands that a pipeline runs itself. */
import type { Fields } from "../field_reader.ts";
import { writeAssignments, writeLeftoverBullets } from "../generic_section.ts";
import { code, given, join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration, retries } from "../phrases.ts";

export function writeShellSteps(w: MarkdownWriter, steps: readonly Fields[]): void {
  for (const [index, step] of steps.entries()) writeShellStep(w, step, index + 1);
}

function writeShellStep(w: MarkdownWriter, step: Fields, number: number): void {
  step.skip("id");
  const name = step.strong("name") ?? step.strong("description") ?? md`**Step ${number}**`;
  const command = step.text("command") ?? step.text("run");
  const isScript = command?.trim().includes("\n") ?? false;
  const inline = isScript ? null : code(command ?? "");
  w.numbered(number, isScript ? md`${name}:` : join([name, inline], ": "), () => {
    if (isScript && command !== null) w.fence(command, "sh");
    w.bullet(step.passage("description"));
    w.bullet(given(step.code("working_dir"), (path) => md`In the directory ${path}`));
    writeAssignments(w, md`Environment variable`, step.map("env"));
    w.bullet(given(step.number("timeout"), (ms) => md`Time limit: ${duration(ms)}`));
    if (step.flag("always_run") === true) w.bullet(md`Run it even when something before it failed`);
    if (step.flag("continue_on_error") === true) w.bullet(md`Go on when it fails`);
    w.bullet(retries(step.number("retries"), () => step.number("retry_delay")));
    if (step.flag("expect_empty") === true) w.bullet(md`It must print nothing`);
    w.bullet(given(step.code("expect_match"), (pattern) => md`Its output must match ${pattern}`));
    writeLeftoverBullets(w, step);
  });
}
