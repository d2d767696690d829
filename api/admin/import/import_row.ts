/**
 * Checks a line of a bundle against the columns of its dataset. Rejects values that would not survive a round trip because
 * PostgreSQL would coerce them (the text `now`, a number for a string). Accepts equivalent spellings of a UUID or an instant.
 */
import { isStorable } from "../../../shared/characters.ts";
import type { ExportColumn } from "../../../shared/exports/column.ts";
import { isRecord } from "../../../shared/plain_values.ts";
import { isUuid } from "../../../shared/uuid.ts";

/** An ISO 8601 time with at most milliseconds, the stored precision. PostgreSQL has no year 0000. */
const INSTANT =
  /^((?!0000)\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,3})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;
const PLAIN_INTEGER = /^-?\d+$/;
/** JSON escapes of NUL and of surrogates, which may be unpaired. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** The problem with a line that is not a row. */
export const NO_OBJECT = "it is not a JSON object";

/**
 * Returns a function that checks a dataset's lines. The function returns the problem with a line; `null` if the line is valid.
 * The table's constraints reject missing values and invalid enumeration values.
 */
export function rowCheck(columns: readonly ExportColumn[]): (line: string) => string | null {
  const names = new Set(columns.map(({ name }) => name));
  const hasOddInteger = oddIntegers(columns);
  return (line) => {
    const row = parseRow(line);
    if (row === null) return NO_OBJECT;
    const unknown = Object.keys(row).find((key) => !names.has(key));
    if (unknown !== undefined) return `unknown column "${unknown}"`;
    const findings: LineFindings = {
      literals: hasOddInteger(line) ? line : null,
      isSuspicious: SUSPICIOUS_ESCAPE.test(line),
    };
    for (const column of columns) {
      const reason = problemOf(column, row[column.name] ?? null, findings);
      if (reason !== null) return `${column.name} ${reason}`;
    }
    return null;
  };
}

/** Results of checks on the whole line, which make checks of most single values unnecessary. */
interface LineFindings {
  /** The line if it has an integer that `JSON.parse` may change, such as 5.0 or a number above 2^53; otherwise null. */
  literals: string | null;
  /** Whether a string may contain characters that PostgreSQL cannot store. */
  isSuspicious: boolean;
}

function problemOf(
  column: ExportColumn,
  value: unknown,
  { literals, isSuspicious }: LineFindings,
): string | null {
  if (value === null) return null;
  if (!hasType(column, value, literals)) return `must be ${describe(column)}`;
  if (!isSuspicious || hasStorableTexts(value)) return null;
  return "contains a character that PostgreSQL cannot store (NUL or an unpaired surrogate)";
}

function parseRow(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function hasType(column: ExportColumn, value: unknown, literals: string | null): boolean {
  switch (column.type) {
    case "uuid":
      return typeof value === "string" && isUuid(value);
    case "text":
      return typeof value === "string";
    case "integer":
      return typeof value === "number" && isInteger(column, value, literals);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "timestamp":
      return typeof value === "string" && isInstant(value);
    case "json":
      return true;
  }
}

function describe({ type, bits, nullable }: ExportColumn): string {
  const descriptions: Record<ExportColumn["type"], string> = {
    uuid: "a UUID",
    text: "a string",
    integer: `a ${bits ?? 32}-bit integer`,
    number: "a number",
    boolean: "true or false",
    timestamp: 'an instant like "2026-01-31T12:00:00.000Z"',
    json: "JSON",
  };
  return nullable ? `${descriptions[type]}, or null` : descriptions[type];
}

/** Tests for a valid instant. Rejects dates such as February 31, which `Date` would change to another day. */
function isInstant(text: string): boolean {
  const [, day = ""] = INSTANT.exec(text) ?? [];
  const date = new Date(`${day}T00:00:00.000Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** Returns a test for lines with an integer of more than 15 digits or in another notation. One regex covers all columns. */
function oddIntegers(columns: readonly ExportColumn[]): (line: string) => boolean {
  const names = columns.filter(({ type }) => type === "integer").map(({ name }) => name);
  if (names.length === 0) return () => false;
  const odd = new RegExp(`"(?:${names.join("|")})"\\s*:\\s*(?!-?\\d{1,15}[\\s,}])[-\\d]`);
  return (line) => odd.test(line);
}

function isInteger({ name, bits = 32 }: ExportColumn, value: number, literals: string | null): boolean {
  // The last of duplicate names counts, as in PostgreSQL. No dataset has both integer and JSON columns, so no match is nested.
  const literal = literals?.matchAll(new RegExp(`"${name}"\\s*:\\s*(-?\\d[^\\s,}]*)`, "g"));
  const text = literal ? [...literal].at(-1)?.[1] : undefined;
  // The operator | converts to a 32-bit integer.
  if (text === undefined) return bits === 32 ? (value | 0) === value : Number.isSafeInteger(value);
  return PLAIN_INTEGER.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text);
}

/** Tests whether PostgreSQL can store all strings in a value. Does not recurse, because JSON may be arbitrarily deep. */
function hasStorableTexts(value: unknown): boolean {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && !isStorable(next)) return false;
    if (typeof next === "object" && next !== null)
      for (const entry of Object.entries(next)) rest.push(...entry);
  }
  return true;
}
