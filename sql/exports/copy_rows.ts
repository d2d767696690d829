/** Streams the rows of a query as lines of text by COPY: from PostgreSQL to the caller without being parsed. */
import { edenGC } from "bun:jsc";
import type { Readable } from "node:stream";
import type postgres from "postgres";
import { escapeLineEndBytes } from "../../shared/json_lines.ts";
import type { ExportFormat } from "../../shared/vocabulary.ts";
import type { ExportSnapshot, RunningStatement } from "../connection/snapshot.ts";

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

/**
 * Writes a single column of JSON unchanged: the quote and the delimiter are control characters, which JSON text always
 * escapes. COPY's text format would double every backslash.
 */
const COPY_OPTIONS: Readonly<Record<ExportFormat, string>> = {
  ndjson: `format csv, quote E'\\x01', delimiter E'\\x02'`,
  csv: "format csv",
  // The binary format also has one row per protocol message; see sql/exports/parquet/.
  parquet: "format binary",
};

export function copyStatement(query: string, { format, quoted = [] }: CopyOptions): string {
  const quotes = quoted.length > 0 ? `, force_quote ("${quoted.join('", "')}")` : "";
  return `copy (${query}) to stdout with (${COPY_OPTIONS[format]}${quotes})`;
}

/** Counts rows while they are streamed. */
export interface RowMeter {
  rows: number;
}

export interface CopyOptions {
  format: ExportFormat;
  /** In CSV, the columns whose values are always quoted. */
  quoted?: readonly string[];
  /** Counts the rows as they arrive, slightly ahead of the rows yielded. */
  meter?: RowMeter;
}

/**
 * Runs `copy (query) to stdout` in the snapshot and yields its lines in chunks: NDJSON ended by LF, CSV by CRLF.
 * When the consumer returns early, the query is canceled and the connection is ready for the next one.
 * Throws the error of PostgreSQL or of the connection. Run only one at a time on a snapshot.
 */
export async function* copyRows(
  snapshot: ExportSnapshot,
  query: string,
  options: CopyOptions,
): AsyncGenerator<Uint8Array, void, void> {
  snapshot.signal.throwIfAborted();
  const copy = new Copy(options);
  const forget = snapshot.onLost((error) => copy.fail(error));
  try {
    await snapshot.run((tx) => {
      snapshot.follow(copy);
      return copy.open(tx, copyStatement(query, options));
    });
    yield* copy.chunks();
  } finally {
    if (copy.isRunning) await snapshot.end(copy);
    forget();
  }
}

/** One COPY: the driver adds rows, the generator takes chunks of them. */
class Copy implements RunningStatement {
  readonly over: Promise<void>;
  readonly #lines: CopyLines;
  readonly #meter: RowMeter | undefined;
  readonly #progress = new ConditionVariable();
  readonly #setOver: () => void;
  #source: Readable | null = null;
  #isDiscarding = false;
  #hasBegun = false;
  #isOver = false;
  #failure: { error: unknown } | null = null;

  constructor({ format, meter }: CopyOptions) {
    this.#lines = new CopyLines(format);
    this.#meter = meter;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#setOver = resolve;
  }

  /** Whether the COPY still occupies the connection. */
  get isRunning(): boolean {
    return this.#hasBegun && !this.#isOver;
  }

  /** Starts the COPY. Listens for errors before the driver can destroy the stream: an unhandled one ends the process. */
  async open(tx: postgres.TransactionSql, text: string): Promise<void> {
    this.#hasBegun = true;
    const query = tx.unsafe(text);
    // The driver resolves the query with the stream in the same tick in which an early error destroys it, or the first
    // rows arrive, before any awaiting caller runs. `resolve` is the driver's own field and not part of its types.
    const internals = query as unknown as { resolve: (value: unknown) => void };
    const resolve = internals.resolve;
    internals.resolve = (value) => {
      if (!this.#source && isReadable(value)) this.#listen(value);
      resolve(value);
    };
    await query.readable().catch((error: unknown) => {
      this.fail(error);
      throw error;
    });
  }

  /** Yields the lines until all have arrived. Throws the error that cuts them off. */
  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    while (true) {
      for (let chunk = this.#lines.take(); chunk; chunk = this.#lines.take()) yield chunk;
      if (this.#failure) throw this.#failure.error;
      if (this.#isOver) break;
      const progress = this.#progress.wait();
      this.#source?.resume();
      await progress;
    }
    const rest = this.#lines.rest();
    if (rest.length > 0) yield rest;
  }

  discard(): void {
    this.#isDiscarding = true;
    // If the stream ends without an error all the same, the rows read so far must not pass for the complete result.
    this.#failure ??= { error: new Error("Cannot read on: the rows that follow were thrown away") };
    while (this.#lines.take());
    this.#source?.resume();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#setOver();
    this.#progress.notify();
  }

  #listen(stream: Readable): void {
    this.#source = stream;
    // PostgreSQL sends each row as one message, and the driver passes each message on unchanged.
    stream.on("data", (row: Buffer) => this.#add(row));
    stream.on("end", () => {
      this.#resumeSocket();
      this.#end();
    });
    stream.on("error", (error) => {
      this.#resumeSocket();
      this.fail(error);
    });
    stream.on("close", () => this.#resumeSocket());
  }

  #add(row: Buffer): void {
    if (this.#isDiscarding) return;
    this.#lines.add(row);
    if (this.#meter) this.#meter.rows += 1;
    if (!this.#lines.isFull) return;
    this.#source?.pause();
    this.#progress.notify();
  }

  /**
   * The driver pauses the socket while its stream is full and leaves it paused when the stream ends (its issues 499 and
   * 917), so the connection's next query would wait forever.
   */
  #resumeSocket(): void {
    try {
      this.#source?._read(0);
    } catch {
      // The socket is closed, so there is nothing to resume.
    }
  }
}

function isReadable(value: unknown): value is Readable {
  return typeof value === "object" && value !== null && "on" in value && "_read" in value;
}

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

export class ConditionVariable {
  #progress: PromiseWithResolvers<void> | null = null;

  /** Wakes everything that is waiting now. */
  notify(): void {
    this.#progress?.resolve();
    this.#progress = null;
  }

  /** Resolves at the next `notify()`. Check the condition first, in the same tick. */
  wait(): Promise<void> {
    this.#progress ??= Promise.withResolvers<void>();
    return this.#progress.promise;
  }
}
