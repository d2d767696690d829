/**
 * Streams chunks to the client. It reads one chunk ahead at most, and a failure never looks like a complete response. A stream
 * is cut off if it lasts too long, if its reader is too slow while other requests need its slot, or if the caller loses access.
 */
import type { Permit } from "../limits/slots.ts";
import type { ClientConnection, CutReason } from "../request_context.ts";

export interface ResponseStreamOptions {
  /**
   * The first chunk, already read. A wrapping generator could not prepend it: returning a generator before its first `next()`
   * skips its `finally`, and the source would stay open.
   */
  first?: IteratorResult<Uint8Array, void>;
  /** Called once when `chunks` has returned. Frees the resources of the source. */
  onSourceEnd: () => Promise<void>;
  /** Called once when the response has ended, completely or not. */
  onEnd: (outcome: StreamOutcome) => void;
  /** Aborted when the stream ends early, so that the source can stop in the middle of a chunk. */
  abort: AbortController;
  watch: StreamWatch;
  connection: Pick<ClientConnection, "whenOver" | "reset">;
}

export type StreamOutcome =
  | { outcome: "complete" | "aborted" }
  | { outcome: "cut"; reason: CutReason }
  | { outcome: "failed"; error: unknown };

/** Returns a response body. An error resets the connection, so that no client takes a partial body for a complete one. */
export function responseStream(
  chunks: AsyncGenerator<Uint8Array, void, void>,
  options: ResponseStreamOptions,
): ReadableStream<Uint8Array> {
  let isOver = false;
  let { first } = options;
  const takeNext = async (): Promise<IteratorResult<Uint8Array, void>> => {
    const taken = first;
    first = undefined;
    return taken ?? chunks.next();
  };
  const pace = new ReaderPace(options.watch.rules);
  let stopWatch = (): void => {};
  const end = async (outcome: StreamOutcome): Promise<void> => {
    if (isOver) return;
    isOver = true;
    stopWatch();
    if (outcome.outcome !== "complete") options.abort.abort();
    await chunks.return().catch(() => {});
    await options.onSourceEnd();
    // The last chunks are still in transit, and the client can still disconnect.
    if (outcome.outcome === "complete") void options.connection.whenOver().then(report);
    else options.onEnd(outcome);
  };
  const report = (isWhole: boolean): void => options.onEnd({ outcome: isWhole ? "complete" : "aborted" });
  /** Resets the connection. Bun would keep the connection until the client has read the data in transit. */
  const breakOff = (controller: ReadableStreamDefaultController, error: unknown): void => {
    controller.error(error);
    options.connection.reset();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stopWatch = watchStream(options.watch, {
          pace,
          cut: (reason) => {
            void end({ outcome: "cut", reason });
            breakOff(controller, new Error(`Cannot go on streaming: ${reason}`));
          },
        });
      },
      async pull(controller) {
        pace.taken(performance.now());
        try {
          const next = await takeNext();
          if (isOver) return;
          if (next.done) {
            await end({ outcome: "complete" });
            controller.close();
            return;
          }
          controller.enqueue(next.value);
          pace.offered(next.value.length, performance.now());
        } catch (error) {
          if (isOver) return;
          // After an abort, the error is a consequence of the abort.
          await end(options.abort.signal.aborted ? { outcome: "aborted" } : { outcome: "failed", error });
          breakOff(controller, error);
        }
      },
      cancel: () => end({ outcome: "aborted" }),
    },
    { highWaterMark: 0 },
  );
}

