/** References between definitions, which documents write as `name@range`. */
import { isAccountSlug } from "../slugs.ts";
import type { DefinitionType } from "../vocabulary.ts";
import type { PathStep } from "../yaml/problems.ts";
import { scalarText } from "../yaml/scalars.ts";
import { walkKeys } from "./language/walk_keys.ts";
import { isDefinitionName } from "./name.ts";
import type { DefinitionSource } from "./parse_definition.ts";
import { isRange } from "./version_range.ts";

/** A reference from a document to a line of definitions. */
export interface DefinitionReference {
  type: DefinitionType;
  /** The organization in `@org/name`; null for a bare name. */
  orgSlug: string | null;
  name: string;
  /** `latest` or an npm range, such as `^1.2.3`. Any other text matches no version. */
  range: string;
  /** The context in the document, such as `phase review`. */
  context: string;
  /** False for a pipeline trigger, which is recorded but is not a dependency. */
  inTree: boolean;
}

type ReferenceText = Pick<DefinitionReference, "orgSlug" | "name" | "range">;

/** Parses `reviewer@^1.0.0` or `@acme/reviewer@^1.0.0`. A missing range means `latest`. Returns null for any other text. */
export function parseReference(text: string): ReferenceText | null {
  const reference = splitReference(text);
  return isDefinitionName(reference.name) && isRange(reference.range) ? reference : null;
}

/** Returns the name as documents write it: `reviewer` or `@acme/reviewer`. */
export function writtenName({ orgSlug, name }: Pick<DefinitionReference, "orgSlug" | "name">): string {
  return orgSlug === null ? name : `@${orgSlug}/${name}`;
}

/** A reference with the path of its text in the document. */
interface WrittenReference extends DefinitionReference {
  path: PathStep[];
}

/**
 * Returns the references of a document in document order. References that are equal except for their path are listed once. A text
 * that is not a valid reference is included, but cannot be resolved. Lists and maps in place of a reference are ignored.
 */
export function listReferences(source: Pick<DefinitionSource, "type" | "body">): WrittenReference[] {
  const found = new Map<string, WrittenReference>();
  for (const { text: value, context, type, inTree, path } of listEdges(source)) {
    const text = scalarText(value);
    if (text === null) continue;
    const reference = { type, ...splitReference(text), context, inTree };
    found.getOrInsert(JSON.stringify(reference), { ...reference, path: [source.type, ...path] });
  }
  return [...found.values()];
}

/** A value in a document that may refer to another definition. */
interface Edge {
  type: DefinitionType;
  /** The value of the reference. It is a string in a valid document. */
  text: unknown;
  context: string;
  inTree: boolean;
  /** The path below the root key. */
  path: readonly (string | number)[];
}

/** Returns all edges in document order. */
export function listEdges(source: Pick<DefinitionSource, "type" | "body">): Edge[] {
  const edges: Edge[] = [];
  walkKeys(source, ({ key, value, path, around, context }) => {
    if (key?.kind !== "reference") return;
    const type = key.target(around.value);
    if (type !== null)
      edges.push({ type, text: value, context: key.context || context, inTree: key.inTree, path });
  });
  return edges;
}

function splitReference(text: string): ReferenceText {
  const trimmed = text.trim();
  const slash = trimmed.indexOf("/");
  const orgSlug = trimmed.startsWith("@") && slash > 0 ? trimmed.slice(1, slash) : null;
  if (orgSlug !== null && isAccountSlug(orgSlug)) return { orgSlug, ...splitRange(trimmed.slice(slash + 1)) };
  return { orgSlug: null, ...splitRange(trimmed) };
}

function splitRange(text: string): { name: string; range: string } {
  const at = text.lastIndexOf("@");
  // An @ at the start belongs to the name.
  if (at <= 0) return { name: text, range: "latest" };
  return { name: text.slice(0, at).trimEnd(), range: text.slice(at + 1).trimStart() };
}
