import { expect, test } from "bun:test";
import { responseStream, type StreamOutcome } from "../../../api/exports/response_stream.ts";

/** Chunks without end, and whether their generator was returned. */
function openChunks() {
  const state = { isReturned: false };
  async function* generate(): AsyncGenerator<Uint8Array, void, void> {
    try {
      while (true) yield new Uint8Array(1000);
    } finally {
      state.isReturned = true;
    }
  }
  return { chunks: generate(), state };
}

test("responseStream() gives up a reader that takes nothing for too long", async () => {
  const { chunks, state } = openChunks();
  const abort = new AbortController();
  const ended = Promise.withResolvers<StreamOutcome>();
  const stream = responseStream(chunks, {
    abort,
    stalledReaderMs: 20,
    onEnd: async (outcome) => ended.resolve(outcome),
  });
  const reader = stream.getReader();
  await reader.read();
  expect(await ended.promise).toEqual({ outcome: "aborted" });
  expect([state.isReturned, abort.signal.aborted]).toEqual([true, true]);
  expect(await reader.read().catch((error: Error) => error.message)).toContain("the reader has stalled");
});

test("responseStream() is never more than one chunk ahead of its reader", async () => {
  let made = 0;
  async function* generate(): AsyncGenerator<Uint8Array, void, void> {
    for (; ; made += 1) yield new Uint8Array(10);
  }
  const stream = responseStream(generate(), { abort: new AbortController(), onEnd: async () => {} });
  const reader = stream.getReader();
  for (let read = 1; read <= 5; read += 1) {
    await reader.read();
    expect(made).toBeLessThanOrEqual(read);
  }
  await reader.cancel();
});

test("responseStream() gives the chunk that was taken first, and ends the rest when nobody asks for it", async () => {
  for (const reads of [0, 1]) {
    const { chunks, state } = openChunks();
    const first = await chunks.next();
    const stream = responseStream(chunks, { first, abort: new AbortController(), onEnd: async () => {} });
    const reader = stream.getReader();
    if (reads === 1) expect((await reader.read()).value).toBe(first.value ?? undefined);
    await reader.cancel();
    expect([reads, state.isReturned]).toEqual([reads, true]);
  }
});

test("responseStream() tells of its end once, after its chunks were returned", async () => {
  const { chunks, state } = openChunks();
  const outcomes: StreamOutcome[] = [];
  const stream = responseStream(chunks, {
    abort: new AbortController(),
    onEnd: async (outcome) => {
      expect(state.isReturned).toBe(true);
      outcomes.push(outcome);
    },
  });
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel();
  await reader.cancel();
  expect(outcomes).toEqual([{ outcome: "aborted" }]);
});
