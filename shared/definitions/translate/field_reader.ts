/** Reads a map of the document key by key. Records the unread keys, so that no value is lost. */
import { isRecord, toItems } from "../../plain_values.ts";
import { scalarFlag, scalarNumber, scalarText } from "../../yaml/scalars.ts";
import { code, type Inline, md, type Prose, prose, strong } from "./inline.ts";
import { passage, snippet } from "./passage.ts";
import { isSecretValue, pruneValue } from "./remove_secrets.ts";

/** Replaces a value that must not be shown. */
export const HIDDEN_VALUE = md`a secret, not shown here`;

export type DocumentMap = Readonly<Record<string, unknown>>;

/** Returns true for a value that counts as empty if a map or a list is expected. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0) return true;
  if (typeof value === "string") return value.trim() === "";
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A map, a list of maps, or the non-scalar items of a list of texts. */
type Part = Fields | MapList | { others: readonly unknown[] };

interface MapList {
  entries: readonly Fields[];
  /** The keys whose values identify an entry to readers. */
  nameKeys: readonly string[];
}

/** A text of one line that is short enough for a name. */
const SHORT_LINE = /^.{1,200}$/;

/** A map of the document. Each getter returns only values of its kind. Values of other kinds stay among the leftovers. */
export class Fields {
  /** The path of the map, starting with the document's root key. */
  readonly path: string;
  #map: DocumentMap;
  readonly #read = new Set<string>();
  /** The maps and lists that were read, which may have their own leftovers. Created on first use, because most maps have none. */
  #parts: Map<string, Part> | null = null;

  constructor(map: DocumentMap, path: string) {
    this.#map = map;
    this.path = path;
  }

  /** Returns the raw value and marks the key as read. */
  raw(key: string): unknown {
    this.#read.add(key);
    return this.peek(key);
  }

