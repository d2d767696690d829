/** Lists the models and tools that a document names. */

import { walkKeys } from "../../shared/definitions/language/walk_keys.ts";
import type { DefinitionSource } from "../../shared/definitions/parse_definition.ts";
import type { PathStep } from "../../shared/yaml/problems.ts";

/** A text and its path in the document. */
export interface NamedText {
  text: string;
  path: PathStep[];
}

/** Returns the models that a document names, in document order. Templates such as `{{ model }}` are left out. */
export function listNamedModels(source: Pick<DefinitionSource, "type" | "body">): NamedText[] {
  return listTexts(source, "model").filter(({ text }) => !/[{}$]/.test(text));
}

/** Returns the tools that a document names, in document order. A single value may list several tools, separated by commas. */
export function listNamedTools(source: Pick<DefinitionSource, "type" | "body">): NamedText[] {
  return listTexts(source, "tool").flatMap(({ text, path }) =>
    text.split(",").flatMap((part) => (part.trim() === "" ? [] : [{ text: part.trim(), path }])),
  );
}

function listTexts(source: Pick<DefinitionSource, "type" | "body">, kind: "model" | "tool"): NamedText[] {
  const found: NamedText[] = [];
  walkKeys(source, ({ key, value, path }) => {
    if (key?.kind !== kind && !key?.or.includes(kind)) return;
    if (typeof value === "string" && value.trim() !== "")
      found.push({ text: value.trim(), path: [source.type, ...path] });
  });
  return found;
}
