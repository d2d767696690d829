/** Fills a page of a Parquet column: the values, encoded by type, and the definition levels, which mark nulls. */
import type { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { ExportColumn, ExportColumnType } from "../../../shared/exports/column.ts";

export type FileMetadata = Parameters<typeof writeMetadata>[1];
type SchemaElement = FileMetadata["schema"][number];

/** The Parquet type of a column, and how to write its values. */
interface StoredType {
  element: Pick<SchemaElement, "converted_type" | "logical_type"> & {
    type: NonNullable<SchemaElement["type"]>;
  };
  /** The PostgreSQL type whose binary form `write` reads. */
  cast: string;
  /** Adds a row in PLAIN encoding. The value starts at offset `at` of `source` and has `length` bytes. */
  write: (page: Page, source: Buffer, at: number, length: number) => void;
}

/** Also the type of UUIDs: Spark and other readers cannot read the logical type UUID, but every reader can join on text. */
const STRING = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } } as const;

const TYPES: Readonly<Record<ExportColumnType, StoredType>> = {
  uuid: { element: STRING, cast: "uuid", write: writeUuid },
  text: { element: STRING, cast: "text", write: writeText },
  integer: { element: { type: "INT32" }, cast: "int4", write: writeNumber },
  number: { element: { type: "DOUBLE" }, cast: "float8", write: writeNumber },
  boolean: { element: { type: "BOOLEAN" }, cast: "boolean", write: writeBoolean },
  timestamp: {
    element: {
      type: "INT64",
      converted_type: "TIMESTAMP_MILLIS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
    },
    cast: "timestamptz",
    write: writeTimestamp,
  },
  json: {
    element: { type: "BYTE_ARRAY", converted_type: "JSON", logical_type: { type: "JSON" } },
    cast: "text",
    write: writeText,
  },
};
const BIG_INTEGER: StoredType = { element: { type: "INT64" }, cast: "int8", write: writeNumber };

export function storedType(column: ExportColumn): StoredType {
  return column.bits === 64 ? BIG_INTEGER : TYPES[column.type];
}

/** The value that reaches this size is the last of its page. Most pages then need no buffer larger than MAX_START_BYTES. */
const FULL_BYTES = 224 * 1024;
const MAX_START_BYTES = 256 * 1024;
const FIRST_BYTES = 8 * 1024;
const PAGE_ROWS = 16_384;
/** Maximum size of the definition levels: their length, a run header, and one bit per row. */
const LEVELS_BYTES_MAX = 4 + 3 + PAGE_ROWS / 8;

export class Page {
  /** Buffer for the definition levels, followed by the values. */
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Offset of the next value. */
  end = LEVELS_BYTES_MAX;
  rows = 0;
  nulls = 0;
  readonly #isPresent = new Uint8Array(PAGE_ROWS / 8);

  get isFull(): boolean {
    return this.rows === PAGE_ROWS || this.end >= FULL_BYTES;
  }

  /** Adds a row without a value. */
  addNull(): void {
    this.rows += 1;
    this.nulls += 1;
  }

  /** Adds a row with a value, which the caller then writes. */
  addPresent(): void {
    const index = this.rows >> 3;
    this.#isPresent[index] = (this.#isPresent[index] ?? 0) | (1 << (this.rows & 7));
    this.rows += 1;
  }

  /** Makes room for a value of `bytes` bytes. */
  reserve(bytes: number): void {
    const needed = this.end + bytes;
    if (needed <= this.bytes.length) return;
    let size = this.bytes.length;
    while (size < needed) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    grown.set(this.bytes.subarray(0, this.end));
    this.bytes = grown;
  }

  /** Writes the definition levels directly before the values, and returns their offset. */
  writeLevels(): number {
    const isSame = this.nulls === 0 || this.nulls === this.rows;
    const groups = (this.rows + 7) >> 3;
    const header = toVarint(isSame ? this.rows << 1 : (groups << 1) | 1);
    const runs = isSame ? Buffer.from([this.nulls === 0 ? 1 : 0]) : this.#isPresent.subarray(0, groups);
    const length = header.length + runs.length;
    const start = LEVELS_BYTES_MAX - length - 4;
    this.bytes.writeUInt32LE(length, start);
    this.bytes.set(header, start + 4);
    this.bytes.set(runs, start + 4 + header.length);
    return start;
  }

  /** Starts the next page with a new buffer. */
  reset(): void {
    this.#isPresent.fill(0);
    this.bytes = Buffer.allocUnsafeSlow(Math.min(this.bytes.length, MAX_START_BYTES));
    this.end = LEVELS_BYTES_MAX;
    this.rows = 0;
    this.nulls = 0;
  }
}

function toVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest >>>= 7;
  }
  return Uint8Array.from([...bytes, rest]);
}

const TWO_TO_32 = 2 ** 32;
/** PostgreSQL counts time from 2000, Parquet from 1970. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
/** Up to this length, a loop is faster than `Buffer.copy`. */
const SHORT_BYTES = 32;
const UUID_TEXT_BYTES = 36;
const DASH = 45;
const DASH_BEFORE: ReadonlySet<number> = new Set([4, 6, 8, 10]);
const HEX = Uint8Array.from(Buffer.from("0123456789abcdef"));

/** Reverses the byte order: PostgreSQL sends big-endian numbers, and Parquet stores little-endian numbers. */
function writeNumber(page: Page, source: Buffer, at: number, length: number): void {
  page.addPresent();
  page.reserve(length);
  const { bytes, end } = page;
  for (let index = 0; index < length; index++) bytes[end + index] = source[at + length - 1 - index] ?? 0;
  page.end = end + length;
}

function writeText(page: Page, source: Buffer, at: number, length: number): void {
  page.addPresent();
  page.reserve(4 + length);
  const { bytes, end } = page;
  writeUint32(bytes, end, length);
  const start = end + 4;
  if (length <= SHORT_BYTES) {
    for (let index = 0; index < length; index++) bytes[start + index] = source[at + index] ?? 0;
  } else {
    source.copy(bytes, start, at, at + length);
  }
  page.end = start + length;
}

function writeUuid(page: Page, source: Buffer, at: number): void {
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

/** Packs one bit per value, the least significant bit first. */
function writeBoolean(page: Page, source: Buffer, at: number): void {
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

/**
 * Converts PostgreSQL's microseconds since 2000 to Unix milliseconds. Divides the 32-bit halves one after the other, because the
 * whole value can exceed the precision of a JavaScript number.
 */
function writeTimestamp(page: Page, source: Buffer, at: number): void {
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

/** Reads a signed 32-bit big-endian integer. */
export function readInt32(source: Buffer, at: number): number {
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
