/** What happens before a command runs, how it runs, and how often. */
import { readChecks, writeChecks } from "../checks.ts";
import { Fields } from "../field_reader.ts";
import { writeLeftovers } from "../generic_section.ts";
import { given, type Inline, listed, md } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration, plural, retries } from "../phrases.ts";
import { readReference } from "../reference.ts";
import { TranslationFailure } from "../translation_failure.ts";

export function writeCommandPreflight(w: MarkdownWriter, preflight: Fields): void {
  const banner = preflight.map("banner")?.text("template") ?? preflight.text("banner");
  if (banner !== null) {
    w.paragraph(md`Begin by showing this:`);
    w.fence(banner);
  }
  writeChecks(w, readChecks(preflight, "checks"));
}

/** Types of commands that call an agent; the last three are from before version 2. */
const AGENT_COMMANDS = new Set(["agent", "validator", "executor", "fixer"]);

/** Fails with `missing_invokes` or `bad_reference`. */
export function writeRun(w: MarkdownWriter, source: Source): void {
  const { body } = source;
  const agents = readAgents(source);
  w.heading(2, md`Run`);
  const names = listed(agents);
  const kind = agents.length === 1 ? md`agent` : md`agents`;
  w.paragraph(
    names === null
      ? md`There is no agent to call: do the steps of this page yourself.`
      : md`Give the work to the ${kind} ${names}.`,
  );
  const execution = body.map("execution");
  if (execution) writeExecution(w, execution);
  const overrides = body.map("overrides");
  if (overrides) writeOverrides(w, overrides);
  for (const block of [body.map("invokes"), execution, overrides]) if (block) writeLeftovers(w, block);
}

function readAgents({ body, interface: header }: Source): Inline[] {
  const invokes = body.map("invokes") ?? new Fields({}, "command.invokes");
  const type = header.text("commandType");
  const single = invokes.raw("agent") ?? null;
  const several = invokes.list("agents");
  const agents = [
    ...(single === null ? [] : [readReference(single, "command.invokes.agent")]),
    ...several.map((agent, index) => readReference(agent, `command.invokes.agents[${index}]`)),
  ];
  const needsAgent = type === null ? body.peek("invokes") !== undefined : AGENT_COMMANDS.has(type);
  if (needsAgent && agents.length === 0) {
    throw new TranslationFailure(
      "missing_invokes",
      "command.invokes.agent",
      "The command names no agent to call",
    );
  }
  return agents;
}

function writeExecution(w: MarkdownWriter, execution: Fields): void {
  const model = execution.map("model");
  const name = model?.code("default") ?? execution.code("model");
  w.bullet(given(name, (text) => md`Model: ${text}`));
  w.bullet(given(listed(model?.codes("allowed") ?? []), (names) => md`Allowed models: ${names}`));
  w.bullet(given(execution.number("timeout"), (ms) => md`Time limit: ${duration(ms)}`));
  w.bullet(retries(execution.number("max_retries"), () => execution.number("retry_delay")));
}

function writeOverrides(w: MarkdownWriter, overrides: Fields): void {
  w.bullet(given(overrides.number("threshold"), (score) => md`Here a score of ${score} or more passes`));
  w.bullet(given(overrides.number("timeout"), (ms) => md`Here the time limit is ${duration(ms)}`));
  w.bullet(given(overrides.number("temperature"), (value) => md`Temperature: ${value}`));
}

export function writeRepeat(w: MarkdownWriter, iteration: Fields): void {
  const target = iteration.raw("target_agent") ?? null;
  const agent = target === null ? null : readReference(target, "command.iteration.target_agent");
  w.bullet(
    given(iteration.number("exit_threshold"), (score) => md`Repeat until the score is ${score} or more`),
  );
  w.bullet(given(iteration.number("max_attempts"), (count) => md`Make ${plural(count, "attempt")} at most`));
  w.bullet(given(agent, (name) => md`In each round, call the agent ${name}`));
  if (iteration.flag("fix_patterns") === true) {
    w.bullet(md`Between rounds, fix what was found, and the same fault wherever else it occurs`);
  }
}
