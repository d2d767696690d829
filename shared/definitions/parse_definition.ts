/** Parses the YAML of a definition. */
import { isRecord } from "../plain_values.ts";
import { isUuid } from "../uuid.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../vocabulary.ts";
import { readYaml, type YamlDocument } from "../yaml/document.ts";
import {
  type DefinitionProblem,
  formatPath,
  kindOf,
  type PathStep,
  quoteValue,
  WHOLE_DOCUMENT,
} from "../yaml/problems.ts";
import { scalarNumber } from "../yaml/scalars.ts";
import { type DefinitionFields, readFields } from "./interface_fields.ts";
import { isDefinitionName, MAX_DEFINITION_NAME_LENGTH } from "./name.ts";
import { isVersion, MAX_VERSION_LENGTH } from "./version_numbers.ts";

/** The maximum size of a document in bytes of UTF-8. Callers must check the size of a client's text before parsing it. */
export const MAX_DEFINITION_BYTES = 153_600;

export interface DefinitionSource {
  type: DefinitionType;
  name: string;
  version: string;
  /** The whole document as plain values, with keys in document order. */
  root: Record<string, unknown>;
  /** The value of the root key, `root[type]`. */
  body: Record<string, unknown>;
  fields: DefinitionFields;
}

export type ParsedDefinition =
  | { ok: true; source: DefinitionSource; document: YamlDocument }
  | { ok: false; problems: DefinitionProblem[] };

/** Adds a problem. `part` says whether the problem is in the value at the path or in its key. */
type AddSourceProblem = (path: readonly PathStep[], message: string, part?: "value" | "key") => void;

/** The expected document: its type, or null for any type. New documents have limits that stored documents may exceed. */
interface ExpectedSource {
  type: DefinitionType | null;
  isNew?: boolean;
}

/**
 * Parses a definition, or returns all problems found. Accepts any document with a type, name and version; the translator
 * decides whether it can be rendered. Never throws.
 */
export function parseDefinition(yaml: string, expected: ExpectedSource): ParsedDefinition {
  const read = readYaml(yaml);
  if (!read.ok) return hasFrontMatter(yaml) ? { ok: false, problems: [NO_YAML] } : read;
  const { document } = read;
  const problems: DefinitionProblem[] = [];
  const source = readDefinition(document.value, expected, (path, message, part) => {
    problems.push({ path: formatPath(path), message, ...document.locate(path, part) });
  });
  if (problems.length > 0 || source === null) return { ok: false, problems };
  return { ok: true, source, document };
}

/** A block of keys between two lines of dashes, followed by Markdown. */
const FRONT_MATTER = /^\s*---[ \t]*\r?\n([\s\S]*?\n)---[ \t]*\r?\n\s*\S/;
const ROOT_KEY = new RegExp(`^(?:${DEFINITION_TYPES.join("|")}):`, "m");

/** Returns true if a text is Markdown for coding agents, with front matter but without a root key. */
function hasFrontMatter(text: string): boolean {
  const [, keys] = FRONT_MATTER.exec(text) ?? [];
  return keys !== undefined && !ROOT_KEY.test(keys);
}

const NO_YAML: DefinitionProblem = {
  path: WHOLE_DOCUMENT,
  message:
    "This is Markdown with front matter, such as a rendered agent, and not the YAML of a definition. A definition begins " +
    `with ${rootKeys(null)}, and "interface:" below it. The YAML of a rendered definition is at its address with .yaml in ` +
    "place of .md.",
  line: 1,
  column: 1,
};

