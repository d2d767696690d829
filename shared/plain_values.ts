/** Distinguishes maps, lists and texts in values from YAML or JSON. */

/** Returns true for a map, but not for a list or null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a map, or else an empty map. */
export function toRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/**
 * Returns the items of a list. A text counts as a list with one item, because authors often write a single entry without a
 * list.
 */
export function toItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "string" && value.trim() !== "" ? [value] : [];
}

export function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
