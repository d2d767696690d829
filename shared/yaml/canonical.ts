/** Canonical YAML: sorted keys, no comments, no folded lines. */
import { Scalar, stringify } from "yaml";

/** Writes canonical text: equal documents give equal text, whatever their key order, and parsing it gives the document back. */
export function toCanonicalYaml(document: Readonly<Record<string, unknown>>): string {
  return stringify(sortKeys(document), { aliasDuplicateObjects: false, blockQuote: "literal", lineWidth: 0 });
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).toSorted();
  // An object would put integer keys first; a Map keeps the order.
  return new Map(keys.map((key) => [keyNode(key), sortKeys((value as Record<string, unknown>)[key])]));
}

/** A plain "<<" would be read as a merge key. */
function keyNode(key: string): string | Scalar {
  if (key !== "<<") return key;
  const node = new Scalar(key);
  node.type = Scalar.QUOTE_DOUBLE;
  return node;
}
