/** Removes secrets, addresses and empty values before a document is rendered. */
import { isRecord } from "../../plain_values.ts";
import { scalarText } from "../../yaml/scalars.ts";

type DocumentMap = Readonly<Record<string, unknown>>;

/** Keys whose values are secret at any depth. A secret can only be recognized by its name. */
const SECRET_KEY =
  /(?:^|_)(?:secret|password|passwd|passphrase|token|(?:api|access|auth|encryption|master|private|secret|signing)_?key|secret_?key_?base|credentials?|webhook|webhook_?ur[il])$/i;
/** The fields of a secret that may be shown. */
const PUBLIC_SECRET_KEYS = new Set(["name", "id", "description", "required", "stages", "provider", "path"]);
const SHORTEST_SECRET_KEY = "token".length;
/** The number of characters at the end of a key that are checked. */
const KEY_END_LENGTH = 100;

/** Returns true if the value of the key must not be shown. */
function isSecretKey(key: string): boolean {
  if (key.length < SHORTEST_SECRET_KEY) return false;
  const end = key.slice(-KEY_END_LENGTH).replace(/([a-z0-9])([A-Z])/g, "$1_$2");
  return SECRET_KEY.test(end.replace(/[-.\s]/g, "_"));
}

/** Returns true if a value must not be shown because of its name. A template contains no secret, only the source of one. */
export function isSecretValue(name: string, text: string): boolean {
  return isSecretKey(name) && !/^\s*(?:\{\{[^{}]*\}\}|\$\{?\w+\}?)\s*$/.test(text);
}

/** Returns the value of a key without empty parts and secrets. Returns `undefined` if nothing is left. */
export function pruneValue(value: unknown, key: string): unknown {
  return prune(value, { key, isBelowSecrets: false });
}

/** Keys below which no address is shown, regardless of the type of their value. */
const ADDRESSED_KEY = /^(?:notifications|channels)$/i;
const ADDRESS_KEY = /secret|ur[il]$|webhook|endpoint|address|token|key$|header|password|credential|auth/i;

/**
 * Returns the map of a trigger or channel without keys and texts that are, or may contain, an address or a secret, at any
 * depth.
 */
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
  /** True below a key `secrets`, where only the values of PUBLIC_SECRET_KEYS may be shown. */
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
  const shown = ADDRESSED_KEY.test(key) ? cleanAddresses(value) : value;
  if (Array.isArray(shown)) return pruneList(shown, inner);
  return isRecord(shown) ? pruneMap(shown, inner) : undefined;
}

function pruneList(list: readonly unknown[], place: Place): unknown {
  // The texts in a list called `secrets` are names.
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
