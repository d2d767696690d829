/** Compares a document with the key tables and warns of probable mistakes. */
import { shorten } from "../../characters.ts";
import { isRecord } from "../../plain_values.ts";
import { createSuggester, type Suggest, suggestNames } from "../../suggestions.ts";
import type { DefinitionType } from "../../vocabulary.ts";
import type { YamlDocument } from "../../yaml/document.ts";
import { formatPath, kindOf, quoteValue } from "../../yaml/problems.ts";
import { scalarFlag, scalarNumber, scalarText } from "../../yaml/scalars.ts";
import type { DefinitionSource } from "../parse_definition.ts";
import { exampleOfKey, type Key, type Kind } from "./keys.ts";
import { LANGUAGES } from "./language.ts";
import { type KeyPlace, type KnownPlace, walkKeys } from "./walk_keys.ts";

export const KEY_WARNING_CODES = ["UNKNOWN_KEY", "UNEXPECTED_VALUE", "DESCRIPTION_LENGTH"] as const;

/** A probable mistake in a document. */
export interface KeyWarning {
  code: (typeof KEY_WARNING_CODES)[number];
  message: string;
  details: Readonly<Record<string, unknown>>;
  path: string;
  line: number;
  column: number;
}

/** The maximum number of warnings. Further warnings are dropped. */
const MAX_WARNINGS = 50;
/**
 * The maximum number of unknown keys to check. A document may have thousands of keys that resemble no known key and need no
 * warning.
 */
const MAX_UNKNOWN_KEYS = 200;
/** The maximum length of a key in a message. */
const MAX_SHOWN = 60;
/**
 * The recommended length of a description. Coding agents choose a definition by its description: a shorter one says too
 * little, and hosts truncate a longer one.
 */
const DESCRIPTION_LENGTH = { min: 20, max: 1_024 };
/** The minimum similarity to a known key at which a key of an extensible map counts as a mistake. */
const TYPO_SIMILARITY = 0.65;

/** The result of a check, without its place in the document. */
type Finding = Pick<KeyWarning, "code" | "message" | "details">;

/** Checks the keys and values of a document. Warnings about keys beside the root key come first, the others in document order. */
export function checkKeys(
  source: Pick<DefinitionSource, "type" | "root" | "body">,
  { locate, nodeAt }: Pick<YamlDocument, "locate" | "nodeAt">,
): KeyWarning[] {
  const warnings: KeyWarning[] = [];
  const add = (path: readonly (string | number)[], find: () => Finding | null) => {
    const finding = warnings.length < MAX_WARNINGS ? find() : null;
    if (finding === null) return;
    const place = locate(path, finding.code === "UNKNOWN_KEY" ? "key" : "value");
    warnings.push({ ...finding, path: formatPath(path), ...place });
  };
  for (const key of Object.keys(source.root)) {
    if (key !== source.type && key !== "meta") add([key], () => keyBeside(key, source.type));
  }
  let unknownKeys = 0;
  walkKeys(source, (place) => {
    const { key } = place;
    if (!key) unknownKeys += 1;
    if (unknownKeys > MAX_UNKNOWN_KEYS && !key) return;
    const path = [source.type, ...place.path];
    add(path, () =>
      key ? checkValue({ ...place, key }, () => nodeAt(path)) : unknownKey(place, source.type),
    );
  });
  return warnings;
}

function keyBeside(key: string, type: DefinitionType): Finding {
  const message = `"${shorten(key, MAX_SHOWN)}" stands beside "${type}", so it is kept but not rendered. Move it below "${type}", or below "meta" if it is a note.`;
  return { code: "UNKNOWN_KEY", message, details: { key: shorten(key, MAX_SHOWN), suggestion: null } };
}

/** Returns a warning for an unknown key. Returns null if authors may add keys and this key resembles no known key. */
function unknownKey(place: KeyPlace, type: DefinitionType): Finding | null {
  const key = String(place.path.at(-1));
  const suggestion = suggestKey(key, place, type);
  if (suggestion === null && place.around.key.isOpen) return null;
  const block = formatPath([type, ...place.path.slice(0, -1)]);
  const advice = suggestion === null ? "It is rendered as it stands." : `Did you mean "${suggestion}"?`;
  const message = `"${shorten(key, MAX_SHOWN)}" is not a key of ${block}. ${advice}`;
  return { code: "UNKNOWN_KEY", message, details: { key: shorten(key, MAX_SHOWN), suggestion } };
}

/** Returns a similar key of the same map, or the path of the same key in another block of the definition. */
function suggestKey(key: string, { path, around }: KeyPlace, type: DefinitionType): string | null {
  const found = suggesterOf(around.key)(key);
  const similar = found.find((name) => !Object.hasOwn(around.value, name)) ?? found[0];
  if (similar !== undefined || path.length > 2) return similar ?? null;
  const blocks = Object.entries(LANGUAGES[type].keys);
  const [block] = blocks.find(([, inner]) => inner.kind === "map" && Object.hasOwn(inner.keys, key)) ?? [];
  return block === undefined ? null : formatPath([type, block, key]);
}

