/** How a workflow's phases become one result, and what is written down. */
import { scalarText } from "../../../yaml/scalars.ts";
import { readChecks, writeChecks } from "../checks.ts";
import type { Fields } from "../field_reader.ts";
import { writeEntries, writeOutcomes } from "../generic_section.ts";
import { given, type Inline, join, md, type Prose, prose, strong } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import type { Workflow } from "./order.ts";

const METHODS: Readonly<Record<string, Inline>> = {
  min: md`The score is the lowest of the phases' scores.`,
  max: md`The score is the highest of the phases' scores.`,
  average: md`The score is the average of the phases' scores.`,
  weighted_average: md`The score is the weighted average of the phases' scores.`,
};

export function writeResult(w: MarkdownWriter, aggregation: Fields, { phases }: Workflow): void {
  const score = aggregation.map("score");
  if (score) writeScore(w, score, phases);
  const decision = aggregation.map("decision");
  if (decision) {
    w.table(
      ["Decision", "When"],
      decision.keys().map((word) => {
        const when = decision.code(word);
        return [when && strong(word), when];
      }),
    );
  }
}

function writeScore(w: MarkdownWriter, score: Fields, phases: Workflow["phases"]): void {
  const skipped = score.flag("skip_missing");
  const method =
    score.known("method", METHODS) ?? given(score.prose("method"), (text) => md`Method of scoring: ${text}.`);
  const missing =
    skipped === null ? null : skipped ? md`Skipped phases do not count.` : md`A skipped phase counts as 0.`;
  w.paragraph(join([method, missing], " "));
  const weights = score.map("weights");
  if (!weights) return;
  const titles = new Map(phases.map(({ fields, title }) => [scalarText(fields.peek("id")), title]));
  w.table(
    ["Phase", "Weight"],
    weights.keys().map((id) => {
      const weight = weights.number(id);
      return weight === null ? [] : [titles.get(id) ?? prose(id), md`${percentage(weight)} %`];
    }),
  );
}

/** 0.07 is 7 and not 7.000000000000001. */
function percentage(weight: number): number {
  return Number((weight * 100).toFixed(2));
}

export function writeOutputs(w: MarkdownWriter, outputs: Fields): void {
  writeEntries(w, outputs.entries("artifacts", "path"), describeArtifact);
  writeEntries(w, outputs.entries("variables", "name"), describeVariable);
  const tracking = outputs.map("tracking");
  if (tracking?.flag("enabled") === false) tracking.discard();
  else if (tracking?.flag("enabled") === null)
    w.bullet(given(tracking.code("variant"), (name) => md`Save the result by way of ${name}`));
  else w.bullet(tracking ? md`Save the result in the tracker` : null);
  writeVerification(w, outputs);
}

function describeArtifact(artifact: Fields): Prose | null {
  const type = given(artifact.prose("type"), (text) => md`(${text})`);
  const path = given(artifact.code("path"), (text) => md`to ${text}`);
  return join([artifact.code("id", "name"), type, path], " ");
}

function describeVariable(variable: Fields): Prose | null {
  const text = join([variable.code("name"), variable.snippet("source")], " is ");
  return given(text, (known) => md`The variable ${known}`);
}

function writeVerification(w: MarkdownWriter, outputs: Fields): void {
  const verification = outputs.map("verification");
  const checks = verification ? readChecks(verification, "post_save") : [];
  if (checks.length > 0) w.paragraph(md`When everything is saved:`);
  writeChecks(w, checks);
}

export function writeOutcome(w: MarkdownWriter, postflight: Fields): void {
  writeOutcomes(w, postflight, postflight.keys());
}
