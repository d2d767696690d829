/** Compares two versions of a definition by section and by field. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, toRecord } from "../plain_values.ts";
import { formatPath, formatStep, type PathStep } from "../yaml/problems.ts";
import { scalarText } from "../yaml/scalars.ts";
import { expandEntries } from "./language/walk_keys.ts";
import type { DefinitionSource } from "./parse_definition.ts";

export type ComparedDefinition = Pick<DefinitionSource, "type" | "root">;

export const CHANGES = ["added", "removed", "modified", "unchanged"] as const;
type FieldChangeType = (typeof CHANGES)[number];

/** The names of the sections, such as `agent.interface`, by type of change. */
type SectionDiff = Record<FieldChangeType, string[]>;

export interface FieldChange {
  /**
   * The path of the field, such as `agent.defaults.model` or, for an entry with an id,
   * `agent.scoring.categories[tests].weight`.
   */
  path: string;
  type: FieldChangeType;
  oldValue?: unknown;
  newValue?: unknown;
}

export interface FieldDiff {
  fields: FieldChange[];
  summary: Record<FieldChangeType, number>;
}

/**
 * Compares two documents section by section. A section is a key at the top level, or inside a map at the top level. Compares the
 * whole value of each section, but ignores key order, comments and the version. Removed sections are in the order of `from`, all
 * others in the order of `to`.
 */
export function diffSections(from: ComparedDefinition, to: ComparedDefinition): SectionDiff {
  const [before, after] = [listSections(from), listSections(to)];
  const diff: SectionDiff = { added: [], removed: [], modified: [], unchanged: [] };
  for (const [key, { name, value }] of after) {
    const old = before.get(key);
    if (!old) diff.added.push(name);
    else if (isDeepStrictEqual(old.value, value)) diff.unchanged.push(name);
    else diff.modified.push(name);
  }
  for (const [key, { name }] of before) if (!after.has(key)) diff.removed.push(name);
  return diff;
}

/**
 * Compares two documents field by field, except for the version. The summary counts unchanged fields; `full` also lists them. An
 * added or removed block is one field, and so is a list of scalars. If all entries of a list have unique ids or names, they are
 * matched by id or name, not by position. Shorthand is compared in its expanded form. An empty list is the same as no list.
 */
export function diffFields(
  from: ComparedDefinition,
  to: ComparedDefinition,
  options: { full?: boolean } = {},
): FieldDiff {
  const all: FieldChange[] = [];
  compare([], withoutShorthand(from), withoutShorthand(to), all);
  const summary = { added: 0, removed: 0, modified: 0, unchanged: 0 };
  for (const { type } of all) summary[type] += 1;
  return { fields: options.full ? all : all.filter(({ type }) => type !== "unchanged"), summary };
}

/** Splits the change of a whole block into the removed parts of its old value and the added parts of its new value. */
export function partsOf({ path, type, oldValue, newValue }: FieldChange): FieldChange[] {
  if (type === "unchanged") return [];
  const list = (value: unknown): [string, unknown][] => {
    const entries = entriesOf(value);
    if (!entries) return [];
    return [...entries.values].map(([key, part]) => [path + formatStep(stepTo(entries, key)), part]);
  };
  return [
    ...list(oldValue).map(([part, value]): FieldChange => ({ path: part, type: "removed", oldValue: value })),
    ...list(newValue).map(([part, value]): FieldChange => ({ path: part, type: "added", newValue: value })),
  ];
}

/** Returns the sections by exact path. Section names may be truncated, so they may not be unique. */
function listSections(source: ComparedDefinition) {
  const sections = new Map<string, { name: string; value: unknown }>();
  const add = (path: string[], value: unknown) =>
    sections.set(JSON.stringify(path), { name: formatPath(path), value });
  for (const [key, value] of Object.entries(withoutVersion(source))) {
    if (!isRecord(value)) add([key], value);
    else for (const [inner, block] of Object.entries(value)) add([key, inner], block);
  }
  return sections;
}

/** Removes the version, which always differs between two versions. */
function withoutVersion({ type, root }: ComparedDefinition): Record<string, unknown> {
  const body = root[type];
  if (!isRecord(body) || !isRecord(body["interface"])) return root;
  const { version: _, ...declared } = body["interface"];
  return { ...root, [type]: { ...body, interface: declared } };
}

function withoutShorthand(source: ComparedDefinition): Record<string, unknown> {
  const root = withoutVersion(source);
  const body = root[source.type];
  return isRecord(body) ? { ...root, [source.type]: expandEntries(source.type, body) } : root;
}

function compare(path: readonly PathStep[], before: unknown, after: unknown, found: FieldChange[]): void {
  const [old, current] = [entriesOf(before), entriesOf(after)];
  if (old && current && old.kind === current.kind) {
    if (old.kind === "ids") compareOrder(path, old, current, found);
    compareEntries(path, old, current, found);
    return;
  }
  const type = isDeepStrictEqual(before, after) ? "unchanged" : "modified";
  found.push({ path: formatPath(path), type, oldValue: before, newValue: after });
}

/** The parts of a value by key, id or index. */
interface Entries {
  kind: "keys" | "ids" | "places";
  values: ReadonlyMap<string | number, unknown>;
}

/** Returns the parts of a value. Returns null for a value that is compared as a whole: a scalar or a list of scalars. */
function entriesOf(value: unknown): Entries | null {
  if (isRecord(value)) return { kind: "keys", values: new Map(Object.entries(value)) };
  if (!Array.isArray(value) || !value.some((item) => typeof item === "object" && item !== null)) return null;
  const ids = value.map(idOf);
  const isKeyed = ids.every((id) => id !== null) && new Set(ids).size === ids.length;
  if (!isKeyed) return { kind: "places", values: new Map(value.entries()) };
  return { kind: "ids", values: new Map(value.map((item, index) => [ids[index] ?? index, item])) };
}

function stepTo({ kind }: Entries, key: string | number): PathStep {
  return kind === "ids" ? { id: String(key) } : key;
}

function idOf(item: unknown): string | null {
  const { id, name } = toRecord(item);
  return scalarText(id) ?? scalarText(name);
}

function compareEntries(
  path: readonly PathStep[],
  before: Entries,
  after: Entries,
  found: FieldChange[],
): void {
  const inside = (key: string | number) => [...path, stepTo(after, key)];
  for (const [key, value] of after.values) {
    if (before.values.has(key)) compare(inside(key), before.values.get(key), value, found);
    else found.push({ path: formatPath(inside(key)), type: "added", newValue: value });
  }
  for (const [key, value] of before.values) {
    if (!after.values.has(key))
      found.push({ path: formatPath(inside(key)), type: "removed", oldValue: value });
  }
}

/**
 * Compares the order of the entries that both lists contain. Reports a different order as one field, with the lists of ids as
 * values.
 */
function compareOrder(
  path: readonly PathStep[],
  before: Entries,
  after: Entries,
  found: FieldChange[],
): void {
  const oldValue = [...before.values.keys()].filter((id) => after.values.has(id));
  const newValue = [...after.values.keys()].filter((id) => before.values.has(id));
  if (isDeepStrictEqual(oldValue, newValue)) return;
  found.push({ path: formatPath(path), type: "modified", oldValue, newValue });
}
