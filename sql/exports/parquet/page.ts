/** A page of a Parquet column while it is filled: which rows have a value, and the values in encoding PLAIN. */
import type { PageCompressor } from "./compressor.ts";

/** Of a buffer that is used again. */
export const BUFFER_BYTES = 256 * 1024;
/** A page ends with the value that reaches this, so most last values need no larger buffer. */
const FULL_BYTES = 224 * 1024;
const FIRST_BYTES = 8 * 1024;
const PAGE_ROWS = 16_384;
/** Length, header of the run, and a bit per row. */
const LEVELS_BYTES_MAX = 4 + 3 + PAGE_ROWS / 8;

export class Page {
  /** Has room for the definition levels, then the values. */
  bytes: Buffer;
  /** Where the next value goes. */
  end = LEVELS_BYTES_MAX;
  rows = 0;
  nulls = 0;
  readonly #compressor: PageCompressor;
  readonly #isPresent = new Uint8Array(PAGE_ROWS / 8);

  constructor(compressor: PageCompressor) {
    this.#compressor = compressor;
    this.bytes = compressor.allocate(FIRST_BYTES);
  }

  get isFull(): boolean {
    return this.rows === PAGE_ROWS || this.end >= FULL_BYTES;
  }

  /** Adds a row without a value. */
  addNull(): void {
    this.rows += 1;
    this.nulls += 1;
  }

  /** Adds a row whose value follows. */
  addPresent(): void {
    const index = this.rows >> 3;
    this.#isPresent[index] = (this.#isPresent[index] ?? 0) | (1 << (this.rows & 7));
    this.rows += 1;
  }

  /** Makes room for a value of so many bytes. */
  reserve(bytes: number): void {
    const needed = this.end + bytes;
    if (needed <= this.bytes.length) return;
    let size = this.bytes.length;
    while (size < needed) size *= 2;
    const grown = this.#compressor.allocate(size);
    grown.set(this.bytes.subarray(0, this.end));
    this.#compressor.release(this.bytes);
    this.bytes = grown;
  }

  /** Puts the definition levels before the values, and returns where they start. */
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

  /** Starts the next page; the buffer of this one belongs to the compressor. */
  reset(): void {
    this.#isPresent.fill(0);
    this.bytes = this.#compressor.allocate(Math.min(this.bytes.length, BUFFER_BYTES));
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