/** Yields the chunks and reports the size of each. */
export async function* countBytes(
  chunks: AsyncGenerator<Uint8Array, void, void>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

interface PaceRule {
  /** Maximum time that a reader may lag behind the minimum rate, in milliseconds. */
  slowWindowMs: number;
  minBytesPerSecond: number;
  /**
   * Bytes that a reader may always lag behind. Sockets buffer megabytes and request more only after much of the buffer is read.
   * A steady reader therefore appears to stop for a minute and then reads a lot at once.
   */
  socketBytes: number;
}

export interface StreamRules extends PaceRule {
  /** Maximum duration of a stream in milliseconds. */
  maxMs: number;
  /** Interval between checks of the caller's access, in milliseconds. */
  accessCheckMs: number;
}

/**
 * Access is checked every 25 s, so that a stream ends within 30 s of losing access. A reader must take 16 KiB/s over 60 s. A
 * reader of 20 KiB/s can appear to stop for 69 s (measured), until its socket buffers have room. A stalled reader is therefore
 * cut off after 96 s, the time that 1.5 MiB take at the minimum rate.
 */
export const STREAM_RULES: Omit<StreamRules, "maxMs"> = {
  slowWindowMs: 60_000,
  minBytesPerSecond: 16 * 1024,
  socketBytes: 1.5 * 2 ** 20,
  accessCheckMs: 25_000,
};

export interface StreamWatch {
  rules: StreamRules;
  /** The slot of the stream, which other requests may need. */
  permit: Permit;
  /** Returns whether the caller still has access. Never throws. */
  mayContinue: () => Promise<boolean>;
}

/** Number of checks for a slow reader per window. */
const CHECKS_PER_WINDOW = 12;

/** Watches a stream and calls `cut` once if the stream must end. Returns a function that stops the watch. */
export function watchStream(
  { rules, permit, mayContinue }: StreamWatch,
  options: { pace: ReaderPace; cut: (reason: CutReason) => void },
): () => void {
  let isStopped = false;
  let isChecking = false;
  const cut = (reason: CutReason): void => {
    if (isStopped) return;
    stop();
    options.cut(reason);
  };
  const checkAccess = async (): Promise<void> => {
    // One check at a time, even if the database is slow.
    if (isChecking) return;
    isChecking = true;
    if (!(await mayContinue())) cut("access_ended");
    isChecking = false;
  };
  const timers = [
    setTimeout(() => cut("lasted_too_long"), rules.maxMs),
    setInterval(() => void checkAccess(), rules.accessCheckMs),
    setInterval(() => {
      if (options.pace.mustYield(permit, performance.now())) cut("reader_too_slow");
    }, rules.slowWindowMs / CHECKS_PER_WINDOW),
  ];
  const stop = (): void => {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
  };
  return stop;
}

/**
 * Measures the speed of a reader. Only the time that the stream waits for the reader counts. A reader is cut off only while
 * other requests need its slot. All times are milliseconds of one clock, such as `performance.now()`.
 */
export class ReaderPace {
  readonly #rule: PaceRule;
  readonly #allowedBytes: number;
  /** The reader's lag behind the minimum rate when it last took a chunk. */
  #behindBytes = 0;
  #offer: { bytes: number; at: number } | null = null;

  constructor(rule: PaceRule) {
    this.#rule = rule;
    this.#allowedBytes = Math.max((rule.minBytesPerSecond * rule.slowWindowMs) / 1000, rule.socketBytes);
  }

  /** Call when bytes are ready for the reader. */
  offered(bytes: number, now: number): void {
    this.#offer = { bytes, at: now };
  }

  /** Call when the reader has taken the offered bytes. */
  taken(now: number): void {
    if (!this.#offer) return;
    // Bytes that are taken early only fill socket buffers, so they earn no credit.
    this.#behindBytes = Math.max(0, this.#behindAt(now) - this.#offer.bytes);
    this.#offer = null;
  }

  /** Returns whether to cut off the reader: the reader is slow, and another request has needed its slot within the last window. */
  mustYield(permit: Permit, now: number): boolean {
    return permit.isContended(this.#rule.slowWindowMs) && this.isSlow(now);
  }

  /** Returns whether the reader lags too far behind. */
  isSlow(now: number): boolean {
    return this.#behindAt(now) >= this.#allowedBytes;
  }

  #behindAt(now: number): number {
    const waitedMs = this.#offer ? now - this.#offer.at : 0;
    return this.#behindBytes + (this.#rule.minBytesPerSecond * waitedMs) / 1000;
  }
}
