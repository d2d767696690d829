/** The way of thinking that the agent borrows, and the frame of its forecasts. */
import type { Fields } from "../field_reader.ts";
import { writeEntries } from "../generic_section.ts";
import { given, join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";

export function writeLens(w: MarkdownWriter, lens: Fields): void {
  w.paragraph(
    given(lens.prose("thinker", "name", "lens"), (name) => md`Look at the matter as ${name} would.`),
  );
  w.paragraph(lens.passage("description"));
  writeEntries(w, lens.entries("axioms", "axiom"), (axiom) => describe(axiom, "axiom", "statement"), {
    lead: md`What follows from its axioms:`,
    writeBelow: (axiom) => {
      for (const consequence of [axiom.passage("consequence"), ...axiom.passages("consequences")])
        w.bullet(given(consequence, (text) => md`Therefore: ${text}`));
    },
  });
  const signatures = lens.entries("failure_signatures", "signature");
  writeEntries(w, signatures, (signature) => describe(signature, "signature", "pattern"), {
    lead: md`How this view misleads, and what helps:`,
    writeBelow: (signature) =>
      w.bullet(given(signature.passage("mitigation"), (text) => md`What helps: ${text}`)),
  });
}

/** `**Name**: text`, of what there is. */
function describe(fields: Fields, ...keys: readonly string[]) {
  const name = fields.strong("name");
  const text = fields.passage(...keys, "description", "text");
  return join([name, text], ": ") ?? fields.code("id");
}

export function writeForecastFrame(w: MarkdownWriter, forecast: Fields): void {
  w.bullet(given(forecast.prose("actor_type"), (text) => md`Kind of actor: ${text}`));
  w.bullet(given(forecast.prose("time_horizon"), (text) => md`Time horizon: ${text}`));
  w.bullet(given(forecast.passage("propagation_mechanism"), (text) => md`How effects spread: ${text}`));
  w.bullet(given(forecast.passage("prediction_format"), (text) => md`Form of a prediction: ${text}`));
}
