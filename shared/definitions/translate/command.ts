/** Runtime Markdown of commands: a file for `.claude/commands/`. */
import { isRecord } from "../../plain_values.ts";
import { scalarText } from "../../yaml/scalars.ts";
import { writePreflightList } from "./checks.ts";
import { writeAfterwards, writeCommandReport, writeRecord } from "./command/afterwards.ts";
import { writeCommandPreflight, writeRepeat, writeRun } from "./command/run.ts";
import type { Fields } from "./field_reader.ts";
import { writeLeftovers } from "./generic_section.ts";
import { code, collapse, given, type Inline, md } from "./inline.ts";
import { block, type MarkdownSection, renderFile, type Source, writeDescription } from "./markdown_file.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { bareModelAlias } from "./model_alias.ts";

const SECTIONS: readonly MarkdownSection[] = [
  writeDescription,
  writeCommandArguments,
  writeInputs,
  writePreflightList,
  block("preflight", md`Before you start`, writeCommandPreflight),
  writeRun,
  block("iteration", md`Repeat`, writeRepeat),
  block("postflight", md`Afterwards`, writeAfterwards),
  block("tracking", md`Record`, writeRecord),
  block("output", md`Report`, writeCommandReport),
];

/** `allowed-tools` is never written: it would let a text from a registry use tools without asking. */
export function renderCommand(source: Source): string {
  const { body } = source;
  const model = body.map("execution")?.map("model")?.peek("default") ?? body.map("execution")?.peek("model");
  const frontMatter = [
    ["description", source.description],
    ["argument-hint", commandArgumentHint(body)],
    ["model", bareModelAlias(model)],
  ] as const;
  return renderFile(source, frontMatter, SECTIONS);
}

/** `<target> [mode]`: what has a default is in brackets; `null` without arguments. */
function commandArgumentHint(body: Fields): string | null {
  const hints = listArguments(body).map(({ name, isOptional }) => (isOptional ? `[${name}]` : `<${name}>`));
  return hints.length === 0 ? null : hints.join(" ");
}

interface Argument {
  name: string;
  isOptional: boolean;
}

/** Inputs that the caller types. */
function listArguments(body: Fields): Argument[] {
  const inputs = body.peek("inputs");
  return (Array.isArray(inputs) ? inputs : []).flatMap((input) => {
    if (!isRecord(input) || input["source"] !== "arg") return [];
    const name = scalarText(input["arg"]) ?? scalarText(input["name"]);
    return name === null ? [] : [{ name: collapse(name), isOptional: (input["default"] ?? null) !== null }];
  });
}

function writeCommandArguments(w: MarkdownWriter, source: Source): void {
  const { body, name } = source;
  const block = body.map("arguments");
  if (!block && listArguments(body).length === 0) return;
  w.heading(2, md`Arguments`);
  w.paragraph(md`The caller typed:`);
  w.paragraph(md`$ARGUMENTS`);
  const examples = (block?.texts("examples") ?? []).map((example) => code(`/${name} ${example.trim()}`));
  w.bullets(md`Examples:`, examples);
  if (block) writeLeftovers(w, block);
}

/** Where a value comes from, by the word in `source`. */
const SOURCES: Readonly<Record<string, (input: Fields) => Inline | null>> = {
  arg: (input) => given(input.code("arg", "name"), (name) => md`argument ${name}`),
  env: (input) => given(input.code("env"), (name) => md`environment variable ${name}`),
  file: (input) => given(input.code("path"), (path) => md`file ${path}`),
  default: () => md`fixed value`,
  previous: (input) => given(input.code("from"), (from) => md`result of ${from}`),
};

function writeInputs(w: MarkdownWriter, { body }: Source): void {
  w.heading(2, md`Inputs`);
  w.table(
    ["Name", "Source", "Default", "Meaning"],
    body
      .entries("inputs", "name")
      .map((input) => [
        input.code("name"),
        input.known("source", SOURCES)?.(input) ?? input.prose("source"),
        input.literal("default", "value"),
        input.prose("description"),
      ]),
  );
}
