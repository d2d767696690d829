/** Orders entries by `depends_on`, in levels whose entries do not depend on each other. */
import { shorten } from "../../characters.ts";
import { scalarText } from "../../yaml/scalars.ts";
import type { Fields } from "./field_reader.ts";
import { type Inline, join, md } from "./inline.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { TranslationFailure, type TranslationFailureReason } from "./translation_failure.ts";

/** A phase, stage or operation with its dependencies. */
export interface Ordered {
  fields: Fields;
  /** The number of the entry in document order, counted from 1. */
  number: number;
  /** The name of the entry, or else its id, or its kind and number. */
  title: Inline;
  /** The indexes of the entries that must finish first. */
  after: readonly number[];
}

/**
 * Reads the phases or stages and their levels. Entries of the same level may run together. Fails with `missing` if there are
 * no entries, and with the failures of `readOrdered` and `groupByLevel`.
 */
export function readSequence(
  fields: Fields,
  key: string,
  { kind, missing }: { kind: Inline; missing: { reason: TranslationFailureReason; message: string } },
): { entries: Ordered[]; levels: Ordered[][] } {
  const items = fields.peek(key);
  if (!Array.isArray(items) || items.length === 0)
    throw new TranslationFailure(missing.reason, `${fields.path}.${key}`, missing.message);
  const entries = readOrdered(fields.entries(key, "name"), kind);
  return { entries, levels: groupByLevel(entries) };
}

/** Resolves `depends_on` of every entry. Fails with `unknown_dependency`. */
export function readOrdered(entries: readonly Fields[], kind: Inline): Ordered[] {
  const byId = new Map<string, number>();
  for (const [index, fields] of entries.entries()) {
    const id = scalarText(fields.peek("id"));
    if (id !== null && !byId.has(id)) byId.set(id, index);
  }
  return entries.map((fields, index) => ({
    fields,
    number: index + 1,
    title: fields.prose("name") ?? fields.code("id") ?? md`${kind} ${index + 1}`,
    after: readDependencies(fields, byId),
  }));
}

/** The maximum length of an id in a message. */
const MAX_SHOWN = 100;

function readDependencies(fields: Fields, byId: ReadonlyMap<string, number>): number[] {
  const path = `${fields.path}.depends_on`;
  const value = fields.raw("depends_on") ?? [];
  const names = Array.isArray(value) ? value : [value];
  const found = names.map((name, index) => {
    const position = byId.get(scalarText(name) ?? "");
    if (position !== undefined) return position;
    const where = Array.isArray(value) ? `${path}[${index}]` : path;
    const id = shorten(scalarText(name) ?? "", MAX_SHOWN);
    const message = `"depends_on" names "${id}", but no entry has this id`;
    throw new TranslationFailure("unknown_dependency", where, message);
  });
  return [...new Set(found)];
}

/** Groups entries by the length of the longest dependency chain before them. Fails with `cycle`. */
export function groupByLevel(entries: readonly Ordered[]): Ordered[][] {
  const waiting = entries.map((entry) => entry.after.length);
  const followers: number[][] = entries.map(() => []);
  for (const [index, entry] of entries.entries()) {
    for (const before of entry.after) followers[before]?.push(index);
  }
  const levels: Ordered[][] = [];
  let ready = [...waiting.keys()].filter((index) => waiting[index] === 0);
  let placed = 0;
  while (ready.length > 0) {
    levels.push(ready.flatMap((index) => entries[index] ?? []));
    placed += ready.length;
    ready = ready
      .flatMap((index) => followers[index] ?? [])
      .filter((index) => {
        waiting[index] = (waiting[index] ?? 0) - 1;
        return waiting[index] === 0;
      })
      .sort((a, b) => a - b);
  }
  if (placed < entries.length) {
    const stuck = entries.find((_, index) => (waiting[index] ?? 0) > 0);
    throw new TranslationFailure("cycle", `${stuck?.fields.path}.depends_on`, '"depends_on" has a cycle');
  }
  return levels;
}

/** Writes one numbered line per level. */
export function writeLevels(w: MarkdownWriter, levels: readonly (readonly Ordered[])[]): void {
  for (const [index, level] of levels.entries()) {
    const parts = level.map(({ title }) => title);
    const titles = join(parts, ", ");
    w.numbered(index + 1, level.length > 1 && titles ? md`${titles} (these may run together)` : titles);
  }
}

/** Returns the titles of the entry's dependencies; `null` if it has none. */
export function describeAfter(entry: Ordered, all: readonly Ordered[]): Inline | null {
  const titles = entry.after.map((index) => all[index]?.title ?? null);
  return join(titles, ", ");
}
