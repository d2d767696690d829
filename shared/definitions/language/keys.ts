/** The types of the key tables. A table describes each key of a document by its kind, meaning and example. */
import { parse, stringify } from "yaml";
import type { DefinitionType } from "../../vocabulary.ts";

/**
 * Kinds of values. `prose` is multi-line text with paragraphs, lists and fences. `text` is a single line, or code that is
 * shown unchanged. `names` is a map with the author's own keys. `free` is any value, rendered unchanged. `word` is one of a
 * list of words.
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

/** The keys of a map by name, in the order of the documentation. */
export type Keys = Readonly<Record<string, Key>>;

export interface Key {
  kind: Kind;
  /** Other kinds that are accepted. */
  or: readonly Kind[];
  meaning: string;
  /** A typical value in YAML. Blocks have no example, because their keys have examples. */
  example: string;
  isRequired: boolean;
  words: readonly string[];
  keys: Keys;
  /** True for a `map` that authors may extend. Unknown keys are allowed unless they resemble a known key. */
  isOpen: boolean;
  /** Describes the entries of a `list` or the values of `names`; null for other kinds. */
  item: Key | null;
  /** The key of a `map` that gets the value if the author writes a scalar or a list in place of the map. */
  main: string;
  /** The label of entries in the graph. */
  label: string;
  /**
   * Returns the type of definition that a `reference` refers to, which may depend on the keys beside it. Returns null if the
   * value is not a reference.
   */
  target: (beside: Readonly<Record<string, unknown>>) => DefinitionType | null;
  /** The context of a reference in the graph. If empty, the context of the surrounding entry applies. */
  context: string;
  /** False for a reference that is recorded but is not a dependency. */
  inTree: boolean;
}

type Options = Partial<Pick<Key, "or" | "isRequired" | "isOpen" | "main" | "label" | "context" | "inTree">>;

/** Functions that declare the keys of the tables. Items of lists and maps need no meaning or example. */
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

  /** One of several words. The first word is the example. */
  word(meaning: string, words: readonly string[], options: Options = {}): Key {
    return { ...BASE, kind: "word", meaning, words, example: words[0] ?? "", ...options };
  },

  /** One of several words, or any other text. */
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

  /** A list of scalars. A single scalar may be written without a list. */
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

  /** A map with known keys. In a name such as `code, example`, `example` is an alternative name of the key `code`. */
  block(meaning: string, keys: Keys, options: Options = {}): Key {
    return { ...BASE, kind: "map", meaning, keys: withOtherNames(keys), ...options };
  },

  /** A map that authors may extend. Unknown keys are allowed unless they resemble a known key. */
  openBlock(meaning: string, keys: Keys, options: Options = {}): Key {
    return key.block(meaning, keys, { ...options, isOpen: true });
  },

  /** A list of maps. An entry that is not a map is read as the value of its key `main`. */
  entries(meaning: string, main: string, keys: Keys, options: Options = {}): Key {
    return { ...BASE, kind: "list", meaning, item: key.block("", keys, { main }), ...options };
  },

  /** A list of maps that authors may extend. */
  openEntries(meaning: string, main: string, keys: Keys, options: Options = {}): Key {
    return { ...BASE, kind: "list", meaning, item: key.openBlock("", keys, { main }), ...options };
  },

  /** A map with the author's own keys. */
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

/** Returns a one-line example of the key in YAML. For a map, it contains the first two scalar keys, or else the first key. */
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
