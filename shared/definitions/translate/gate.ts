/** Writes gates, whose scores decide how a workflow or pipeline continues. */
import { scalarNumber } from "../../yaml/scalars.ts";
import type { Fields } from "./field_reader.ts";
import { writeLeftoverBullets } from "./generic_section.ts";
import { type Inline, md } from "./inline.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";

const AGGREGATES: Readonly<Record<string, Inline>> = {
  min: md`the lowest score`,
  max: md`the highest score`,
  average: md`the average score`,
  weighted_average: md`the weighted average of the scores`,
  all: md`every single result`,
  any: md`at least one result`,
};

const ACTIONS: Readonly<Record<string, Inline>> = {
  stop: md`stop`,
  abort: md`end the whole run at once`,
  warn: md`warn and go on`,
  skip: md`skip what waits for this and go on`,
  continue: md`go on`,
  skip_remaining: md`skip everything that is left`,
};

/** Writes one bullet for the gate of a phase or stage, with a nested bullet for each outcome. */
export function writeGate(w: MarkdownWriter, step: Fields): void {
  if (!step.hasMap("gate")) return;
  const gate = step.map("gate");
  const threshold = gate.number("threshold");
  const warned = scalarNumber(gate.peek("warn_threshold"));
  // A warning threshold that is not above the threshold has no effect. It stays among the leftovers.
  const warning =
    warned !== null && warned > (threshold ?? Number.NEGATIVE_INFINITY)
      ? gate.number("warn_threshold")
      : null;
  const aggregate = gate.known("aggregate", AGGREGATES) ?? gate.prose("aggregate") ?? md`the score`;
  const action = (key: string) => gate.known(key, ACTIONS) ?? gate.prose(key);
  const lead = md`Gate: ${aggregate} must be ${threshold} or more` ?? md`Gate: ${aggregate} must pass`;
  w.bullet(lead, () => {
    const otherwise = md`Below ${threshold}` ?? md`Otherwise`;
    w.bullet(md`${otherwise}: ${action("on_fail") ?? action("on_failure")}`);
    // Without a warning threshold, `on_warn` stays among the leftovers.
    if (warning !== null) {
      const from = md`From ${threshold}, but below` ?? md`Below`;
      w.bullet(md`${from} ${warning}: ${action("on_warn") ?? md`warn and go on`}`);
    }
    w.bullet(md`When it is passed: ${action("on_success")}`);
    writeLeftoverBullets(w, gate);
  });
}
