/** Edits fields and references in the text of a definition, and keeps the rest of the text. */
import { isDeepStrictEqual } from "node:util";
import { toRecord } from "../plain_values.ts";
import type { DefinitionType } from "../vocabulary.ts";
import { editYaml, type YamlChange, type YamlEdit } from "../yaml/edit.ts";
import { scalarText } from "../yaml/scalars.ts";
import type { DefinitionFields } from "./interface_fields.ts";
import { type DefinitionSource, parseDefinition } from "./parse_definition.ts";
import { listEdges, parseReference } from "./references.ts";

/** New values of `interface` fields. */
export type DefinitionChanges = Partial<
  { name: string; version: string } & {
    [Field in keyof Omit<DefinitionFields, "author">]: NonNullable<DefinitionFields[Field]>;
  }
>;

/** The name of a definition and the organization that owns it. */
export interface QualifiedName {
  type: DefinitionType;
  name: string;
  orgSlug: string;
}

/** The order in which new fields are added after the version. */
const FIELD_ORDER = ["displayName", "description", "agentType", "domain", "subdomain", "tags"];

/**
 * Writes fields into the `interface` of a document. Adds the organization to references to the given names: `reviewer@^1.0.0`
 * becomes `@acme/reviewer@^1.0.0`. All other bytes stay unchanged, except aliases whose anchors change.
 */
export function editDefinition(
  yaml: string,
  changes: DefinitionChanges,
  names: readonly QualifiedName[] = [],
): YamlEdit {
  const parsed = parseDefinition(yaml, { type: null });
  if (!parsed.ok) return parsed;
  const { source, document } = parsed;
  const edits = [...fieldChanges(source, changes), ...referenceChanges(source, names)];
  if (edits.length === 0) return { ok: true, yaml, replacedAliases: [] };
  return editYaml(yaml, { document, changes: edits, addAfter: "version" });
}

function fieldChanges({ type, body }: DefinitionSource, changes: DefinitionChanges): YamlChange[] {
  const declared = toRecord(body["interface"]);
  return Object.entries(changes)
    .filter(([key, value]) => !isDeepStrictEqual(declared[key], value))
    .toSorted(([a], [b]) => FIELD_ORDER.indexOf(a) - FIELD_ORDER.indexOf(b))
    .map(([key, value]) => ({ path: [type, "interface", key], value }));
}

function referenceChanges(source: DefinitionSource, names: readonly QualifiedName[]): YamlChange[] {
  const slugs = new Map(names.map(({ type, name, orgSlug }) => [`${type} ${name}`, orgSlug]));
  return listEdges(source).flatMap(({ type, text: value, path }) => {
    // YAML parses some names as numbers or booleans.
    const text = scalarText(value);
    const reference = text === null ? null : parseReference(text);
    if (text === null || !reference || reference.orgSlug !== null) return [];
    const slug = slugs.get(`${type} ${reference.name}`);
    return slug === undefined ? [] : [{ path: [source.type, ...path], value: `@${slug}/${text.trim()}` }];
  });
}
