/** Removes secrets, addresses and empty values from what is rendered. */
import { scalarText } from "../../yaml/scalars.ts";
import { isRecord } from "../../yaml/values.ts";
import type { DocumentMap } from "./field_reader.ts";

/** Keys whose values are secret wherever they stand: a secret is known by its name only. */
const SECRET_KEY =
  /(?:^|[_\-.\s])(?:secret|password|passwd|passphrase|token|api_?key|access_?key|private_?key|signing_?key|credentials?|webhook|webhook_?ur[il])$/i;
/** What may be said about a secret. */
const PUBLIC_SECRET_KEYS = new Set(["name", "id", "description", "required", "stages", "provider", "path"]);
const SHORTEST_SECRET_KEY = "token".length;
/** Characters at the end of a key that are looked at. */
const KEY_END_LENGTH = 100;

/** True when the value of such a key must not be shown. */
export function isSecretKey(key: string): boolean {
  return (
    key.length >= SHORTEST_SECRET_KEY &&
    SECRET_KEY.test(key.slice(-KEY_END_LENGTH).replace(/([a-z0-9])([A-Z])/g, "$1_$2"))
  );
}

/** The value of the key without its empty parts and without secrets; `undefined` when nothing is left. */
export function pruneValue(value: unknown, key: string): unknown {
  return prune(value, { key, isBelowSecrets: false });
}

const ADDRESS_KEY = /secret|ur[il]$|webhook|endpoint|address|token|key$|header|password|credential|auth/i;

/** The map of a trigger or channel without every key and text that is, or may hold, an address or a secret; at any depth. */
export function withoutAddresses(map: DocumentMap): DocumentMap {
  const shown = Object.entries(map).filter(([key, value]) => !ADDRESS_KEY.test(key) && !isAddress(value));
  return Object.fromEntries(shown.map(([key, value]) => [key, cleanAddresses(value)]));
}

function cleanAddresses(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isAddress(item)).map(cleanAddresses);
  return isRecord(value) ? withoutAddresses(value) : value;
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && value.includes("://");
}

interface Place {
  key: string;
  /** Below a key `secrets`, where every value is one. */
  isBelowSecrets: boolean;
}

function prune(value: unknown, place: Place): unknown {
  const { key, isBelowSecrets } = place;
  if (typeof value !== "object") {
    const text = scalarText(value);
    if (text === null) return undefined;
    const isSecret = isSecretKey(key) || (isBelowSecrets && !PUBLIC_SECRET_KEYS.has(key));
    return isSecret ? "(secret, not shown)" : text;
  }
  const inner = { key, isBelowSecrets: isBelowSecrets || key.toLowerCase() === "secrets" };
  if (Array.isArray(value)) return pruneList(value, inner);
  return isRecord(value) ? pruneMap(value, inner) : undefined;
}

function pruneList(list: readonly unknown[], place: Place): unknown {
  // Texts in a list called `secrets` are names.
  const key = place.isBelowSecrets ? "name" : place.key;
  const items = list.map((item) => prune(item, typeof item === "object" ? place : { ...place, key }));
  const full = items.filter((item) => item !== undefined);
  return full.length === 0 ? undefined : full;
}

function pruneMap(map: DocumentMap, { isBelowSecrets }: Place): unknown {
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(map)) {
    const item = prune(map[key], { key, isBelowSecrets });
    if (item !== undefined) entries.push([key, item]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
