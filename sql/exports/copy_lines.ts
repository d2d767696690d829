/** Gathers the lines of a COPY into chunks. */
import { edenGC } from "bun:jsc";
import { escapeLineEndBytes } from "../../shared/json_lines.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";

/** Size of a chunk in bytes: large enough that passing it on costs little compared with sending it. */
const CHUNK_BYTES = 256 * 1024;
/** First buffer of a chunk, in bytes: most datasets of a small project fit in it. */
const FIRST_CHUNK_BYTES = 32 * 1024;
/**
 * After this many bytes the young generation is collected, and the whole heap after 14 MiB. The engine sizes its heap by
 * the memory of the machine and would let many more used chunks pile up. With this, a stream of any length takes about
 * 30 MiB, and 36 MiB over two connections. A full collection takes 10 ms of processor time, a young one less than 1 ms;
 * chunks that a lane holds back survive a young collection.
 */
const BYTES_PER_COLLECTION = 3.5 * 2 ** 20;
const COLLECTIONS_PER_FULL_ONE = 4;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Counts the chunks of all streams together: many slow streams leave as much garbage as one fast stream. */
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

/** Collects the lines of one COPY into chunks, in order. */
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

  /** Adds a row: a line that ends with LF, as COPY sends it. A chunk always ends at the end of a line. */
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

  /** The rest after the last line was added; may be empty. */
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
