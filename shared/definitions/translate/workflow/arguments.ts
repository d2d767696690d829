/** What the caller of a workflow gives. */
import { scalarFlag, scalarText } from "../../../yaml/scalars.ts";
import { isRecord } from "../../../yaml/values.ts";
import type { Fields } from "../field_reader.ts";
import { writeLeftoverBullets, writeLeftovers } from "../generic_section.ts";
import { code, collapse, given, type Inline, join, md } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";
import { yesNo } from "../measures.ts";

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

export function writeWorkflowArguments(w: MarkdownWriter, body: Fields): void {
  const block = body.map("arguments");
  if (!block) return;
  w.heading(2, md`Arguments`);
  const positional = block
    .entries("positional", "name")
    .map((argument) => row(argument, argument.code("name")));
  const flags = block.entries("flags", "name").map((flag) => row(flag, describeFlag(flag)));
  w.table(["Argument", "Type", "Required", "Default", "Meaning"], [...positional, ...flags]);
  writeDerived(w, block);
  const examples = block.entries("examples", "command");
  if (examples.length > 0) w.paragraph(md`Examples:`);
  for (const example of examples) {
    w.bullet(join([example.code("command"), example.passage("behavior", "description")], ": "), () =>
      writeLeftoverBullets(w, example),
    );
  }
  writeLeftovers(w, block);
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

function writeDerived(w: MarkdownWriter, block: Fields): void {
  const derived = block.entries("derived", "name");
  if (derived.length > 0) w.paragraph(md`Worked out from them:`);
  for (const value of derived) {
    w.bullet(join([value.code("name"), value.snippet("source")], " is "), () =>
      writeLeftoverBullets(w, value),
    );
  }
}