function readDefinition(
  root: unknown,
  { type: expected, isNew = false }: ExpectedSource,
  addProblem: AddSourceProblem,
): DefinitionSource | null {
  if (!isRecord(root)) {
    addProblem([], `The document must be a map with the root key ${rootKeys(expected)}.`);
    return null;
  }
  const found = DEFINITION_TYPES.find((key) => Object.hasOwn(root, key));
  if (!found) {
    const place = "name" in root ? ', and put "name" and the others below its "interface:"' : "";
    const [missing, start] = expected ? [` "${expected}"`, `"${expected}:"`] : ["", rootKeys(null)];
    addProblem([], `The root key${missing} is missing. Start the document with ${start}${place}.`);
    return null;
  }
  const type = expected ?? found;
  const body = findBody(root, type, addProblem);
  if (!body) return null;
  const declared = body["interface"];
  if (!isRecord(declared)) {
    const state = declared === undefined ? "is missing" : "is not a map";
    addProblem(
      [type, "interface"],
      `"interface" ${state}. It must be a map with name, version and description.`,
    );
    return null;
  }
  const addFieldProblem = (key: string, message: string) => addProblem([type, "interface", key], message);
  const name = readName(declared["name"], (message) => addFieldProblem("name", message));
  const version = readVersion(declared["version"], (message) => addFieldProblem("version", message));
  const fields = readFields(declared, { name, isNew, addProblem: addFieldProblem });
  return { type, name, version, root, body, fields };
}

function rootKeys(type: DefinitionType | null): string {
  return (type ? [type] : DEFINITION_TYPES).map((key) => `"${key}${type ? "" : ":"}"`).join(" or ");
}

/** Returns the map below the root key of the type; null if the key is missing. Adds problems of the root keys and their values. */
function findBody(
  root: Record<string, unknown>,
  type: DefinitionType,
  addProblem: AddSourceProblem,
): Record<string, unknown> | null {
  const found = DEFINITION_TYPES.filter((key) => Object.hasOwn(root, key));
  if (found.length > 1) {
    const others = found.filter((key) => key !== type);
    const named = others.map((key) => `"${key}"`).join(", ");
    addProblem(
      [others[0] ?? type],
      `The document has several definitions. Remove the root key ${named}.`,
      "key",
    );
  } else if (found[0] && found[0] !== type) {
    addProblem([found[0]], `The root key is "${found[0]}", but the type is ${type}.`, "key");
  }
  const body = root[type];
  if (!found.includes(type)) return null;
  if (isRecord(body)) return body;
  addProblem([type], `"${type}" must be a map with the key "interface".`);
  return null;
}

function readName(value: unknown, addProblem: (message: string) => void): string {
  if (typeof value === "string" && isDefinitionName(value)) return value;
  if (value === undefined || value === null) addProblem("name is missing. Example: name: code-reviewer");
  else if (typeof value !== "string")
    addProblem(`name must be text, but is ${kindOf(value)}. Example: name: code-reviewer`);
  else if (value.length > MAX_DEFINITION_NAME_LENGTH)
    addProblem(`name must have at most ${MAX_DEFINITION_NAME_LENGTH} characters.`);
  else if (isUuid(value)) addProblem(`Cannot use ${quoteValue(value)} as a name: a UUID is an id`);
  else
    addProblem(
      `Cannot use ${quoteValue(value)} as a name: use only lowercase letters, digits and hyphens, without a hyphen at either end`,
    );
  return "";
}

function readVersion(value: unknown, addProblem: (message: string) => void): string {
  if (typeof value === "string" && isVersion(value)) return value;
  if (value === undefined || value === null) addProblem('version is missing. Example: version: "1.0.0"');
  else if (scalarNumber(value) !== null)
    addProblem('version is not MAJOR.MINOR.PATCH. Write three numbers and quote it, as in version: "1.0.0"');
  else if (typeof value !== "string")
    addProblem(`version must be text, but is ${kindOf(value)}. Example: version: "1.0.0"`);
  else
    addProblem(
      `version ${quoteValue(value)} is not MAJOR.MINOR.PATCH, as in "1.0.0": three numbers without leading zeros, at most ${MAX_VERSION_LENGTH} characters`,
    );
  return "";
}
