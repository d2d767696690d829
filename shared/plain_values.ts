/** Tells maps, lists and texts apart in values that came from YAML or JSON. */

/** True for a map: neither a list nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a map, else an empty one. */
export function toRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Returns the items of a list, and a text as a list of one. Authors often write a single entry without its list. */
export function toItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "string" && value.trim() !== "" ? [value] : [];
}

export function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
