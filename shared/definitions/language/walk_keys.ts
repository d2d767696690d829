/** Walks a document along its key table. The graph, the warnings, and the lists of models and tools are computed with it. */
import { isRecord, toItems, toRecord } from "../../plain_values.ts";
import type { DefinitionType } from "../../vocabulary.ts";
import { scalarText } from "../../yaml/scalars.ts";
import type { Key } from "./keys.ts";
import { LANGUAGES } from "./language.ts";

/** A value with its key in the table. */
export interface KeyPlace {
  /** The key in the table; null for an unknown key. */
  key: Key | null;
  value: unknown;
  /** The path below the root key. */
  path: readonly (string | number)[];
  /** The map that contains the value. */
  around: { key: Key; value: Readonly<Record<string, unknown>> };
  /** The context in the graph: the label and id of the nearest labeled entry, such as `phase review`. */
  context: string;
}

export type KnownPlace = KeyPlace & { key: Key };

/** Calls `visit` for every value with a key in the table and for every unknown key, in document order. */
export function walkKeys(
  { type, body }: { type: DefinitionType; body: Record<string, unknown> },
  visit: (place: KeyPlace) => void,
): void {
  const key = LANGUAGES[type];
  walkInside({ key, value: body, path: [], around: { key, value: body }, context: "" }, visit);
}

function walk(place: KnownPlace, visit: (place: KeyPlace) => void): void {
  visit(place);
  walkInside(place, visit);
}

function walkInside(place: KnownPlace, visit: (place: KeyPlace) => void): void {
  const { key, value } = place;
  if (key.kind === "list" && !isRecord(value)) walkItems(place, visit);
  else if (isRecord(value)) walkMap(place, value, visit);
  else if (key.kind === "map") walkMain(place, visit);
}

function walkItems({ key, value, ...place }: KnownPlace, visit: (place: KeyPlace) => void): void {
  if (key.item === null) return;
  const isList = Array.isArray(value);
  for (const [index, item] of toItems(value).entries()) {
    const path = isList ? [...place.path, index] : place.path;
    const context = key.label === "" ? place.context : `${key.label} ${labelOf(item, index)}`;
    walk({ ...place, key: key.item, value: item, path, context }, visit);
  }
}

function walkMap(place: KnownPlace, map: Record<string, unknown>, visit: (place: KeyPlace) => void): void {
  const { key, path, context } = place;
  const around = { key, value: map };
  for (const name of Object.keys(map)) {
    const inner = keyInside(key, name);
    const next = { value: map[name], path: [...path, name], around, context };
    if (inner) walk({ ...next, key: inner }, visit);
    else if (key.kind === "map") visit({ ...next, key: null });
  }
}

function keyInside({ kind, item, keys }: Key, name: string): Key | null {
  if (kind === "names") return item;
  return Object.hasOwn(keys, name) ? (keys[name] ?? null) : null;
}

/**
 * Returns a copy of a body in expanded form: list values are always lists, list entries are maps, and empty lists are
 * removed. `positional: target` becomes `positional: [{name: target}]`.
 */
export function expandEntries(type: DefinitionType, body: Record<string, unknown>): Record<string, unknown> {
  return expandMap(LANGUAGES[type], body);
}

function expandMap(key: Key, map: Record<string, unknown>): Record<string, unknown> {
  const expandInside = ([name, value]: [string, unknown]): [string, unknown][] => {
    const inner = keyInside(key, name);
    if (inner?.kind === "list" && key.kind !== "names" && isEmptyList(value)) return [];
    return [[name, inner ? expand(inner, value) : value]];
  };
  return Object.fromEntries(Object.entries(map).flatMap(expandInside));
}

function isEmptyList(value: unknown): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function expand(key: Key, value: unknown): unknown {
  if (isRecord(value)) return expandMap(key, value);
  if (key.or.includes("list") && Array.isArray(value)) return expandMap(key, { [key.main]: value });
  const { kind, item } = key;
  const items = toItems(value);
  if (kind !== "list" || item === null || items.length === 0) return value;
  const isShort = (one: unknown) => Object.hasOwn(item.keys, item.main) && scalarText(one) !== null;
  return items.map((one) => expand(item, isShort(one) ? { [item.main]: one } : one));
}

/** Reads a scalar as the map's main key: `workflows: [deploy]` means `workflows: [{ref: deploy}]`. */
function walkMain({ key, value, ...place }: KnownPlace, visit: (place: KeyPlace) => void): void {
  const main = key.keys[key.main];
  const isRead = Array.isArray(value) ? key.or.includes("list") : scalarText(value) !== null;
  if (main === undefined || !isRead) return;
  walk({ ...place, key: main, value, around: { key, value: { [key.main]: value } } }, visit);
}

function labelOf(item: unknown, index: number): string {
  const { id, name } = toRecord(item);
  return scalarText(id) ?? scalarText(name) ?? String(index + 1);
}
