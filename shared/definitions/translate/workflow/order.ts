/** In which order the phases of a workflow run. */
import { scalarText } from "../../../yaml/scalars.ts";
import { type Ordered, writeLevels } from "../dependency_levels.ts";
import type { Fields } from "../field_reader.ts";
import { writeLeftoverBullets } from "../generic_section.ts";
import { given, type Inline, join, listed, md, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { duration, plural } from "../measures.ts";

interface Plan {
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

export function writeOrder(w: MarkdownWriter, { orchestration, phases, levels }: Plan): void {
  w.heading(2, md`Order`);
  writeLevels(w, levels);
  const mode = orchestration.map("execution_mode");
  if (mode?.flag("prompt") === true) {
    w.bullet(md`Ask first whether to run the phases one after the other or in parallel.`);
  }
  w.bullet(worded(mode, "default", MODES));
  w.bullet(worded(orchestration, "on_failure", ON_FAILURE));
  w.bullet(
    given(
      orchestration.number("max_parallel"),
      (count) => md`Run ${plural(count, "phase")} at a time at most.`,
    ),
  );
  w.bullet(given(orchestration.number("timeout"), (ms) => md`Time limit for all phases: ${duration(ms)}`));
  const titles = new Map(phases.map(({ fields, title }) => [scalarText(fields.peek("id")), title]));
  for (const group of mode?.entries("parallel_groups", "number") ?? []) {
    const number = given(group.prose("number", "id", "name"), (text) => md`Group ${text}`) ?? md`Group`;
    const kind = given(group.prose("mode"), (text) => md`(${text})`);
    const members = listed(group.texts("phases").map((id) => titles.get(id) ?? prose(id)));
    w.bullet(join([join([number, kind], " "), members], ": "), () => writeLeftoverBullets(w, group));
  }
}

/** The sentence for a known word, or the author's own word. */
function worded(fields: Fields | null, key: string, words: Readonly<Record<string, Inline>>): Inline | null {
  const word = fields?.text(key) ?? null;
  if (fields === null || word === null) return null;
  if (Object.hasOwn(words, word)) return words[word] ?? null;
  return given(fields.prose(key), (text) =>
    key === "on_failure" ? md`If a phase fails: ${text}` : md`Mode: ${text}`,
  );
}