/** One suggester for each map of the languages, because creating a suggester takes longer than using it. */
const suggesters = new WeakMap<Key, Suggest>();

function suggesterOf(key: Key): Suggest {
  return suggesters.getOrInsertComputed(key, ({ keys, isOpen }) =>
    createSuggester(Object.keys(keys), isOpen ? { minSimilarity: TYPO_SIMILARITY } : {}),
  );
}

type NodeOf = () => ReturnType<YamlDocument["nodeAt"]>;

function checkValue(place: KnownPlace, nodeOf: NodeOf): Finding | null {
  const { key, value } = place;
  const name = nameOf(place);
  if (value === null || value === undefined) return nodeOf()?.source === "~" ? tilde(name) : null;
  const flag = typeof value === "string" ? scalarFlag(value) : null;
  if (flag !== null && [key.kind, ...key.or].includes("boolean")) {
    if (key.kind !== "text") return booleanWord(name, value, flag);
    if (nodeOf()?.type === "PLAIN") return textOfBoolean(name, value, flag);
  }
  if (![key.kind, ...key.or].some((kind) => fits(kind, key, value))) return otherKind(name, key, value);
  return name === "description" ? checkDescription(place) : null;
}

/** Returns the name of the nearest key. List items have no name of their own. */
function nameOf({ path }: KeyPlace): string {
  return String(path.findLast((step) => typeof step === "string") ?? "");
}

/** Returns true if the value is of the kind. Empty texts match every kind. */
function fits(kind: Kind, key: Key, value: unknown): boolean {
  if (kind === "free" || value === "" || (typeof value === "string" && value.trim() === "")) return true;
  const isScalar = scalarText(value) !== null;
  switch (kind) {
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return scalarNumber(value) !== null;
    case "integer":
      return Number.isInteger(scalarNumber(value) ?? Number.NaN);
    case "word":
      return key.words.includes(scalarText(value)?.trim() ?? "");
    case "list":
      return Array.isArray(value) || (typeof value === "string" && key.kind === "list");
    case "map":
      // A scalar entry stands for the map's main key. False turns a block off.
      return isRecord(value) || value === false || (isScalar && key.main !== "" && !key.or.includes("list"));
    case "names":
      return isRecord(value);
    default:
      return isScalar;
  }
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  text: "a text",
  prose: "a text",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
  word: "a word",
  model: "the name of a model",
  tool: "the name of a tool",
  reference: "a reference such as helper@^1.0.0",
  list: "a list",
  map: "a map",
  names: "a map",
  free: "any value",
};

function otherKind(name: string, key: Key, value: unknown): Finding {
  const text = scalarText(value)?.trim() ?? null;
  if (key.kind === "word" && text !== null) {
    const suggestion = suggestNames(text, key.words)[0] ?? null;
    const message = `${name} has no word ${quoteValue(text)}. Use one of: ${key.words.join(", ")}.`;
    return unexpected(message, { expected: "word", words: key.words, suggestion });
  }
  const kinds = [...new Set([key.kind, ...key.or].map((kind) => EXPECTED[kind]))];
  const shown = text === null ? kindOf(value) : `${kindOf(value)}, ${quoteValue(value)}`;
  const message = `${name} should be ${kinds.join(" or ")}, but is ${shown}. Example: ${exampleOfKey(key)}`;
  return unexpected(message, { expected: key.kind, suggestion: null });
}

function booleanWord(name: string, value: unknown, flag: boolean): Finding {
  const message = `${name} is read as ${flag}, but ${quoteValue(value)} is a text. Write ${flag}, without quotes.`;
  return unexpected(message, { expected: "boolean", suggestion: String(flag) });
}

function textOfBoolean(name: string, value: unknown, flag: boolean): Finding {
  const message = `${name} is read as the text ${quoteValue(value)}. Quote it if you mean that; for a boolean, write ${flag}.`;
  return unexpected(message, { expected: "text", suggestion: String(flag) });
}

function tilde(name: string): Finding {
  const message = `A plain "~" is no value in YAML, so nothing is rendered for ${name}. Quote it to mean the character, or leave it out.`;
  return unexpected(message, { expected: "text", suggestion: '"~"' });
}

function unexpected(message: string, details: Finding["details"]): Finding {
  return { code: "UNEXPECTED_VALUE", message, details };
}

function checkDescription({ path, value }: KeyPlace): Finding | null {
  if (path.length !== 2 || path[0] !== "interface") return null;
  const { length } = [...(scalarText(value)?.trim() ?? "")];
  const { min, max } = DESCRIPTION_LENGTH;
  if (length === 0 || (length >= min && length <= max)) return null;
  const advice =
    length < min
      ? `Say what it does and when to use it, in ${min} or more.`
      : `Hosts may cut it: use at most ${max}.`;
  return {
    code: "DESCRIPTION_LENGTH",
    message: `The description has ${length} characters. ${advice}`,
    details: { length, min, max },
  };
}
