/** Streams chunks to the client: one chunk ahead at most, and a failure never looks like a complete response. */

import type { ClientConnection, CutReason } from "../request_context.ts";
import { ReaderPace, type StreamWatch, watchStream } from "./watch_stream.ts";

export interface ResponseStreamOptions {
  /**
   * The first chunk, already read. A wrapping generator could not prepend it: returning a generator before its first
   * `next()` skips its `finally`, which would leave the source open.
   */
  first?: IteratorResult<Uint8Array, void>;
  /** Called once when the source is not read any more, after `chunks` has returned. Frees what the stream holds. */
  onSourceEnd: () => Promise<void>;
  /** Called once when the response has ended: sent to its end, or broken off. */
  onEnd: (outcome: StreamOutcome) => void;
  /** Aborted when the stream is abandoned, so that the source can stop in the middle of a chunk. */
  abort: AbortController;
  watch: StreamWatch;
  connection: Pick<ClientConnection, "whenOver" | "reset">;
}

export type StreamOutcome =
  | { outcome: "complete" | "aborted" }
  | { outcome: "cut"; reason: CutReason }
  | { outcome: "failed"; error: unknown };

/**
 * Returns the body of a response. An error breaks the connection, so that no client mistakes a part for the whole.
 */
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
    // The last chunks are still on their way, and the client may leave.
    if (outcome.outcome === "complete") void options.connection.whenOver().then(report);
    else options.onEnd(outcome);
  };
  const report = (isWhole: boolean): void => options.onEnd({ outcome: isWhole ? "complete" : "aborted" });
  /** Bun would keep the connection until the client has read what is on its way. */
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

/** Passes chunks on and reports the size of each. */
export async function* countBytes(
  chunks: AsyncGenerator<Uint8Array, void, void>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}
