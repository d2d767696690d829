/** The way of thinking that the agent borrows, and the frame of its forecasts. */
import type { Fields } from "../field_reader.ts";
import { writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { given, join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { type Agent, agentBlock } from "./agent_source.ts";

export function writeLens(w: MarkdownWriter, agent: Agent): void {
  const lens = agentBlock(agent, "cognitive_lens");
  if (!lens) return;
  w.heading(2, md`Lens`);
  w.paragraph(
    given(lens.prose("thinker", "name", "lens"), (name) => md`Look at the matter as ${name} would.`),
  );
  w.paragraph(lens.passage("description"));
  const axioms = lens.entries("axioms", "axiom");
  if (axioms.length > 0) w.paragraph(md`What follows from its axioms:`);
  for (const axiom of axioms) writeAxiom(w, axiom);
  const signatures = lens.entries("failure_signatures", "signature");
  if (signatures.length > 0) w.paragraph(md`How this view misleads, and what helps:`);
  for (const signature of signatures) {
    w.bullet(describe(signature, "signature", "pattern"), () => {
      w.bullet(given(signature.passage("mitigation"), (text) => md`What helps: ${text}`));
      writeLeftoverBullets(w, signature);
    });
  }
  writeLeftovers(w, lens);
}

function writeAxiom(w: MarkdownWriter, axiom: Fields): void {
  w.bullet(describe(axiom, "axiom", "statement"), () => {
    w.bullet(given(axiom.passage("consequence"), (text) => md`Therefore: ${text}`));
    for (const consequence of axiom.passages("consequences")) {
      w.bullet(given(consequence, (text) => md`Therefore: ${text}`));
    }
    writeLeftoverBullets(w, axiom);
  });
}

/** `**Name**: text`, of what there is. */
function describe(fields: Fields, ...keys: readonly string[]) {
  const name = fields.strong("name");
  const text = fields.passage(...keys, "description", "text");
  return join([name, text], ": ") ?? fields.code("id");
}

export function writeForecastFrame(w: MarkdownWriter, agent: Agent): void {
  const forecast = agentBlock(agent, "forecast");
  if (!forecast) return;
  w.heading(2, md`Forecast frame`);
  w.bullet(given(forecast.prose("actor_type"), (text) => md`Kind of actor: ${text}`));
  w.bullet(given(forecast.prose("time_horizon"), (text) => md`Time horizon: ${text}`));
  w.bullet(given(forecast.passage("propagation_mechanism"), (text) => md`How effects spread: ${text}`));
  w.bullet(given(forecast.passage("prediction_format"), (text) => md`Form of a prediction: ${text}`));
  writeLeftovers(w, forecast);
}
