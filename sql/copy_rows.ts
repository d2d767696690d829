/** Streams the rows of a query as lines of text by COPY: from PostgreSQL to the caller without being parsed. */
import type { Readable } from "node:stream";
import type postgres from "postgres";
import { Condition } from "../shared/condition.ts";
import type { ExportFormat } from "../shared/vocabulary.ts";
import { CopyLines } from "./copy_lines.ts";
import type { ExportSnapshot } from "./export_snapshot.ts";

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

/** How far a COPY is: the driver tells, the generator waits. */
class CopyProgress {
  isEnded = false;
  error: unknown;
  readonly changed = new Condition();

  end(): void {
    this.isEnded = true;
    this.changed.notify();
  }

  fail(error: unknown): void {
    this.error ??= error;
    this.changed.notify();
  }
}

/** What the patched driver gives the bytes of COPY's rows to, instead of pushing row by row into its stream. */
interface RowTaker {
  /** Takes the rows at the beginning of the bytes, and returns what follows them. */
  takeRows: (bytes: Buffer) => Buffer;
  /** Asked after that: true pauses the socket. */
  isFull: () => boolean;
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
  const lines = new CopyLines(format);
  const progress = new CopyProgress();
  let hasLeft = false;
  const taker: RowTaker = {
    takeRows(bytes) {
      const before = lines.rows;
      const rest = lines.add(bytes);
      if (meter) meter.rows += lines.rows - before;
      while (hasLeft && lines.take());
      if (lines.isFull) progress.changed.notify();
      return rest;
    },
    isFull: () => lines.isFull,
  };
  snapshot.signal.throwIfAborted();
  const text = `copy (${query}) to stdout with (${COPY_OPTIONS[format]})`;
  const source = await snapshot.run((tx) => openCopy(tx, text, { taker, progress }));
  const forget = snapshot.onLost((error) => progress.fail(error));
  try {
    while (true) {
      for (let chunk = lines.take(); chunk; chunk = lines.take()) yield chunk;
      if (progress.error) throw progress.error;
      if (progress.isEnded) break;
      const changed = progress.changed.wait();
      resumeSocket(source);
      await changed;
    }
    if (lines.rest().length > 0) yield lines.rest();
  } finally {
    hasLeft = true;
    forget();
    if (!progress.isEnded && !progress.error) await drain(source, snapshot);
  }
}

/** Starts the COPY. Listens before the driver can destroy the stream: an error without a listener ends the process. */
async function openCopy(
  tx: postgres.TransactionSql,
  text: string,
  given: { taker: RowTaker; progress: CopyProgress },
): Promise<Readable> {
  const query = tx.unsafe(text);
  // The driver resolves the query with the stream in the same tick in which an early error destroys it, or the first
  // rows arrive, before any awaiting caller runs. `resolve` is the driver's own field and not part of its types.
  const internals = query as unknown as { resolve: (value: unknown) => void };
  const resolve = internals.resolve;
  let isListening = false;
  internals.resolve = (value) => {
    if (!isListening && isReadable(value)) {
      isListening = true;
      listen(Object.assign(value, given.taker), given.progress);
    }
    resolve(value);
  };
  return query.readable();
}

/** Nothing but its end comes through the stream, whose socket has to be running when it is over. */
function listen(stream: Readable, progress: CopyProgress): void {
  stream.on("end", () => {
    resumeSocket(stream);
    progress.end();
  });
  stream.on("error", (error) => {
    resumeSocket(stream);
    progress.fail(error);
  });
  stream.on("close", () => resumeSocket(stream));
  stream.resume();
}

/**
 * The driver resumes the socket when its stream is read, which nobody does here. It forgets to when the stream is over
 * (its issues 499 and 917), so that the connection's next query would wait for ever.
 */
function resumeSocket(stream: Readable): void {
  try {
    stream._read(0);
  } catch {
    // The socket is gone, and with it what had to be resumed.
  }
}

function isReadable(value: unknown): value is Readable {
  return typeof value === "object" && value !== null && "on" in value && "_read" in value;
}

/** Cancels the query and throws away what is still coming, until the connection can be used again. */
async function drain(source: Readable, snapshot: ExportSnapshot): Promise<void> {
  const gone = Promise.race([
    new Promise((resolve) => {
      for (const event of ["end", "error", "close"]) source.once(event, resolve);
    }),
    snapshot.lost.catch(() => {}),
  ]);
  // PostgreSQL does not heed a cancel while it waits for us to read, so reading goes on beside it.
  resumeSocket(source);
  await snapshot.cancel();
  await gone;
}
