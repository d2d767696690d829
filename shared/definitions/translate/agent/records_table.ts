/** Tables of records whose keys only their author knows. */
import { scalarText } from "../../../yaml/scalars.ts";
import { isRecord } from "../../../yaml/values.ts";
import type { Fields } from "../field_reader.ts";
import { humanize } from "../generic_section.ts";
import { type Inline, prose } from "../inline.ts";
import type { MarkdownWriter } from "../markdown_writer.ts";

const MAX_COLUMNS = 6;

/**
 * Writes a map of scalars as names and meanings, a list of flat maps as one row each. Anything else is left unread,
 * for the generic section.
 */
export function writeRecords(w: MarkdownWriter, fields: Fields, key: string): void {
  const value = fields.peek(key);
  const records = Array.isArray(value) ? value : [];
  const columns = [...new Set(records.flatMap((record) => (isRecord(record) ? Object.keys(record) : [])))];
  if (records.length > 0 && records.every(isFlat) && columns.length <= MAX_COLUMNS) {
    fields.skip(key);
    w.table(
      columns.map((column) => prose(humanize(column)) ?? ""),
      records.map((record) => columns.map((column) => cell(record, column))),
    );
  } else if (isFlat(value)) {
    fields.skip(key);
    w.table(
      ["Name", "Meaning"],
      Object.keys(value).map((name) => [prose(name), cell(value, name)]),
    );
  }
}

function isFlat(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.values(value).every((item) => item === null || typeof item !== "object");
}

function cell(record: Record<string, unknown>, key: string): Inline | null {
  const text = Object.hasOwn(record, key) ? scalarText(record[key]) : null;
  return text === null ? null : prose(text);
}
