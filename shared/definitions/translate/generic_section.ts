/** Renders values that no section handles: maps as subheadings, lists as bullets, scalars as `**Key:** value`. */
import { isRecord } from "../../plain_values.ts";
import { scalarText } from "../../yaml/scalars.ts";
import { type DocumentMap, type Fields, HIDDEN_VALUE } from "./field_reader.ts";
import { code, collapse, type Inline, md, type Prose, prose, strong } from "./inline.ts";
import type { MarkdownWriter } from "./markdown_writer.ts";
import { isSecretValue, pruneValue } from "./remove_secrets.ts";

const DEEPEST_HEADING = 6;
/** The maximum number of characters of a name. Longer keys are not split into words. */
const MAX_NAME_LENGTH = 200;
const CAMEL_CASE_HUMP = /([a-z0-9])([A-Z])/g;

/** Converts a key to words: `token_budget` to `Token budget`. */
export function humanize(key: string): string {
  if (key.length > MAX_NAME_LENGTH) return collapse(key) || "Unnamed";
  // A fast path, because most keys are one word, and this runs for every key of a document.
  if (/^[a-z]+$/.test(key)) return key.charAt(0).toUpperCase() + key.slice(1);
  const spaced = key.replace(
    CAMEL_CASE_HUMP,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  );
  const words = collapse(spaced.replace(/[_-]+/g, " "));
  return words === "" ? "Unnamed" : words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the label before a value: `release_version` becomes **Release version:**. */
function label(key: string): Inline {
  return strong(`${humanize(key)}:`) ?? md``;
}

/** Writes a block that no section handles, under its own heading. */
export function writeUnknownBlock(w: MarkdownWriter, key: string, value: unknown): void {
  const content = pruneValue(value, key);
  w.heading(2, prose(humanize(key)) ?? md``);
  if (isRecord(content)) writeMap(w, content, 3);
  else if (Array.isArray(content)) writeItems(w, content);
  else writeScalar(w, key, content);
}

/** Writes the keys that a section does not handle, at the end of the section. */
export function writeLeftovers(w: MarkdownWriter, fields: Fields): void {
  const leftovers = takeShownLeftovers(fields);
  if (leftovers === null) return;
  w.heading(3, md`Further notes`);
  writeMap(w, leftovers, 4);
}

/** Writes the keys that a list item does not handle, as nested bullets. */
export function writeLeftoverBullets(w: MarkdownWriter, fields: Fields): void {
  writeBullets(w, Object.entries(takeShownLeftovers(fields) ?? {}));
}

function takeShownLeftovers(fields: Fields): DocumentMap | null {
  const shown = pruneValue(fields.takeLeftovers(), "");
  return isRecord(shown) ? shown : null;
}

/** Writes a bullet for each entry, with the output of `writeBelow` and the unread fields below it. */
export function writeEntries(
  w: MarkdownWriter,
  entries: readonly Fields[],
  describe: (entry: Fields) => Prose | null,
  { lead = null, writeBelow }: { lead?: Inline | null; writeBelow?: (entry: Fields) => void } = {},
): void {
  if (entries.length > 0) w.paragraph(lead);
  for (const entry of entries) {
    w.bullet(describe(entry), () => {
      writeBelow?.(entry);
      writeLeftoverBullets(w, entry);
    });
  }
}

function writeMap(w: MarkdownWriter, map: DocumentMap, level: number): void {
  const entries = Object.entries(map);
  // A scalar after a subheading would seem to belong to that heading. A map therefore gets a heading only if no scalar or list
  // follows.
  const lastFlat = entries.findLastIndex(([, value]) => !isRecord(value));
  for (const [index, [key, value]] of entries.entries()) {
    if (isRecord(value) && index > lastFlat && level <= DEEPEST_HEADING) {
      w.heading(level, prose(humanize(key)) ?? md``);
      writeMap(w, value, level + 1);
    } else if (isRecord(value)) {
      w.paragraph(label(key));
      writeBullets(w, Object.entries(value));
    } else if (Array.isArray(value)) {
      w.paragraph(label(key));
      writeItems(w, value);
    } else {
      writeScalar(w, key, value);
    }
  }
}

function writeScalar(w: MarkdownWriter, key: string, value: unknown): void {
  const text = scalarText(value);
  if (text === null) return;
  if (isMultiLine(text)) {
    w.paragraph(label(key));
    w.fence(text);
    return;
  }
  w.paragraph(md`${label(key)} ${prose(text) ?? md``}`);
}

function writeBullets(w: MarkdownWriter, entries: readonly (readonly [string, unknown])[]): void {
  for (const [key, value] of entries) {
    const text = scalarText(value);
    if (text === null) w.bullet(label(key), () => writeChildren(w, value));
    else if (isMultiLine(text)) w.bullet(label(key), () => w.fence(text));
    else w.bullet(md`${label(key)} ${prose(text) ?? md``}`);
  }
}

function writeItems(w: MarkdownWriter, items: readonly unknown[]): void {
  for (const [index, item] of items.entries()) writeItem(w, item, index + 1);
}

/** Writes an item. If a map starts with a scalar, the scalar is the title, and the other values are nested below it. */
function writeItem(w: MarkdownWriter, item: unknown, number: number): void {
  const text = scalarText(item);
  if (text !== null) {
    if (isMultiLine(text)) w.bullet(md`Entry ${number}:`, () => w.fence(text));
    else w.bullet(prose(text));
    return;
  }
  const [first, ...others] = isRecord(item) ? Object.entries(item) : [];
  const firstText = first && scalarText(first[1]);
  if (first && firstText != null && !isMultiLine(firstText)) {
    const title = md`${label(first[0])} ${prose(firstText) ?? md``}`;
    w.bullet(title, () => writeBullets(w, others));
  } else {
    w.bullet(md`Entry ${number}:`, () => writeChildren(w, item));
  }
}

function writeChildren(w: MarkdownWriter, value: unknown): void {
  if (isRecord(value)) writeBullets(w, Object.entries(value));
  else if (Array.isArray(value)) writeItems(w, value);
}

/** Returns true if a text has several lines, not counting blank lines at both ends. */
export function isMultiLine(text: string): boolean {
  return text.trim().includes("\n");
}

/** Writes a bullet with the author's command: inline if the command has one line, otherwise in a fence below. */
export function writeCommand(
  w: MarkdownWriter,
  lead: Prose,
  command: string | null,
  children?: () => void,
): void {
  const inline = code(command);
  if (command === null || inline === null) {
    w.bullet(lead, children);
  } else if (isMultiLine(command)) {
    w.bullet(md`${lead}:`, () => {
      w.fence(command, "sh");
      children?.();
    });
  } else {
    w.bullet(md`${lead}: ${inline}`, children);
  }
}

/** Writes a table with a row for each outcome that has a message or an exit code. Other values stay among the leftovers. */
export function writeOutcomes(w: MarkdownWriter, postflight: Fields, keys: readonly string[]): void {
  const rows = keys.map((key) => {
    const name = prose(humanize(key.replace(/^on_/, "")));
    const outcome = postflight.map(key);
    const message = outcome.prose("message") ?? postflight.prose(key);
    const exitCode = outcome.number("exit_code");
    if (message === null && exitCode === null) return [];
    return [name, message, md`${exitCode}`];
  });
  w.table(["Outcome", "Message", "Exit code"], rows);
}

/** Writes one bullet per name, such as `Input x: y`. Maps and lists stay among the leftovers. */
export function writeAssignments(w: MarkdownWriter, kind: Inline, fields: Fields): void {
  for (const name of fields.keys()) {
    const text = scalarText(fields.peek(name));
    if (text === null) continue;
    fields.skip(name);
    w.bullet(md`${kind} ${code(name)}: ${shownValue(name, text)}`);
  }
}

/** Returns the value, or a placeholder if the name marks it as secret. */
export function shownValue(name: string | null, text: string | null): Inline | null {
  if (text === null) return null;
  return isSecretValue(name ?? "", text) ? HIDDEN_VALUE : (code(text) ?? md`empty`);
}
