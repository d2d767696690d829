/** Qualifies the bare references of a document, so that they mean the same in any organization. */
import { isDeepStrictEqual } from "node:util";
import { isScalar, Scalar, stringify } from "yaml";
import type { DefinitionType } from "../vocabulary.ts";
import { readYaml, type YamlDocument } from "../yaml/document.ts";
import { isRecord } from "../yaml/values.ts";
import { type Edge, listEdges } from "./edges.ts";
import { parseReference } from "./references.ts";
import { type DefinitionSource, parseDefinition } from "./source.ts";

/** A bare name and the organization it refers to. */
export interface QualifiedName {
  type: DefinitionType;
  name: string;
  orgSlug: string;
}

/**
 * Turns `reviewer@^1.0.0` into `@acme/reviewer@^1.0.0` wherever a document of this type references one of the names. The
 * rest of the text stays unchanged, unless a reference is an alias or spans several lines: then the document is written
 * again from its values. Throws if the text is not a definition of the type.
 */
export function qualifyReferences(
  yaml: string,
  { type, names }: { type: DefinitionType; names: readonly QualifiedName[] },
): string {
  const source = requireSource(yaml, type);
  const slugs = new Map(names.map(({ type: kind, name, orgSlug }) => [`${kind} ${name}`, orgSlug]));
  const changes = listEdges(source).flatMap((edge) => {
    const text = qualified(edge, slugs);
    return text === null ? [] : [{ path: [type, ...edge.path], text }];
  });
  if (changes.length === 0) return yaml;
  const expected = structuredClone(source.root);
  for (const { path, text } of changes) setIn(expected, path, text);
  const spliced = splice(yaml, changes);
  if (spliced !== null && saysExactly(spliced, expected)) return spliced;
  return stringify(expected, { lineWidth: 0, aliasDuplicateObjects: false });
}

function qualified({ type, text }: Edge, slugs: ReadonlyMap<string, string>): string | null {
  const reference = typeof text === "string" ? parseReference(text) : null;
  if (typeof text !== "string" || !reference || reference.orgSlug !== null) return null;
  const slug = slugs.get(`${type} ${reference.name}`);
  return slug === undefined ? null : `@${slug}/${text.trim()}`;
}

interface Change {
  path: readonly (string | number)[];
  text: string;
}

/** Edits from the end, so that no edit moves another; null if a reference is not plain text in one place. */
function splice(yaml: string, changes: readonly Change[]): string | null {
  const { tree } = requireDocument(yaml);
  const splices: { from: number; to: number; text: string }[] = [];
  for (const { path, text } of changes) {
    const node = tree.getIn(path, true);
    if (!isScalar(node) || !node.range || node.type === Scalar.BLOCK_LITERAL) return null;
    if (node.type === Scalar.BLOCK_FOLDED || node.anchor) return null;
    // Text that begins with an at sign needs quotes; JSON quotes are valid everywhere in YAML.
    splices.push({ from: node.range[0], to: node.range[1], text: JSON.stringify(text) });
  }
  let edited = yaml;
  for (const { from, to, text } of splices.toSorted((a, b) => b.from - a.from)) {
    edited = edited.slice(0, from) + text + edited.slice(to);
  }
  return edited;
}

function setIn(root: Record<string, unknown>, path: Change["path"], text: string): void {
  let place: unknown = root;
  for (const step of path.slice(0, -1)) place = (place as Record<string | number, unknown>)[step];
  (place as Record<string | number, unknown>)[path.at(-1) ?? ""] = text;
}

function requireSource(yaml: string, type: DefinitionType): DefinitionSource {
  const parsed = parseDefinition(yaml, { type });
  if (!parsed.ok) throw new Error(`Cannot qualify references: the text is not a valid ${type}`);
  return parsed.source;
}

function requireDocument(yaml: string): YamlDocument {
  const read = readYaml(yaml);
  if (!read.ok) throw new Error("Cannot qualify references: the text does not parse");
  return read.document;
}

function saysExactly(yaml: string, expected: unknown): boolean {
  const read = readYaml(yaml);
  return read.ok && isRecord(read.document.value) && isDeepStrictEqual(read.document.value, expected);
}
