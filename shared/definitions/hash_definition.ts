/** `hash` of a definition; docs/languages.md defines it for callers. */
import { createHash } from "node:crypto";
import { isRecord } from "../plain_values.ts";
import { readYaml } from "../yaml/document.ts";

/** Returns the hash of a parsed document: of its canonical JSON (RFC 8785), so key order, comments and style do not count. */
export function hashDefinition(root: Readonly<Record<string, unknown>>): string {
  return digest(toCanonicalJson(root));
}

/**
 * Returns the hash of a stored text. One that this release refuses to read, such as one with merge keys, has that of its
 * own bytes.
 */
export function hashStoredYaml(yaml: string): string {
  const read = readYaml(yaml);
  return read.ok && isRecord(read.document.value) ? hashDefinition(read.document.value) : digest(yaml);
}

/** Returns `sha256:` and the hex digest of a text in UTF-8. */
export function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * Documents have text, numbers, booleans, null, lists and maps; `plainScalar` keeps numbers that JSON would write otherwise
 * as text.
 */
function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  // An object of sorted keys would put integer keys first.
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key])}`).join(",")}}`;
}
