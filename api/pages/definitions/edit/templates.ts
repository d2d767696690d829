/** Small valid documents to start from, made from the tables of keys. */
import { exampleOfKey, type Key } from "../../../../shared/definitions/language/keys.ts";
import { LANGUAGES } from "../../../../shared/definitions/language/language.ts";
import type { DefinitionType } from "../../../../shared/vocabulary.ts";

/** The paths of the keys that a document begins with besides the required ones, below its root key. */
const STARTING_KEYS: Readonly<Record<DefinitionType, readonly string[]>> = {
  agent: ["interface.displayName", "interface.domain", "mission.opener"],
  command: ["interface.displayName", "interface.commandType", "interface.domain", "invokes.agent"],
  workflow: [
    ...["interface.displayName", "interface.domain"],
    ...["id", "name", "steps.agent"].map((key) => `orchestration.phases.${key}`),
  ],
  pipeline: ["interface.displayName", "interface.domain", "stages.id", "stages.name", "stages.agents"],
};

/** Values other than the example of the table. An explorer needs one block only. */
const VALUES: Readonly<Record<string, string>> = { agentType: "explorer" };

/** Returns a document of a type with its required keys and those above. Their values are the examples of the tables. */
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

/** Begins the first of these lines with a dash. */
function asEntry([first = "", ...others]: readonly string[], column: number): string[] {
  return [`${first.slice(0, column)}- ${first.slice(column + 2)}`, ...others];
}

/** Replaces the version of a document by another one, where it is a line of its own; else returns the text unchanged. */
export function withVersion(yaml: string, from: string, to: string): string {
  const escaped = from.replaceAll(".", "\\.");
  const line = new RegExp(`^( +version: *)(["']?)${escaped}\\2(?=\\s|$)`, "m");
  return yaml.replace(line, (_, key: string, quote: string) => `${key}${quote}${to}${quote}`);
}
