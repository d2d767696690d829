import { expect, test } from "bun:test";
import { responseStream, type StreamOutcome } from "../../../../api/http/response/stream.ts";
import type { StreamRules, StreamWatch } from "../../../../api/http/response/stream_cutoff.ts";
import { Semaphore } from "../../../../api/http/semaphore.ts";

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

/** Rules that end nothing while a test runs, but for those given. */
function watchOf(rules: Partial<StreamRules> = {}, more: Partial<StreamWatch> = {}): StreamWatch {
  return {
    rules: {
      maxMs: 60_000,
      accessCheckMs: 60_000,
      slowWindowMs: 60_000,
      minBytesPerSecond: 1,
      socketBytes: 0,
      ...rules,
    },
    permit: { isContended: () => false, release: () => {} },
    mayContinue: async () => true,
    ...more,
  };
}

/** A stream whose reader takes one chunk and then no more, and how it ends. */
function openStalled(watch: StreamWatch) {
  const { chunks, state } = openChunks();
  const abort = new AbortController();
  const ended = Promise.withResolvers<StreamOutcome>();
  const onEnd = async (outcome: StreamOutcome) => ended.resolve(outcome);
  const reader = responseStream(chunks, { abort, watch, onEnd }).getReader();
  return { reader, state, abort, ended: ended.promise };
}

test("responseStream() breaks off a stream at the end of its longest life", async () => {
  const { reader, state, abort, ended } = openStalled(watchOf({ maxMs: 20 }));
  await reader.read();
  expect(await ended).toEqual({ outcome: "cut", reason: "lasted_too_long" });
  expect([state.isReturned, abort.signal.aborted]).toEqual([true, true]);
  await expect(reader.read()).rejects.toThrow("lasted_too_long");
});

test("responseStream() breaks off a slow reader once others are refused, and not before", async () => {
  const slots = new Semaphore({ max: 1, perHolder: 1, perGroup: 1 });
  const taken = slots.take({ holder: "slow", group: null });
  if (!taken.ok) throw new Error("there is a slot");
  const looks = { count: 0 };
  const permit = {
    ...taken.permit,
    isContended(withinMs: number) {
      looks.count += 1;
      // Others come when the reader has been slow for a while.
      if (looks.count === 30) slots.take({ holder: "other", group: null });
      return taken.permit.isContended(withinMs);
    },
  };
  const rules = { slowWindowMs: 12, minBytesPerSecond: 1_000_000 };
  const { reader, ended } = openStalled(watchOf(rules, { permit }));
  await reader.read();
  expect(await ended).toEqual({ outcome: "cut", reason: "reader_too_slow" });
  expect(looks.count).toBeGreaterThanOrEqual(30);
});

test("responseStream() breaks off when its caller may not have it any more", async () => {
  const responses = [true, true, false];
  const mayContinue = async () => responses.shift() ?? false;
  const { ended } = openStalled(watchOf({ accessCheckMs: 5 }, { mayContinue }));
  expect(await ended).toEqual({ outcome: "cut", reason: "access_ended" });
  expect(responses).toEqual([]);
});

test("responseStream() is never more than one chunk ahead of its reader", async () => {
  let made = 0;
  async function* generate(): AsyncGenerator<Uint8Array, void, void> {
    for (; ; made += 1) yield new Uint8Array(10);
  }
  const options = { abort: new AbortController(), watch: watchOf(), onEnd: async () => {} };
  const reader = responseStream(generate(), options).getReader();
  for (let read = 1; read <= 5; read += 1) {
    await reader.read();
    expect(made).toBeLessThanOrEqual(read);
  }
  await reader.cancel();
});

test("responseStream() sends the first chunk, and ends the source when the stream is canceled", async () => {
  for (const reads of [0, 1]) {
    const { chunks, state } = openChunks();
    const first = await chunks.next();
    const options = { first, abort: new AbortController(), watch: watchOf(), onEnd: async () => {} };
    const reader = responseStream(chunks, options).getReader();
    if (reads === 1) expect((await reader.read()).value).toBe(first.value ?? undefined);
    await reader.cancel();
    expect([reads, state.isReturned]).toEqual([reads, true]);
  }
});

test("responseStream() calls onEnd once, after its chunks were returned", async () => {
  const { chunks, state } = openChunks();
  const outcomes: StreamOutcome[] = [];
  const stream = responseStream(chunks, {
    abort: new AbortController(),
    watch: watchOf(),
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