  /** Returns the raw value without marking the key as read. */
  peek(key: string): unknown {
    return Object.hasOwn(this.#map, key) ? this.#map[key] : undefined;
  }

  keys(): string[] {
    return Object.keys(this.#map);
  }

  skip(...keys: readonly string[]): void {
    for (const key of keys) this.#read.add(key);
  }

  /** Removes keys, as if the document did not have them. Call this before any of the keys is read. */
  omit(keys: readonly string[]): void {
    this.#map = Object.fromEntries(Object.entries(this.#map).filter(([key]) => !keys.includes(key)));
  }

  /** Returns the meaning of a known word. Returns null for any other value, which stays unread. */
  known<Meaning>(key: string, words: Readonly<Record<string, Meaning>>): Meaning | null {
    const word = scalarText(this.peek(key));
    if (word === null || !Object.hasOwn(words, word)) return null;
    this.#read.add(key);
    return words[word] ?? null;
  }

  /** Returns the text of the first key that has a text. Authors use several names for some keys. */
  text(...keys: readonly string[]): string | null {
    for (const key of keys) {
      const value = this.peek(key);
      const text = scalarText(value);
      if (text !== null || value === null || typeof value === "string") this.#read.add(key);
      if (text !== null) return text;
    }
    return null;
  }

  prose(...keys: readonly string[]): Inline | null {
    return prose(this.text(...keys));
  }

  /** Like `prose`, but keeps the line breaks. */
  passage(...keys: readonly string[]): Prose | null {
    return passage(this.text(...keys));
  }

  strong(...keys: readonly string[]): Inline | null {
    return strong(this.text(...keys));
  }

  code(...keys: readonly string[]): Inline | null {
    return code(this.text(...keys));
  }

  /** Like `code`, but keeps the line breaks. */
  snippet(...keys: readonly string[]): Prose | null {
    return snippet(this.text(...keys));
  }

  /** Like `code`, but shows an empty text, and hides a value whose name marks it as secret. */
  literal(...keys: readonly string[]): Inline | null {
    const name = scalarText(this.peek("name")) ?? scalarText(this.peek("id")) ?? "";
    const text = this.text(...keys);
    if (text !== null && isSecretValue(name, text)) return HIDDEN_VALUE;
    const empty = keys.find((key) => typeof this.peek(key) === "string");
    return this.code(...keys) ?? (empty === undefined ? null : code('""'));
  }

  /** Returns a number, even if it is written as text. */
  number(key: string): number | null {
    const number = scalarNumber(this.peek(key));
    if (number !== null) this.#read.add(key);
    return number;
  }

  /** Returns a boolean, even if it is written as a word. Returns `null` for other values. */
  flag(key: string): boolean | null {
    const flag = scalarFlag(this.peek(key));
    if (flag !== null) this.#read.add(key);
    return flag;
  }

  /** Returns the items of a list. A single text counts as a list with one item. */
  list(key: string): readonly unknown[] {
    const value = this.peek(key);
    if (!isNothing(value) && !Array.isArray(value) && typeof value !== "string") return [];
    this.#read.add(key);
    return isNothing(value) ? [] : toItems(value);
  }

  /** Returns the scalars of a list as text. Maps and lists in the list stay among the leftovers. */
  texts(key: string): string[] {
    const items = this.list(key);
    const others = items.filter((item) => typeof item === "object" && item !== null);
    if (others.length > 0) this.#keep(key, { others });
    return items.map(scalarText).filter((text) => text !== null);
  }

  proses(key: string): (Inline | null)[] {
    return this.texts(key).map(prose);
  }

  passages(key: string): (Prose | null)[] {
    return this.texts(key).map(passage);
  }

  codes(key: string): (Inline | null)[] {
    return this.texts(key).map(code);
  }

  /** Returns true if the key's value is a map. Marks the key as read, as `map` does. */
  hasMap(key: string): boolean {
    this.map(key);
    return isRecord(this.peek(key));
  }

  /**
   * Returns the map of a key, or an empty map if the key has none. All calls return the same object for a map, so several
   * sections can share a block.
   */
  map(key: string): Fields {
    const known = this.#parts?.get(key);
    if (known instanceof Fields) return known;
    const value = this.peek(key);
    if (isRecord(value) || isNothing(value)) this.#read.add(key);
    const fields = new Fields(isRecord(value) ? value : {}, `${this.path}.${key}`);
    if (isRecord(value)) this.#keep(key, fields);
    return fields;
  }

  /**
   * Returns the items of a list as maps. An item that is not a map becomes a map with the item as the value of the key that `main`
   * names.
   */
  entries(key: string, main: string): Fields[] {
    const path = `${this.path}.${key}`;
    const entries = this.list(key).flatMap((item, index) => {
      if (isNothing(item) && item !== 0 && item !== false) return [];
      return [new Fields(isRecord(item) ? item : { [main]: item }, `${path}[${index}]`)];
    });
    const nameKeys = main === "name" ? ["id", "name"] : ["id", "level", "decision"];
    if (entries.length > 0) this.#keep(key, { entries, nameKeys });
    return entries;
  }

  /** Marks all keys as read and drops the maps and lists below them, so that the map has no leftovers. */
  discard(): void {
    this.skip(...this.keys());
    this.#parts = null;
  }

  /** Returns true for a block with `enabled: false`. The whole block is then omitted. */
  isOff(): boolean {
    const isOff = this.flag("enabled") === false;
    if (isOff) this.discard();
    return isOff;
  }

  /**
   * Returns the unread values in document order, or `null` if all are read. Marks the values as read. Keeps the maps,
   * because a later section may read them again.
   */
  takeLeftovers(): DocumentMap | null {
    const leftovers: [string, unknown][] = [];
    for (const key of this.keys()) {
      const rest = this.#leftoverOf(key);
      if (rest !== null) leftovers.push([key, rest]);
      this.#read.add(key);
      if (!(this.#parts?.get(key) instanceof Fields)) this.#parts?.delete(key);
    }
    return leftovers.length === 0 ? null : Object.fromEntries(leftovers);
  }

  /** Returns the first of `keys` that was read and whose text is short enough for a name, with the text. */
  findName(keys: readonly string[]): readonly [key: string, text: string] | null {
    for (const key of keys) {
      const text = scalarText(this.peek(key))?.trim() ?? "";
      if (this.#read.has(key) && SHORT_LINE.test(text)) return [key, text];
    }
    return null;
  }

  #keep(key: string, part: Part): void {
    this.#parts ??= new Map();
    this.#parts.set(key, part);
  }

  #leftoverOf(key: string): unknown {
    const part = this.#parts?.get(key);
    if (part === undefined) return this.#read.has(key) ? null : this.peek(key);
    if (part instanceof Fields) return part.takeLeftovers();
    if ("others" in part) return part.others;
    const rests = listRests(part);
    return rests.length === 0 ? null : rests;
  }
}

/**
 * Returns the leftovers of each entry, after the name that the section has shown. If the name is missing or not unique, the number
 * of the entry replaces it. A single entry needs no number.
 */
function listRests({ entries, nameKeys }: MapList): DocumentMap[] {
  const names = entries.map((entry) => entry.findName(nameKeys));
  const counts = new Map<string | undefined, number>();
  for (const name of names) counts.set(name?.[1], (counts.get(name?.[1]) ?? 0) + 1);
  return entries.flatMap((entry, index) => {
    const rest = entry.takeLeftovers();
    if (rest === null || pruneValue(rest, "") === undefined) return [];
    const name = names[index];
    if (name && counts.get(name[1]) === 1) return [{ [name[0]]: name[1], ...rest }];
    return [entries.length === 1 ? rest : { entry: index + 1, ...rest }];
  });
}
