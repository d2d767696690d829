/** Gathers the lines of a COPY into chunks. */
import { edenGC } from "bun:jsc";
import { escapeLineEndBytes } from "../../shared/json_lines.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";

/** Lines are gathered into chunks of this size: large enough that a chunk costs more to send than to hand over. */
const CHUNK_BYTES = 256 * 1024;
/** Most datasets of a small project are no longer. */
const FIRST_CHUNK_BYTES = 32 * 1024;
/**
 * After so many bytes the youngest garbage is collected, and all of it after 14 MiB. The engine sizes its heap by the
 * machine's memory and would let more spent chunks pile up before it looks; so a stream of any length takes some 30 MiB,
 * on two connections 36. A collection of all costs 10 ms of processor time, one of the youngest less than one; chunks that
 * a lane holds back outlive that.
 */
const BYTES_PER_COLLECTION = 3.5 * 2 ** 20;
const COLLECTIONS_PER_FULL_ONE = 4;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Chunks of all streams together: many slow ones leave as much garbage as a fast one. */
let spentBytes = 0;
let collections = 0;

function collectGarbage(chunkBytes: number): void {
  spentBytes += chunkBytes;
  if (spentBytes < BYTES_PER_COLLECTION) return;
  spentBytes = 0;
  collections += 1;
  if (collections % COLLECTIONS_PER_FULL_ONE === 0) Bun.gc(true);
  else edenGC();
}

/** Collects the lines of one COPY into chunks, in the order in which they come. */
export class CopyLines {
  readonly #crlf: boolean;
  readonly #isJson: boolean;
  readonly #full: Uint8Array[] = [];
  #chunk = Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
  #used = 0;

  constructor(format: ExportFormat) {
    this.#crlf = format === "csv";
    this.#isJson = format === "ndjson";
  }

  /** Whether a chunk is ready to be taken. */
  get isFull(): boolean {
    return this.#full.length > 0;
  }

  /** Adds a row: a line ended by LF, as COPY sends it. A chunk never ends in the middle of one. */
  add(row: Uint8Array): void {
    this.#makeRoom(row.length + (this.#crlf ? 1 : 0));
    this.#chunk.set(row, this.#used);
    this.#used += row.length;
    if (!this.#crlf) return;
    this.#chunk[this.#used - 1] = CARRIAGE_RETURN;
    this.#chunk[this.#used] = LINE_FEED;
    this.#used += 1;
  }

  /** The next full chunk. */
  take(): Uint8Array | undefined {
    return this.#full.shift();
  }

  /** What is left when the last line was added; empty when nothing is. */
  rest(): Uint8Array {
    const lines = this.#chunk.subarray(0, this.#used);
    return this.#isJson ? escapeLineEndBytes(lines) : lines;
  }

  #makeRoom(needed: number): void {
    if (this.#used + needed <= this.#chunk.length) return;
    if (this.#used > 0) this.#full.push(this.rest());
    collectGarbage(this.#chunk.length);
    this.#chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, needed));
    this.#used = 0;
  }
}
