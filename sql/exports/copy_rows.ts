/**
 * Streams the rows of a query with COPY over one or two connections, without parsing them. Formatting the lines takes most of
 * the time, and each connection has its own server process to format them.
 */
import { edenGC } from "bun:jsc";
import type { Readable } from "node:stream";
import type postgres from "postgres";
import type { Sql } from "../connection/pool.ts";
import { type ExportSnapshot, forbidParallelCopies, type RunningStatement } from "../connection/snapshot.ts";

/** Chunk size in bytes. It is large enough that handing over a chunk costs little compared with sending it. */
const CHUNK_BYTES = 256 * 1024;
/** Buffer size of the first chunk, in bytes. Most datasets of a small project fit in it. */
const FIRST_CHUNK_BYTES = 32 * 1024;
/**
 * Garbage is collected after this many bytes of used chunks: the young generation, and every fourth time (14 MiB) the whole heap.
 * The engine sizes its heap by the machine's memory and would otherwise let many more used chunks pile up. With this limit, a
 * stream of any length takes about 30 MiB, or 36 MiB over two connections. A full collection takes 10 ms of CPU time, a young
 * collection less than 1 ms. Chunks that a lane buffers survive young collections; full collections free them.
 */
const BYTES_PER_COLLECTION = 3.5 * 2 ** 20;
const COLLECTIONS_PER_FULL_ONE = 4;

/** Maximum number of bytes that a lane reads ahead of the consumer. Beyond it, the lane and its server process pause. */
const READ_AHEAD_BYTES = 4 * 2 ** 20;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Counts rows while they are streamed. */
export type RowMeter = { rows: number };

/** Options of COPY, and of the conversion from its output to file content. */
export interface CopyOptions {
  /** Options in COPY's own syntax. */
  options: string;
  /** Ends lines with CRLF instead of COPY's LF. */
  isCrlf?: boolean;
  /** Converts a chunk of whole rows to the bytes that are sent. */
  finish?: (rows: Buffer) => Uint8Array;
  /** Counts rows as they arrive from PostgreSQL, slightly before they are yielded. */
  meter?: RowMeter | undefined;
}

export function copyStatement(query: string, { options }: CopyOptions): string {
  return `copy (${query}) to stdout with (${options})`;
}

/**
 * Runs `copy (query) to stdout` in the snapshot and yields its lines in chunks. If the consumer returns early, the query is
 * canceled and the connection is ready for the next query. Throws errors of PostgreSQL and of the connection. A snapshot
 * supports only one copy at a time.
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

/** A query for a part of the rows. */
export interface CopyPart {
  query: string;
  isLast: boolean;
  /** Called after the part has been copied, with the size of its lines in bytes. */
  onCopied?(bytes: number): void;
}

/**
 * Yields the lines of all parts in order, in chunks. Each connection is a lane, which copies one part after another. The second
 * lane starts if and when its connection opens. `nextPart` runs in the snapshot of the lane that needs a part, one call at a time,
 * and returns null at the end. If the consumer returns early or a lane fails, both lanes stop and both connections stay usable.
 */
export async function* copyLanes(
  snapshots: readonly [ExportSnapshot, Promise<ExportSnapshot | null>],
  nextPart: (sql: Sql) => Promise<CopyPart | null>,
  options: CopyOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const copy = new LanesCopy(nextPart, options);
  const [first, second] = snapshots;
  copy.begin(first);
  void second.then((snapshot) => snapshot && copy.begin(snapshot));
  try {
    yield* copy.chunks();
  } finally {
    await copy.end();
  }
}

/** A running COPY. The driver adds rows, and the generator yields them in chunks. */
class Copy implements RunningStatement {
  readonly #lines: CopyLines;
  readonly #meter: RowMeter | undefined;
  readonly #progress = new ConditionVariable();
  readonly #over = Promise.withResolvers<void>();
  #source: Readable | null = null;
  #isDiscarding = false;
  #hasBegun = false;
  #isOver = false;
  #failure: { error: unknown } | null = null;

