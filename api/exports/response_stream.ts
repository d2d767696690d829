/** Hands a stream of chunks to the client: one chunk ahead at most, and an end that cannot be taken for another. */

/** A reader that takes nothing for this long has left, whatever its socket says. */
const STALLED_READER_MS = 10 * 60_000;

export interface ResponseStreamOptions {
  /**
   * What was taken from the chunks already. Not put back in front by one more generator: one that was never asked for
   * anything skips its `finally` when it is returned, and whatever the chunks hold would stay open.
   */
  first?: IteratorResult<Uint8Array, void>;
  /** Told once when the stream is over, after the chunks were returned. */
  onEnd: (outcome: StreamOutcome) => Promise<void>;
  /** Aborted when the client leaves, so that what makes the chunks can stop in the middle of one. */
  abort: AbortController;
  stalledReaderMs?: number;
}

export type StreamOutcome = { outcome: "complete" | "aborted" } | { outcome: "failed"; error: unknown };

/**
 * The body of a response. An error breaks the connection, so that no client takes a part for the whole; return it
 * inside a `Response`, because Elysia ends a bare stream that fails as if it were complete.
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
  let stalled: Timer | undefined;
  const end = async (outcome: StreamOutcome): Promise<void> => {
    if (isOver) return;
    isOver = true;
    clearTimeout(stalled);
    if (outcome.outcome !== "complete") options.abort.abort();
    await chunks.return().catch(() => {});
    await options.onEnd(outcome);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stalled);
        try {
          const next = await takeNext();
          if (isOver) return;
          if (next.done) {
            await end({ outcome: "complete" });
            controller.close();
            return;
          }
          controller.enqueue(next.value);
        } catch (error) {
          if (isOver) return;
          // What was being made when the client left fails because of that.
          await end(options.abort.signal.aborted ? { outcome: "aborted" } : { outcome: "failed", error });
          controller.error(error);
          return;
        }
        stalled = setTimeout(() => {
          void end({ outcome: "aborted" });
          controller.error(new Error("Cannot go on streaming: the reader has stalled"));
        }, options.stalledReaderMs ?? STALLED_READER_MS);
      },
      cancel: () => end({ outcome: "aborted" }),
    },
    { highWaterMark: 0 },
  );
}
