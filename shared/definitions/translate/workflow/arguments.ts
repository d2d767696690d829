/** What the caller of a workflow gives. */
import { scalarFlag, scalarText } from "../../../yaml/scalars.ts";
import { isRecord } from "../../../yaml/values.ts";
import type { Fields } from "../field_reader.ts";
import { writeEntries } from "../generic_section.ts";
import { code, collapse, given, type Inline, join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { yesNo } from "../phrases.ts";

/** `<target> [--strict boolean]`; `null` without arguments. */
export function workflowArgumentHint(body: Fields): string | null {
  const block = body.map("arguments");
  const hints = [
    ...listMaps(block?.peek("positional")).map(({ name, map }) =>
      isOptional(map) ? `[${name}]` : `<${name}>`,
    ),
    ...listMaps(block?.peek("flags")).map(({ name, map }) => {
      const type = scalarText(map["type"]);
      return type === null ? `[--${name}]` : `[--${name} ${collapse(type)}]`;
    }),
  ];
  return hints.length === 0 ? null : hints.join(" ");
}

function listMaps(value: unknown): { name: string; map: Readonly<Record<string, unknown>> }[] {
  return (Array.isArray(value) ? value : []).flatMap((item) => {
    const map = isRecord(item) ? item : { name: item };
    const name = collapse(scalarText(map["name"]) ?? "");
    return name === "" ? [] : [{ name, map }];
  });
}

function isOptional(map: Readonly<Record<string, unknown>>): boolean {
  return scalarFlag(map["required"]) === false || (map["default"] ?? null) !== null;
}

export function writeWorkflowArguments(w: MarkdownWriter, block: Fields): void {
  const positional = block
    .entries("positional", "name")
    .map((argument) => row(argument, argument.code("name")));
  const flags = block.entries("flags", "name").map((flag) => row(flag, describeFlag(flag)));
  w.table(["Argument", "Type", "Required", "Default", "Meaning"], [...positional, ...flags]);
  const describeDerived = (value: Fields) => join([value.code("name"), value.snippet("source")], " is ");
  writeEntries(w, block.entries("derived", "name"), describeDerived, { lead: md`Worked out from them:` });
  const describeExample = (example: Fields) =>
    join([example.code("command"), example.passage("behavior", "description")], ": ");
  writeEntries(w, block.entries("examples", "command"), describeExample, { lead: md`Examples:` });
}

function row(argument: Fields, name: Inline | null): (Inline | null)[] {
  return [
    name,
    argument.prose("type"),
    yesNo(argument.flag("required")),
    argument.literal("default"),
    argument.prose("description"),
  ];
}

function describeFlag(flag: Fields): Inline | null {
  const name = given(flag.text("name"), (text) => code(`--${text.trim()}`));
  const short = given(flag.text("short"), (text) => code(`-${text.trim().replace(/^-+/, "")}`));
  return join([name, short], ", ");
}
