/** Writes the order of a workflow's phases, then each phase. */
import { isRecord } from "../../../plain_values.ts";
import { scalarText } from "../../../yaml/scalars.ts";
import { describeAfter, type Ordered, writeLevels } from "../dependency_levels.ts";
import type { Fields } from "../field_reader.ts";
import { writeGate } from "../gate.ts";
import { writeAssignments, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { type Inline, join, listed, md, prose } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration, plural } from "../phrases.ts";
import { readReference } from "../reference.ts";
import { TranslationFailure } from "../translation_failure.ts";

export interface Workflow extends Source {
  orchestration: Fields;
  phases: readonly Ordered[];
  levels: readonly (readonly Ordered[])[];
}

const ON_FAILURE: Readonly<Record<string, Inline>> = {
  stop: md`If a phase fails, start no other one.`,
  continue: md`If a phase fails, go on with those that do not wait for it.`,
  abort: md`If a phase fails, end the whole run at once.`,
};

const MODES: Readonly<Record<string, Inline>> = {
  sequential: md`Unless told otherwise, run one phase after the other.`,
  parallel: md`Unless told otherwise, run together what may run together.`,
};

export function writePhaseOrder(w: MarkdownWriter, { orchestration, phases, levels }: Workflow): void {
  w.heading(2, md`Order`);
  writeLevels(w, levels);
  const mode = orchestration.map("execution_mode");
  if (mode.flag("prompt") === true) {
    w.bullet(md`Ask first whether to run the phases one after the other or in parallel.`);
  }
  w.bullet(mode.known("default", MODES) ?? md`Mode: ${mode.prose("default")}`);
  w.bullet(
    orchestration.known("on_failure", ON_FAILURE) ??
      md`If a phase fails: ${orchestration.prose("on_failure")}`,
  );
  w.bullet(md`Run ${plural(orchestration.number("max_parallel"), "phase")} at a time at most.`);
  w.bullet(md`Time limit for all phases: ${duration(orchestration.number("timeout"))}`);
  const titles = new Map(phases.map(({ fields, title }) => [scalarText(fields.peek("id")), title]));
  writeEntries(w, mode.entries("parallel_groups", "number"), (group) => {
    const number = md`Group ${group.prose("number", "id", "name")}` ?? md`Group`;
    const kind = md`(${group.prose("mode")})`;
    const members = listed(group.texts("phases").map((id) => titles.get(id) ?? prose(id)));
    return join([join([number, kind], " "), members], ": ");
  });
}

/** Writes the phases. Fails with `empty_phase`, `bad_step` or `bad_reference`. */
export function writePhases(w: MarkdownWriter, { phases }: Workflow): void {
  w.heading(2, md`Phases`);
  for (const phase of phases) writePhase(w, phase, phases);
}

function writePhase(w: MarkdownWriter, phase: Ordered, phases: readonly Ordered[]): void {
  const { fields } = phase;
  const steps = readSteps(fields);
  fields.skip("id");
  w.heading(3, md`${phase.number}. ${phase.title}`);
  w.paragraph(fields.passage("description"));
  for (const [index, step] of steps.entries()) {
    w.numbered(index + 1, step.text, () => step.fields && writeLeftoverBullets(w, step.fields));
  }
  w.bullet(md`After: ${describeAfter(phase, phases)}`);
  w.bullet(md`Only if ${fields.snippet("condition")}`);
  w.bullet(md`Skip it if ${fields.snippet("skip_if")}`);
  w.bullet(md`Kind of phase: ${fields.prose("type")}`);
  w.bullet(md`Group: ${fields.prose("group")}`);
  writeGate(w, fields);
  if (fields.flag("barrier") === true)
    w.bullet(md`Nothing that comes later starts before this phase has ended`);
  writeAssignments(w, md`Input`, fields.map("inputs"));
  w.bullet(md`Time limit: ${duration(fields.number("timeout"))}`);
  w.bullet(md`Focus: ${listed(fields.proses("focus"))}`);
  writeLeftoverBullets(w, fields);
}

/** The maximum length of a reference in a message. */
const MAX_SHOWN = 100;

interface Step {
  text: Inline;
  /** The other fields of the step; null for an entry of `commands`. */
  fields: Fields | null;
}

/** Returns the references of both forms: `steps`, and the older list `commands`. */
function readSteps(phase: Fields): Step[] {
  const steps = phase.peek("steps") ?? [];
  if (!Array.isArray(steps)) {
    throw new TranslationFailure("bad_step", `${phase.path}.steps`, "The steps must be a list");
  }
  for (const [index, step] of steps.entries()) {
    if (!isRecord(step)) throw stepIsNoMap(step, `${phase.path}.steps[${index}]`);
  }
  const named = phase.entries("steps", "step").map((step) => ({ text: readStep(step), fields: step }));
  const commands = phase.list("commands").map((command, index) => {
    const reference = readReference(command, `${phase.path}.commands[${index}]`);
    return { text: md`Run the command ${reference}`, fields: null };
  });
  if (named.length + commands.length === 0) {
    throw new TranslationFailure("empty_phase", phase.path, "The phase has no command and no agent");
  }
  return [...named, ...commands];
}

function readStep(step: Fields): Inline {
  const command = step.raw("command") ?? null;
  const agent = step.raw("agent") ?? null;
  if (command === null && agent === null) {
    const message = 'The step has no "command" and no "agent". Write one of them, as in agent: code-reviewer';
    throw new TranslationFailure("bad_step", step.path, message);
  }
  if (command !== null && agent !== null) {
    const message = 'The step has "command" and "agent". Make two steps of it';
    throw new TranslationFailure("bad_step", step.path, message);
  }
  if (command !== null) return md`Run the command ${readReference(command, `${step.path}.command`)}`;
  return md`Call the agent ${readReference(agent, `${step.path}.agent`)}`;
}

function stepIsNoMap(step: unknown, path: string): TranslationFailure {
  const reference = typeof step === "string" && step.length <= MAX_SHOWN ? step : "code-reviewer";
  const message = `A step must be a map with "command" or "agent". Write { agent: ${JSON.stringify(reference)} }`;
  return new TranslationFailure("bad_step", path, message);
}
