/** How a pipeline goes back. */
import type { Fields } from "../field_reader.ts";
import { writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { code, given, type Inline, md, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration } from "../phrases.ts";
import { writeShellSteps } from "./shell_steps.ts";

const STRATEGIES: Readonly<Record<string, Inline>> = {
  revert_to_last_success: md`Go back to the last version that succeeded.`,
  revert_to_previous: md`Go back to the version before this one.`,
  custom: md`Go back by the actions below.`,
  none: md`There is no way back: nothing is undone.`,
};

export function writeRollback(w: MarkdownWriter, rollback: Fields): void {
  if (rollback.isOff()) return;
  w.paragraph(
    rollback.known("strategy", STRATEGIES) ??
      given(rollback.prose("strategy"), (text) => md`Way back: ${text}`),
  );
  writeEntries(w, rollback.entries("triggers", "condition"), (trigger) => {
    const condition = md`When ${trigger.code("condition") ?? md`something fails`}`;
    return given(trigger.code("action"), (action) => md`${condition}: ${action}`) ?? condition;
  });
  const actions = rollback.map("actions");
  for (const name of actions?.keys() ?? []) writeAction(w, name, actions?.map(name) ?? null);
}

function writeAction(w: MarkdownWriter, name: string, action: Fields | null): void {
  if (!action) return;
  w.heading(3, given(code(name), (label) => md`Action ${label}`) ?? prose(name) ?? md`Action`);
  if (action.flag("notify") === true) w.bullet(md`Notify the people concerned`);
  w.bullet(given(action.number("timeout"), (ms) => md`Time limit: ${duration(ms)}`));
  writeShellSteps(w, action.entries("steps", "command"));
  writeLeftoverBullets(w, action);
}
