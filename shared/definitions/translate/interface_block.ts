/** What the `interface` block of every kind of definition gives to its translation. */
import type { DefinitionType } from "../../vocabulary.ts";
import { isRecord } from "../../yaml/values.ts";
import { Fields } from "./field_reader.ts";
import { writeUnknownBlock } from "./generic_section.ts";
import { collapse, md, prose } from "./inline.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { TranslationFailure } from "./translation_failure.ts";

/** A parsed definition: `body` is the map under the root key. */
export interface TranslatableDefinition {
  type: DefinitionType;
  name: string;
  version: string;
  body: Record<string, unknown>;
}

/** A definition with what every kind needs. */
export interface Source {
  name: string;
  version: string;
  body: Fields;
  interface: Fields;
  description: string;
}

/** Keys of the interface that the registry shows beside the text. */
const REGISTRY_KEYS = ["name", "version", "domain", "subdomain", "tags"] as const;

/** Reads what every kind has. The description is empty if it is missing. */
export function readSource(definition: TranslatableDefinition): Source {
  const { type, name, version } = definition;
  const body = new Fields(isRecord(definition.body) ? definition.body : {}, type);
  const block = body.map("interface") ?? new Fields({}, `${type}.interface`);
  block.skip(...REGISTRY_KEYS);
  return { name, version, body, interface: block, description: block.text("description") ?? "" };
}

/** Returns the failure of a definition without a description, which the front matter of every kind needs. */
export function missingDescription({ description }: Source, type: DefinitionType): TranslationFailure | null {
  if (collapse(description) !== "") return null;
  const path = `${type}.interface.description`;
  return new TranslationFailure("missing_description", path, "The interface has no description");
}

/** The title; a definition without a display name goes by its name. */
export function writeTitle(w: MarkdownWriter, source: Source): void {
  const words = source.name.split("-").filter((word) => word !== "");
  const fallback = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
  w.heading(1, source.interface.prose("displayName") ?? prose(fallback) ?? md`Untitled`);
}

/** What no section was for, in the document's order; `meta` is the author's own. */
export function writeUnknownBlocks(w: MarkdownWriter, source: Source): void {
  source.body.skip("meta");
  for (const [key, value] of Object.entries(source.body.takeLeftovers() ?? {}))
    writeUnknownBlock(w, key, value);
}
