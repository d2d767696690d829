import { expect, test } from "bun:test";
import { Slots } from "../../../../api/http/limits/slots.ts";
import {
  type ResponseStreamOptions,
  responseStream,
  type StreamOutcome,
  type StreamRules,
  type StreamWatch,
} from "../../../../api/http/response/stream.ts";

/** Returns an endless generator of chunks, and a state that tells whether the generator was closed. */
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

/** Returns a watch that does not end a stream during a test, unless `rules` or `more` do. */
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

/** Returns the options of a stream whose connection does nothing. */
function optionsOf(given: Partial<ResponseStreamOptions> = {}): ResponseStreamOptions {
  return {
    abort: new AbortController(),
    watch: watchOf(),
    connection: { whenOver: async () => true, reset: () => {} },
    onSourceEnd: async () => {},
    onEnd: () => {},
    ...given,
  };
}

/** Opens an endless stream that is read only when the test calls the returned reader. */
function openStalled(watch: StreamWatch) {
  const { chunks, state } = openChunks();
  const abort = new AbortController();
  const ended = Promise.withResolvers<StreamOutcome>();
  let resets = 0;
  const reset = () => {
    resets += 1;
  };
  const connection = { whenOver: async () => false, reset };
  const onEnd = (outcome: StreamOutcome) => ended.resolve(outcome);
  const reader = responseStream(chunks, optionsOf({ abort, watch, connection, onEnd })).getReader();
  return { reader, state, abort, ended: ended.promise, resets: () => resets };
}

test("responseStream() cuts off a stream at the end of its maximum lifetime", async () => {
  const { reader, state, abort, ended, resets } = openStalled(watchOf({ maxMs: 20 }));
  await reader.read();
  expect(await ended).toEqual({ outcome: "cut", reason: "lasted_too_long" });
  expect([state.isReturned, abort.signal.aborted, resets()]).toEqual([true, true, 1]);
  await expect(reader.read()).rejects.toThrow("lasted_too_long");
});

test("responseStream() cuts off a slow reader only once other callers are refused", async () => {
  const texts = { holder: () => "holder", all: () => "all" };
  const slots = new Slots({ max: 1, perHolder: 1, perGroup: 1 }, texts);
  const taken = slots.take({ holder: "slow", group: null });
  const looks = { count: 0 };
  const permit = {
    ...taken,
    isContended(withinMs: number) {
      looks.count += 1;
      // From the 30th check on, the reader is slow, and another caller is refused at every check. Each refusal counts only
      // for the short `slowWindowMs`.
      if (looks.count >= 30) expect(() => slots.take({ holder: "other", group: null })).toThrow("all");
      return taken.isContended(withinMs);
    },
  };
  const rules = { slowWindowMs: 12, minBytesPerSecond: 1_000_000 };
  const { reader, ended } = openStalled(watchOf(rules, { permit }));
  await reader.read();
  expect(await ended).toEqual({ outcome: "cut", reason: "reader_too_slow" });
  expect(looks.count).toBeGreaterThanOrEqual(30);
});

test("responseStream() cuts off a stream when its caller loses access", async () => {
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
  const reader = responseStream(generate(), optionsOf()).getReader();
  for (let read = 1; read <= 5; read += 1) {
    await reader.read();
    expect(made).toBeLessThanOrEqual(read);
  }
  await reader.cancel();
});

test("responseStream() sends the chunk that was read ahead, and ends the source if the stream is canceled", async () => {
  for (const reads of [0, 1]) {
    const { chunks, state } = openChunks();
    const first = await chunks.next();
    const reader = responseStream(chunks, optionsOf({ first })).getReader();
    if (reads === 1) expect((await reader.read()).value).toBe(first.value ?? undefined);
    await reader.cancel();
    expect([reads, state.isReturned]).toEqual([reads, true]);
  }
});

test("responseStream() calls onSourceEnd and then onEnd once, after the last chunk", async () => {
  const { chunks, state } = openChunks();
  const outcomes: (StreamOutcome | "source")[] = [];
  const options = optionsOf({
    async onSourceEnd() {
      expect(state.isReturned).toBe(true);
      outcomes.push("source");
    },
    onEnd: (outcome) => void outcomes.push(outcome),
  });
  const reader = responseStream(chunks, options).getReader();
  await reader.read();
  await reader.cancel();
  await reader.cancel();
  expect(outcomes).toEqual(["source", { outcome: "aborted" }]);
});

test("responseStream() is complete once its last bytes are sent, and aborted if the client disconnects earlier", async () => {
  for (const [isSent, outcome] of [
    [true, "complete"],
    [false, "aborted"],
  ] as const) {
    const over = Promise.withResolvers<boolean>();
    const ended = Promise.withResolvers<StreamOutcome>();
    const released = Promise.withResolvers<void>();
    let isEnded = false;
    async function* generate(): AsyncGenerator<Uint8Array, void, void> {
      yield new Uint8Array(10);
    }
    const options = optionsOf({
      connection: { whenOver: () => over.promise, reset: () => {} },
      onSourceEnd: async () => released.resolve(),
      onEnd(end) {
        isEnded = true;
        ended.resolve(end);
      },
    });
    await new Response(responseStream(generate(), options)).arrayBuffer();
    // The source's resources are released even before the client has received all bytes.
    await released.promise;
    expect(isEnded).toBe(false);
    over.resolve(isSent);
    expect(await ended.promise).toEqual({ outcome });
  }
});

test("responseStream() resets the connection of a stream that fails", async () => {
  async function* fail(): AsyncGenerator<Uint8Array, void, void> {
    yield new Uint8Array(10);
    throw new Error("Cannot read on");
  }
  const reset = Promise.withResolvers<void>();
  const connection = { whenOver: async () => true, reset: () => reset.resolve() };
  const reader = responseStream(fail(), optionsOf({ connection })).getReader();
  await reader.read();
  await expect(reader.read()).rejects.toThrow("Cannot read on");
  await reset.promise;
});
