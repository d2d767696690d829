/** Streams the rows of a query as lines of text by COPY: from PostgreSQL to the caller without being parsed. */
import type { Readable } from "node:stream";
import type postgres from "postgres";
import type { ExportFormat } from "../shared/vocabulary.ts";
import type { ExportSnapshot } from "./export_snapshot.ts";

/** Rows are gathered into chunks of this size: large enough that a chunk costs more to send than to hand over. */
const CHUNK_BYTES = 256 * 1024;
/**
 * After so many chunks, 3.5 MiB, the garbage is collected. The engine sizes its heap by the machine's memory and would
 * let 100 MiB of spent chunks pile up before it looks; so a stream stays under 48 MiB, a ZIP too. The price is some
 * 2 ms of processor time per MiB.
 */
const CHUNKS_PER_COLLECTION = 14;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * One column of JSON is written as it is when neither quote nor delimiter can occur in it: JSON text escapes all
 * control characters. COPY's own text format would double every backslash.
 */
const COPY_OPTIONS: Readonly<Record<ExportFormat, string>> = {
  ndjson: `format csv, quote E'\\x01', delimiter E'\\x02'`,
  csv: "format csv",
};

/** Counts rows while they are streamed. */
export interface RowMeter {
  rows: number;
}

export interface CopyOptions {
  format: ExportFormat;
  /** Counts the rows as they come in, a little ahead of what is yielded. */
  meter?: RowMeter;
}

/** Collects lines into chunks. PostgreSQL sends a row per message, so every piece is one line with its end. */
class LineChunks {
  readonly #crlf: boolean;
  readonly #full: Uint8Array[] = [];
  #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #used = 0;
  /** Chunks of all streams together: many slow ones leave as much garbage as a fast one. */
  static #count = 0;

  constructor(format: ExportFormat) {
    this.#crlf = format === "csv";
  }

  /** Whether a chunk is ready to be taken. */
  get isFull(): boolean {
    return this.#full.length > 0;
  }

  add(line: Buffer): void {
    const needed = line.length + (this.#crlf ? 1 : 0);
    if (this.#used + needed > this.#chunk.length) this.#start(needed);
    line.copy(this.#chunk, this.#used);
    this.#used += needed;
    if (!this.#crlf) return;
    this.#chunk[this.#used - 2] = CARRIAGE_RETURN;
    this.#chunk[this.#used - 1] = LINE_FEED;
  }

  take(): Uint8Array | undefined {
    return this.#full.shift();
  }

  /** What is left when the last line was added; empty when nothing is. */
  rest(): Uint8Array {
    return this.#chunk.subarray(0, this.#used);
  }

  #start(needed: number): void {
    if (this.#used > 0) this.#full.push(this.#chunk.subarray(0, this.#used));
    this.#chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, needed));
    this.#used = 0;
    LineChunks.#count += 1;
    if (LineChunks.#count % CHUNKS_PER_COLLECTION === 0) Bun.gc(true);
  }
}

/**
 * Runs `copy (query) to stdout` in the snapshot and yields its lines in chunks: NDJSON ended by LF, CSV by CRLF.
 * When the consumer returns early the query is cancelled and the connection is left ready for the next one.
 * Throws what PostgreSQL or the connection says. One at a time on a snapshot.
 */
export async function* copyRows(
  snapshot: ExportSnapshot,
  query: string,
  options: CopyOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const { format, meter } = options;
  const chunks = new LineChunks(format);
  const state: { ended: boolean; error?: unknown; wake?: () => void } = { ended: false };
  const settle = (change: { ended?: true; error?: unknown }): void => {
    if (change.ended) state.ended = true;
    state.error ??= change.error;
    state.wake?.();
  };
  snapshot.lost.catch((error: unknown) => settle({ error }));
  snapshot.signal.throwIfAborted();
  const text = `copy (${query}) to stdout with (${COPY_OPTIONS[format]})`;
  const source = await snapshot.run((tx) => openCopy(tx, text, settle));
  source.on("data", (line: Buffer) => {
    chunks.add(line);
    if (meter) meter.rows += 1;
    if (!chunks.isFull) return;
    source.pause();
    state.wake?.();
  });
  try {
    while (true) {
      for (let chunk = chunks.take(); chunk; chunk = chunks.take()) yield chunk;
      if (state.error) throw state.error;
      if (state.ended) break;
      const woken = new Promise<void>((resolve) => {
        state.wake = resolve;
      });
      source.resume();
      await woken;
    }
    if (chunks.rest().length > 0) yield chunks.rest();
  } finally {
    if (!state.ended && !state.error) await drain(source, snapshot);
  }
}

/** Starts the COPY. Listens before the driver can destroy the stream: an error without a listener ends the process. */
async function openCopy(
  tx: postgres.TransactionSql,
  text: string,
  settle: (change: { ended?: true; error?: unknown }) => void,
): Promise<Readable> {
  const query = tx.unsafe(text);
  // The driver resolves the query with the stream in the same tick in which an early error destroys it, before
  // any awaiting caller runs. `resolve` is the driver's own field and not part of its types.
  const internals = query as unknown as { resolve: (value: unknown) => void };
  const resolve = internals.resolve;
  let isListening = false;
  internals.resolve = (value) => {
    if (!isListening && isReadable(value)) {
      isListening = true;
      listen(value, settle);
    }
    resolve(value);
  };
  return query.readable();
}

/**
 * The driver pauses the socket under back-pressure and forgets to resume it when the stream is over (its issues
 * 499 and 917), so that the connection's next query would wait for ever: reading once more resumes it.
 */
function listen(stream: Readable, settle: (change: { ended?: true; error?: unknown }) => void): void {
  const resumeSocket = (): void => {
    try {
      stream._read(0);
    } catch {
      // The socket is gone, and with it what had to be resumed.
    }
  };
  stream.on("end", () => {
    resumeSocket();
    settle({ ended: true });
  });
  stream.on("error", (error) => {
    resumeSocket();
    settle({ error });
  });
  stream.on("close", resumeSocket);
}

function isReadable(value: unknown): value is Readable {
  return typeof value === "object" && value !== null && "on" in value && "_read" in value;
}

/** Cancels the query and throws away what is still coming, until the connection can be used again. */
async function drain(source: Readable, snapshot: ExportSnapshot): Promise<void> {
  source.removeAllListeners("data");
  const gone = Promise.race([
    new Promise((resolve) => {
      for (const event of ["end", "error", "close"]) source.once(event, resolve);
    }),
    snapshot.lost.catch(() => {}),
  ]);
  // PostgreSQL does not heed a cancel while it waits for us to read, so reading goes on beside it.
  source.resume();
  await snapshot.cancel();
  await gone;
}
