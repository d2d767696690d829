/** What a workflow checks and finds out before its first phase. */
import { readChecks, readClause, writeChecks } from "../checks.ts";
import type { Fields } from "../field_reader.ts";
import { humanize, writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { code, given, type Inline, join, md, type Prose, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";

export function writeWorkflowPreflight(w: MarkdownWriter, body: Fields): void {
  w.heading(2, md`Before you start`);
  if (Array.isArray(body.peek("preflight"))) {
    writeChecks(w, readChecks(body, "preflight"));
    return;
  }
  const preflight = body.map("preflight");
  if (!preflight) return;
  writeChecks(w, readChecks(preflight, "checks"));
  const extractions = preflight.entries("extraction", "id");
  if (extractions.length > 0) w.paragraph(md`Then find out:`);
  for (const extraction of extractions) writeExtraction(w, extraction);
  writeLeftovers(w, preflight);
}

/** Where a value is taken from, by the word in `type`. */
const EXTRACTIONS: Readonly<Record<string, (extraction: Fields) => Prose | null>> = {
  command: (extraction) => given(extraction.snippet("command"), (command) => md`the output of ${command}`),
  env_var: (extraction) =>
    given(extraction.code("name", "env"), (name) => md`the environment variable ${name}`),
  json_field: (extraction) => describeField(extraction, md`JSON`),
  yaml_field: (extraction) => describeField(extraction, md`YAML`),
};

function describeField(extraction: Fields, format: Inline): Inline | null {
  const file = given(extraction.code("path"), (path) => md` of ${path}`) ?? md``;
  return given(extraction.code("field"), (field) => md`the ${format} field ${field}${file}`);
}

function writeExtraction(w: MarkdownWriter, extraction: Fields): void {
  const type = extraction.text("type") ?? "";
  const name = extraction.code("store_as", "id");
  if (extraction.peek("store_as") === extraction.peek("id")) extraction.skip("id");
  const value = Object.hasOwn(EXTRACTIONS, type) ? EXTRACTIONS[type]?.(extraction) : prose(humanize(type));
  w.bullet(join([name, value ?? null], ": "), () => writeLeftoverBullets(w, extraction));
}

export function writeContext(w: MarkdownWriter, body: Fields): void {
  const context = body.map("context");
  if (!context) return;
  w.heading(2, md`Look around first`);
  for (const [index, detector] of readChecks(context, "detectors").entries()) {
    writeDetector(w, detector, index + 1);
  }
  const variables = context.entries("variables", "name");
  if (variables.length > 0) w.paragraph(md`Then set these variables:`);
  for (const variable of variables) {
    const fallback =
      given(variable.literal("default"), (value) => md`, or ${value} when that is unknown`) ?? md``;
    const text = join([contextName(variable.text("name")), variable.snippet("source")], " is ");
    w.bullet(
      given(text, (known) => md`${known}${fallback}`),
      () => writeLeftoverBullets(w, variable),
    );
  }
  writeLeftovers(w, context);
}

function writeDetector(w: MarkdownWriter, detector: Fields, number: number): void {
  const id = detector.text("id") ?? `detector_${number}`;
  const { text, script } = readClause(detector);
  const name = contextName(id) ?? md`The context`;
  w.bullet(md`${name} is true when ${text}.`, () => {
    if (script !== null) w.fence(script, "sh");
    writeLeftoverBullets(w, detector);
  });
}

function contextName(id: string | null): Inline | null {
  return id === null ? null : code(`context.${id.trim()}`);
}
