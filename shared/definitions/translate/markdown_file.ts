/** The frame of every rendered definition: front matter, title, sections, and all values that no section handles. */
import { toRecord } from "../../plain_values.ts";
import { titleCase } from "../interface_fields.ts";
import type { DefinitionSource } from "../parse_definition.ts";
import { Fields } from "./field_reader.ts";
import { writeLeftovers, writeUnknownBlock } from "./generic_section.ts";
import { collapse, type Inline, md, prose } from "./inline.ts";
import { MarkdownWriter } from "./markdown_writer.ts";
import { passage } from "./passage.ts";

export type TranslatableDefinition = Pick<DefinitionSource, "type" | "name" | "version" | "body">;

/** A definition with the fields that every type has. */
export interface Source {
  name: string;
  version: string;
  body: Fields;
  interface: Fields;
  description: string;
}

/** Keys of the interface that the registry shows beside the text. */
const REGISTRY_KEYS = ["name", "version", "domain", "subdomain", "tags"] as const;

/** Reads the fields that every type has. The description is empty if it is missing. */
export function readSource({ type, name, version, body: map }: TranslatableDefinition): Source {
  const body = new Fields(toRecord(map), type);
  const block = body.map("interface");
  block.skip(...REGISTRY_KEYS);
  return { name, version, body, interface: block, description: block.text("description") ?? "" };
}

/** Writes a section of the text. */
export type MarkdownSection<Of extends Source = Source> = (w: MarkdownWriter, source: Of) => void;

/** Returns a function that writes a block, if it is a map: its heading, the output of `write`, and its unread fields. */
export function block<Of extends Source>(
  key: string,
  heading: Inline,
  write: (w: MarkdownWriter, block: Fields, source: Of) => void,
): MarkdownSection<Of> {
  return (w, source) => {
    if (!source.body.hasMap(key)) return;
    const fields = source.body.map(key);
    w.heading(2, heading);
    write(w, fields, source);
    writeLeftovers(w, fields);
  };
}

/** Writes the description as the first paragraph. */
export function writeDescription(w: MarkdownWriter, { description }: Source): void {
  w.paragraph(passage(description));
}

/**
 * Renders the file. Null values are omitted from the front matter. `meta` is not rendered, because it contains the author's
 * notes.
 */
export function renderFile<Of extends Source>(
  source: Of,
  frontMatter: readonly (readonly [key: string, value: string | null])[],
  sections: readonly MarkdownSection<Of>[],
): string {
  // JSON strings are also valid YAML. Whitespace is collapsed first, so no value contains a line break.
  const lines = frontMatter.flatMap(([key, value]) =>
    value === null ? [] : [`${key}: ${JSON.stringify(collapse(value))}`],
  );
  const w = new MarkdownWriter();
  w.heading(1, source.interface.prose("displayName") ?? prose(titleCase(source.name)) ?? md`Untitled`);
  for (const writeSection of sections) writeSection(w, source);
  source.body.skip("meta");
  for (const [key, value] of Object.entries(source.body.takeLeftovers() ?? {}))
    writeUnknownBlock(w, key, value);
  return ["---", ...lines, "---", "", String(w)].join("\n");
}

/**
 * Returns a rendered file without the `version` line of its front matter. Renderings of the same text in different versions differ
 * only in this line. Agents and pipelines contain it.
 */
export function withoutVersion(markdown: string): string {
  const end = markdown.indexOf("\n---\n") + 1;
  return markdown.slice(0, end).replace(/^version: .*\n/m, "") + markdown.slice(end);
}
