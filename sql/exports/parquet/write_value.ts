/** Writes values of PostgreSQL's binary COPY format as Parquet's PLAIN encoding has them. */
import type { ExportColumn } from "../../../shared/exports/column.ts";
import type { Page } from "./page.ts";

/** Adds a row with the value of `length` bytes that starts at `at`. */
export type WriteValue = (page: Page, source: Uint8Array, at: number, length: number) => void;

const TWO_TO_32 = 2 ** 32;
/** PostgreSQL counts from 2000, Parquet from 1970. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
/** Below this, a loop is faster than a call that copies. */
const SHORT_BYTES = 32;
const UUID_TEXT_BYTES = 36;
const DASH = 45;
const DASH_BEFORE: ReadonlySet<number> = new Set([4, 6, 8, 10]);
const HEX = Uint8Array.from(Buffer.from("0123456789abcdef"));

/** Returns the writer of a column's values. */
export function writerOf(column: ExportColumn): WriteValue {
  switch (column.type) {
    case "uuid":
      return writeUuid;
    case "text":
    case "json":
      return writeText;
    case "boolean":
      return writeBoolean;
    case "timestamp":
      return writeTimestamp;
    case "integer":
    case "number":
      return writeNumber;
  }
}

/** PostgreSQL has the most significant byte first, Parquet last. */
function writeNumber(page: Page, source: Uint8Array, at: number, length: number): void {
  page.addPresent();
  page.reserve(length);
  const { bytes, end } = page;
  for (let index = 0; index < length; index++) bytes[end + index] = source[at + length - 1 - index] ?? 0;
  page.end = end + length;
}

function writeText(page: Page, source: Uint8Array, at: number, length: number): void {
  page.addPresent();
  page.reserve(4 + length);
  const { bytes, end } = page;
  writeUint32(bytes, end, length);
  const start = end + 4;
  if (length <= SHORT_BYTES) {
    for (let index = 0; index < length; index++) bytes[start + index] = source[at + index] ?? 0;
  } else {
    bytes.set(source.subarray(at, at + length), start);
  }
  page.end = start + length;
}

function writeUuid(page: Page, source: Uint8Array, at: number): void {
  page.addPresent();
  page.reserve(4 + UUID_TEXT_BYTES);
  const { bytes, end } = page;
  writeUint32(bytes, end, UUID_TEXT_BYTES);
  let target = end + 4;
  for (let index = 0; index < 16; index++) {
    if (DASH_BEFORE.has(index)) bytes[target++] = DASH;
    const byte = source[at + index] ?? 0;
    bytes[target++] = HEX[byte >> 4] ?? 0;
    bytes[target++] = HEX[byte & 15] ?? 0;
  }
  page.end = target;
}

/** A bit per value, the lowest first. */
function writeBoolean(page: Page, source: Uint8Array, at: number): void {
  const bit = (page.rows - page.nulls) & 7;
  page.addPresent();
  if (bit === 0) {
    page.reserve(1);
    page.bytes[page.end] = 0;
    page.end += 1;
  }
  const last = page.end - 1;
  page.bytes[last] = (page.bytes[last] ?? 0) | ((source[at] ?? 0) << bit);
}

/** From microseconds to milliseconds; both halves are divided, because the whole is beyond what a number can hold. */
function writeTimestamp(page: Page, source: Uint8Array, at: number): void {
  const high = readInt32(source, at);
  const low = readInt32(source, at + 4) >>> 0;
  const quotient = Math.floor(high / 1000);
  const rest = (high - quotient * 1000) * TWO_TO_32 + low;
  const ms = quotient * TWO_TO_32 + Math.floor(rest / 1000) + EPOCH_MS;
  page.addPresent();
  page.reserve(8);
  const upper = Math.floor(ms / TWO_TO_32);
  writeUint32(page.bytes, page.end, ms - upper * TWO_TO_32);
  writeUint32(page.bytes, page.end + 4, upper);
  page.end += 8;
}

/** Reads four bytes, the most significant first. */
export function readInt32(source: Uint8Array, at: number): number {
  return (
    ((source[at] ?? 0) << 24) |
    ((source[at + 1] ?? 0) << 16) |
    ((source[at + 2] ?? 0) << 8) |
    (source[at + 3] ?? 0)
  );
}

function writeUint32(target: Uint8Array, at: number, value: number): void {
  target[at] = value;
  target[at + 1] = value >>> 8;
  target[at + 2] = value >>> 16;
  target[at + 3] = value >>> 24;
}
