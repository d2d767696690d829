/** Names with their values: environment variables, inputs, arguments. */
import { scalarText } from "../../yaml/scalars.ts";
import type { Fields } from "./field_reader.ts";
import { code, given, type Inline, md } from "./inline.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { isSecretKey } from "./remove_secrets.ts";

/** One bullet a name, such as `Input x: y`; maps and lists stay among the leftovers. */
export function writeAssignments(w: MarkdownWriter, kind: Inline, fields: Fields | null): void {
  for (const name of fields?.keys() ?? []) {
    const text = scalarText(fields?.peek(name));
    if (text === null) continue;
    fields?.skip(name);
    w.bullet(given(code(name), (label) => md`${kind} ${label}: ${shownValue(name, text)}`));
  }
}

/** The value, unless its name promises a secret; a template holds none, it only says where one comes from. */
export function shownValue(name: string, text: string): Inline {
  const isTemplate = /^\s*(?:\{\{[^{}]*\}\}|\$\{?\w+\}?)\s*$/.test(text);
  if (isSecretKey(name) && !isTemplate) return md`a secret, not shown here`;
  return code(text) ?? md`empty`;
}
