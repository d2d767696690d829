/** In which order the phases of a workflow run. */
import { scalarText } from "../../../yaml/scalars.ts";
import { type Ordered, writeLevels } from "../dependency_levels.ts";
import type { Fields } from "../field_reader.ts";
import { writeEntries } from "../generic_section.ts";
import { given, type Inline, join, listed, md, prose } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration, plural } from "../phrases.ts";

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
  if (mode?.flag("prompt") === true) {
    w.bullet(md`Ask first whether to run the phases one after the other or in parallel.`);
  }
  w.bullet(
    mode?.known("default", MODES) ?? given(mode?.prose("default") ?? null, (text) => md`Mode: ${text}`),
  );
  w.bullet(
    orchestration.known("on_failure", ON_FAILURE) ??
      given(orchestration.prose("on_failure"), (text) => md`If a phase fails: ${text}`),
  );
  w.bullet(
    given(
      orchestration.number("max_parallel"),
      (count) => md`Run ${plural(count, "phase")} at a time at most.`,
    ),
  );
  w.bullet(given(orchestration.number("timeout"), (ms) => md`Time limit for all phases: ${duration(ms)}`));
  const titles = new Map(phases.map(({ fields, title }) => [scalarText(fields.peek("id")), title]));
  writeEntries(w, mode?.entries("parallel_groups", "number") ?? [], (group) => {
    const number = given(group.prose("number", "id", "name"), (text) => md`Group ${text}`) ?? md`Group`;
    const kind = given(group.prose("mode"), (text) => md`(${text})`);
    const members = listed(group.texts("phases").map((id) => titles.get(id) ?? prose(id)));
    return join([join([number, kind], " "), members], ": ");
  });
}
