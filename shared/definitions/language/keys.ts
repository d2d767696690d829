/** The vocabulary of the tables of keys: what a key of a document holds, what it means, and an example. */
import { parse, stringify } from "yaml";
import type { DefinitionType } from "../../vocabulary.ts";

/**
 * Kinds of values. `prose` is text that keeps its lines, with paragraphs, lists and fences; `text` is one line, or code that
 * is shown as it stands. `names` is a map whose keys are the author's own; `free` is any value, rendered as it stands; `word`
 * is one of a list of words.
 */
export type Kind =
  | "text"
  | "prose"
  | "boolean"
  | "integer"
  | "number"
  | "word"
  | "model"
  | "tool"
  | "reference"
  | "list"
  | "map"
  | "names"
  | "free";

/** The keys of a map by their names, in the order in which they are documented. */
export type Keys = Readonly<Record<string, Key>>;

export interface Key {
  kind: Kind;
  /** Other kinds that are read too. */
  or: readonly Kind[];
  meaning: string;
  /** A typical value in YAML. Blocks have none: their keys have. */
  example: string;
  isRequired: boolean;
  words: readonly string[];
  keys: Keys;
  /** True for a `map` that authors extend: other keys are fine unless they resemble a known one. */
  isOpen: boolean;
  /** The entries of a `list`, the values of `names`. */
  item: Key | null;
  /** The key of a `map` that a value of another kind stands for. */
  main: string;
  /** The word that entries are labeled with in the graph. */
  label: string;
  /** What a `reference` names, depending on the keys beside it; null where it is no reference. */
  target: (beside: Readonly<Record<string, unknown>>) => DefinitionType | null;
  /** The place of a reference in the graph; empty for that of the entry around it. */
  context: string;
  /** False for a reference that is recorded but is no dependency. */
  inTree: boolean;
}

type Options = Partial<Pick<Key, "or" | "isRequired" | "isOpen" | "main" | "label" | "context" | "inTree">>;

/** The functions that declare the keys in the tables. Items of lists and maps need no meaning and no example of their own. */
export const key = {
  text: scalar("text"),
  prose: scalar("prose"),
  integer: scalar("integer"),
  number: scalar("number"),
  model: scalar("model"),
  tool: scalar("tool"),
  free: scalar("free"),

  flag(meaning: string, options: Options & { example?: string } = {}): Key {
    return { ...BASE, kind: "boolean", meaning, example: "true", ...options };
  },

  /** One of several words; the first one is the example. */
  word(meaning: string, words: readonly string[], options: Options = {}): Key {
    return { ...BASE, kind: "word", meaning, words, example: words[0] ?? "", ...options };
  },

  /** One of several words, or a text of the author's own. */
  openWord(meaning: string, words: readonly string[]): Key {
    return key.word(meaning, words, { or: ["text"] });
  },

  reference(
    target: DefinitionType | Key["target"],
    meaning: string,
    example: string,
    options: Options = {},
  ): Key {
    const find = typeof target === "string" ? () => target : target;
    return { ...BASE, kind: "reference", meaning, example, ...options, target: find };
  },

  /** A list of scalars; a single one may stand without its list. */
  list(item: Key, meaning: string, example: string): Key {
    return { ...BASE, kind: "list", item, meaning, example };
  },

  texts(meaning: string, example: string): Key {
    return key.list(key.text(), meaning, example);
  },

  proses(meaning: string, example: string): Key {
    return key.list(key.prose(), meaning, example);
  },

  references(target: DefinitionType, meaning: string, example: string, options: Options = {}): Key {
    return key.list(key.reference(target, "", "", options), meaning, example);
  },

  /** A map with known keys. A key named `code, example` is `code`, and `example` is another name for it. */
  block(meaning: string, keys: Keys, options: Options = {}): Key {
    return { ...BASE, kind: "map", meaning, keys: withOtherNames(keys), ...options };
  },

  /** A block that authors extend: other keys are fine unless they resemble a known one. */
  openBlock(meaning: string, keys: Keys, options: Options = {}): Key {
    return key.block(meaning, keys, { ...options, isOpen: true });
  },

  /** A list of maps. An entry that is no map stands for its key `main`. */
  entries(meaning: string, main: string, keys: Keys, options: Options = {}): Key {
    return { ...BASE, kind: "list", meaning, item: key.block("", keys, { main }), ...options };
  },

  /** A list of maps that authors extend. */
  openEntries(meaning: string, main: string, keys: Keys, options: Options = {}): Key {
    return { ...BASE, kind: "list", meaning, item: key.openBlock("", keys, { main }), ...options };
  },

  /** A map whose keys are the author's own. */
  names(item: Key, meaning: string, example = ""): Key {
    return { ...BASE, kind: "names", item, meaning, example };
  },
};

const BASE: Key = {
  kind: "free",
  or: [],
  meaning: "",
  example: "",
  isRequired: false,
  words: [],
  keys: {},
  isOpen: false,
  item: null,
  main: "",
  label: "",
  target: () => null,
  context: "",
  inTree: true,
};

function scalar(kind: Kind) {
  return (meaning = "", example: string | number = "", options: Options = {}): Key => {
    return { ...BASE, kind, meaning, example: String(example), ...options };
  };
}

function withOtherNames(keys: Keys): Keys {
  const entries = Object.entries(keys).flatMap(([names, key]): [string, Key][] => {
    const [name = "", ...others] = names.split(", ");
    const same = { ...key, meaning: `The same as \`${name}\``, isRequired: false };
    return [[name, key], ...others.map((other): [string, Key] => [other, same])];
  });
  return Object.fromEntries(entries);
}

/** Returns an example in YAML on one line; of a map, with its first two keys. */
export function exampleOfKey(key: Key): string {
  if (key.example !== "") return key.example;
  const flow = { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 } as const;
  return stringify(exampleValue(key), flow).trim();
}

function exampleValue(key: Key): unknown {
  const { example, kind, item, keys } = key;
  if (example !== "") return parse(example);
  if (item !== null) return kind === "list" ? [exampleValue(item)] : { name: exampleValue(item) };
  const scalars = Object.entries(keys).filter(([, inner]) => inner.item === null && inner.kind !== "map");
  const shown = scalars.length > 0 ? scalars : Object.entries(keys).slice(0, 1);
  return Object.fromEntries(shown.slice(0, 2).map(([name, inner]) => [name, exampleValue(inner)]));
}
