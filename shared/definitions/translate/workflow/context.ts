/** What a workflow checks and finds out before its first phase. */
import { readChecks, readClause, writeChecks } from "../checks.ts";
import type { Fields } from "../field_reader.ts";
import { humanize, writeEntries, writeLeftoverBullets } from "../generic_section.ts";
import { code, given, type Inline, join, md, type Prose, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";

export function writeWorkflowPreflight(w: MarkdownWriter, preflight: Fields): void {
  writeChecks(w, readChecks(preflight, "checks"));
  writeEntries(w, preflight.entries("extraction", "id"), describeExtraction, { lead: md`Then find out:` });
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

function describeExtraction(extraction: Fields): Prose | null {
  const name = extraction.code("store_as", "id");
  if (extraction.peek("store_as") === extraction.peek("id")) extraction.skip("id");
  const describe = extraction.known("type", EXTRACTIONS);
  const value = describe ? describe(extraction) : prose(humanize(extraction.text("type") ?? ""));
  return join([name, value], ": ");
}

export function writeContext(w: MarkdownWriter, context: Fields): void {
  for (const [index, detector] of readChecks(context, "detectors").entries()) {
    writeDetector(w, detector, index + 1);
  }
  const lead = md`Then set these variables:`;
  writeEntries(w, context.entries("variables", "name"), describeVariable, { lead });
}

function describeVariable(variable: Fields): Prose | null {
  const fallback =
    given(variable.literal("default"), (value) => md`, or ${value} when that is unknown`) ?? md``;
  const text = join([contextName(variable.text("name")), variable.snippet("source")], " is ");
  return given(text, (known) => md`${known}${fallback}`);
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
