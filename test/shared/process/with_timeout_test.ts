import { expect, test } from "bun:test";
import { pause } from "../../../shared/process/with_timeout.ts";

const HOUR_MS = 3_600_000;

test("pause() resolves without an error if its signal is aborted before or during the pause", async () => {
  const stop = new AbortController();
  const paused = pause(HOUR_MS, stop.signal);
  stop.abort(new Error("the process stops"));
  expect(await paused).toBeUndefined();
  expect(await pause(HOUR_MS, stop.signal)).toBeUndefined();
});

test("pause() resolves after its duration", async () => {
  expect(await pause(1)).toBeUndefined();
  expect(await pause(1, new AbortController().signal)).toBeUndefined();
});
