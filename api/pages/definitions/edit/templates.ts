/** Small valid documents as templates, generated from the tables of keys. */
import { exampleOfKey, type Key } from "../../../../shared/definitions/language/keys.ts";
import { LANGUAGES } from "../../../../shared/definitions/language/language.ts";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";

/** The paths of optional keys that a template contains, relative to the root key. */
const STARTING_KEYS: Readonly<Record<DefinitionType, readonly string[]>> = {
  agent: ["interface.displayName", "interface.domain", "mission.opener"],
  command: ["interface.displayName", "interface.commandType", "interface.domain", "invokes.agent"],
  workflow: [
    ...["interface.displayName", "interface.domain"],
    ...["id", "name", "steps.agent"].map((key) => `orchestration.phases.${key}`),
  ],
  pipeline: ["interface.displayName", "interface.domain", "stages.id", "stages.name", "stages.agents"],
};

/** Values that replace the table's examples. An explorer needs only one block. */
const VALUES: Readonly<Record<string, string>> = { agentType: "explorer" };

/** Returns a document with a type's required keys and `STARTING_KEYS`. The values are the examples from the tables. */
export function templateOf(type: DefinitionType): string {
  const paths = STARTING_KEYS[type].map((path) => path.split("."));
  return [`${type}:`, ...writeKeys(LANGUAGES[type], paths, "  "), ""].join("\n");
}

function writeKeys({ keys }: Key, paths: readonly (readonly string[])[], indent: string): string[] {
  const unknown = paths.find(([name = ""]) => !Object.hasOwn(keys, name));
  if (unknown) throw new RangeError(`The language has no key "${unknown.join(".")}"`);
  return Object.entries(keys).flatMap(([name, key]) => {
    const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    if (below.length === 0 && !key.isRequired) return [];
    const entry = key.kind === "list" ? key.item : null;
    const deeper = below.filter((path) => path.length > 0);
    const lines = writeKeys(entry ?? key, deeper, `${indent}${entry ? "    " : "  "}`);
    if (lines.length === 0) return [`${indent}${name}: ${VALUES[name] ?? exampleOfKey(key)}`];
    return [`${indent}${name}:`, ...(entry ? asEntry(lines, indent.length + 2) : lines)];
  });
}

/** Turns lines into a list entry by starting the first line with a dash. */
function asEntry([first = "", ...others]: readonly string[], column: number): string[] {
  return [`${first.slice(0, column)}- ${first.slice(column + 2)}`, ...others];
}

/** Replaces a document's version if it is on a line of its own. Otherwise, returns the text unchanged. */
export function withVersion(yaml: string, from: string, to: string): string {
  const escaped = from.replaceAll(".", "\\.");
  const line = new RegExp(`^( +version: *)(["']?)${escaped}\\2(?=\\s|$)`, "m");
  return yaml.replace(line, (_, key: string, quote: string) => `${key}${quote}${to}${quote}`);
}
