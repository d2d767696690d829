/** Computes the `hash` of a definition, which docs/languages.md defines for callers. */
import { createHash } from "node:crypto";
import { isRecord } from "../plain_values.ts";
import { readYaml } from "../yaml/document.ts";

/** Returns the hash of a parsed document's canonical JSON (RFC 8785). Key order, comments and style do not matter. */
export function hashDefinition(root: Readonly<Record<string, unknown>>): string {
  return digest(toCanonicalJson(root));
}

/**
 * Returns the hash of a stored text. A text that this release cannot parse, such as one with merge keys, gets the hash of its
 * bytes.
 */
export function hashStoredYaml(yaml: string): string {
  const read = readYaml(yaml);
  return read.ok && isRecord(read.document.value) ? hashDefinition(read.document.value) : digest(yaml);
}

/** Returns `sha256:` and the hex digest of the text in UTF-8. */
export function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * Returns canonical JSON. Documents contain strings, numbers, booleans, null, lists and maps. `plainScalar` keeps a number as
 * a string if JSON would write it differently.
 */
function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  // An object with sorted keys would not do, because JavaScript puts integer keys first.
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key])}`).join(",")}}`;
}