  constructor(options: CopyOptions) {
    this.#lines = new CopyLines(options);
    this.#meter = options.meter;
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Whether the COPY still occupies the connection. */
  get isRunning(): boolean {
    return this.#hasBegun && !this.#isOver;
  }

  /** Starts the COPY. Listens for errors before the driver can destroy the stream, because an unhandled error ends the process. */
  async open(tx: postgres.TransactionSql, text: string): Promise<void> {
    this.#hasBegun = true;
    const query = tx.unsafe(text);
    // The driver resolves the query with the stream. In the same tick, before any awaiting caller runs, an early error can
    // destroy the stream or the first rows can arrive. `resolve` is an internal field of the driver, missing from its types.
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

  /** Yields chunks until all lines have arrived. Throws the error that stopped the COPY early. */
  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    while (true) {
      for (let chunk = this.#lines.full.shift(); chunk; chunk = this.#lines.full.shift()) yield chunk;
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
    // The stream may still end without an error. The rows read so far must not be mistaken for the complete result.
    this.#failure ??= { error: new Error("Cannot continue: the rows that follow were discarded") };
    this.#lines.full.length = 0;
    this.#source?.resume();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#over.resolve();
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
    if (this.#lines.full.length === 0) return;
    this.#source?.pause();
    this.#progress.notify();
  }

  /**
   * Resumes the socket. The driver pauses it while its stream is full and leaves it paused when the stream ends (the driver's
   * issues 499 and 917). The connection's next query would then hang.
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

/** Bytes since the last collection, summed over all streams, because many slow streams leave as much garbage as one fast stream. */
let spentBytes = 0;
let collections = 0;

/** Counts a buffer that a stream no longer uses, and collects garbage after every `BYTES_PER_COLLECTION`. */
export function collectGarbage(chunkBytes: number): void {
  spentBytes += chunkBytes;
  if (spentBytes < BYTES_PER_COLLECTION) return;
  spentBytes = 0;
  collections += 1;
  if (collections % COLLECTIONS_PER_FULL_ONE === 0) Bun.gc(true);
  else edenGC();
}

/** Collects the lines of one COPY into chunks, in order. */
export class CopyLines {
  readonly #isCrlf: boolean;
  readonly #finish: (rows: Buffer) => Uint8Array;
  /** Complete chunks, for the consumer to remove. */
  readonly full: Uint8Array[] = [];
  #chunk = Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
  #used = 0;

  constructor({ isCrlf = false, finish = (rows) => rows }: Pick<CopyOptions, "isCrlf" | "finish">) {
    this.#isCrlf = isCrlf;
    this.#finish = finish;
  }

  /** Adds a row as COPY sends it. In text formats, it is a line that ends with LF. Chunks contain only whole rows. */
  add(row: Uint8Array): void {
    this.#makeRoom(row.length + (this.#isCrlf ? 1 : 0));
    this.#chunk.set(row, this.#used);
    this.#used += row.length;
    if (!this.#isCrlf) return;
    this.#chunk[this.#used - 1] = CARRIAGE_RETURN;
    this.#chunk[this.#used] = LINE_FEED;
    this.#used += 1;
  }

  /** Returns the lines that are not yet in a complete chunk; may be empty. */
  rest(): Uint8Array {
    return this.#finish(this.#chunk.subarray(0, this.#used));
  }

  #makeRoom(needed: number): void {
    if (this.#used + needed <= this.#chunk.length) return;
    if (this.#used > 0) this.full.push(this.rest());
    collectGarbage(this.#chunk.length);
    this.#chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, needed));
    this.#used = 0;
  }
}

/** A connection, and the number of bytes that it is ahead of the consumer. */
interface Lane {
  snapshot: ExportSnapshot;
  progress: ConditionVariable;
  unsentBytes: number;
}

/** The lines of a part that have been formatted but not sent. */
interface FormattedPart extends CopyPart {
  lane: Lane;
  chunks: Uint8Array[];
  isComplete: boolean;
}

class LanesCopy {
  readonly #nextPart: (sql: Sql) => Promise<CopyPart | null>;
  readonly #options: CopyOptions;
  readonly #lanes: Lane[] = [];
  readonly #runs: Promise<void>[] = [];
  readonly #parts: FormattedPart[] = [];
  readonly #progress = new ConditionVariable();
  #lastClaim: Promise<unknown> = Promise.resolve();
  #isAllClaimed = false;
  #isAllSent = false;
  #hasEnded = false;
  #failure: { error: unknown } | null = null;

  constructor(nextPart: (sql: Sql) => Promise<CopyPart | null>, options: CopyOptions) {
    this.#nextPart = nextPart;
    this.#options = options;
  }

  begin(snapshot: ExportSnapshot): void {
    if (this.#hasEnded) return;
    const lane = { snapshot, progress: new ConditionVariable(), unsentBytes: 0 };
    this.#lanes.push(lane);
    const run = this.#run(lane).catch((error: unknown) => {
      this.#failure ??= { error };
      this.#progress.notify();
    });
    this.#runs.push(run);
  }

  /** Yields the chunks of all parts in order. Throws the first error of any lane. */
  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    while (!this.#isAllSent) {
      if (this.#failure) throw this.#failure.error;
      const [part] = this.#parts;
      const chunk = part?.chunks.shift();
      if (part && chunk) {
        part.lane.unsentBytes -= chunk.length;
        part.lane.progress.notify();
        yield chunk;
      } else if (part?.isComplete) {
        this.#parts.shift();
      } else if (!part && this.#isAllClaimed) {
        this.#isAllSent = true;
      } else {
        await this.#progress.wait();
      }
    }
  }

  /** Stops both lanes, at any point of the copy. Never throws. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    for (const lane of this.#lanes) lane.progress.notify();
    // A lane that waits for PostgreSQL does not check `#hasEnded`, so its statement is canceled.
    if (!this.#isAllSent) await Promise.all(this.#lanes.map(({ snapshot }) => snapshot.cancel()));
    await Promise.all(this.#runs);
  }

  async #run(lane: Lane): Promise<void> {
    await lane.snapshot.run(forbidParallelCopies);
    while (!this.#hasEnded) {
      const part = await this.#claim(lane);
      if (!part) return;
      await this.#fill(part);
    }
  }

  /** Assigns the next part to the lane. Lanes take turns, because a part starts where the previous part ends. */
  #claim(lane: Lane): Promise<FormattedPart | null> {
    const claim = this.#lastClaim.then(async () => {
      const next = this.#hasEnded ? null : await lane.snapshot.run(this.#nextPart);
      if (!next) return null;
      const part = { ...next, lane, chunks: [], isComplete: false };
      this.#parts.push(part);
      this.#isAllClaimed = next.isLast;
      return part;
    });
    this.#lastClaim = claim.catch(() => {});
    return claim;
  }

  async #fill(part: FormattedPart): Promise<void> {
    const { lane, chunks } = part;
    let bytes = 0;
    for await (const chunk of copyRows(lane.snapshot, part.query, this.#options)) {
      bytes += chunk.length;
      lane.unsentBytes += chunk.length;
      chunks.push(chunk);
      this.#progress.notify();
      while (lane.unsentBytes >= READ_AHEAD_BYTES && !this.#hasEnded) await lane.progress.wait();
      if (this.#hasEnded) return;
    }
    part.isComplete = true;
    part.onCopied?.(bytes);
    this.#progress.notify();
  }
}

class ConditionVariable {
  #progress: PromiseWithResolvers<void> | null = null;

  /** Resolves all pending `wait()` calls. */
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
