import { expect, test } from "bun:test";
import { pause } from "../../../shared/process/with_timeout.ts";

const HOUR_MS = 3_600_000;

test("pause() ends when its signal is aborted, before it or during it, and throws nothing", async () => {
  const stop = new AbortController();
  const paused = pause(HOUR_MS, stop.signal);
  stop.abort(new Error("the process stops"));
  expect(await paused).toBeUndefined();
  expect(await pause(HOUR_MS, stop.signal)).toBeUndefined();
});

test("pause() ends by itself", async () => {
  expect(await pause(1)).toBeUndefined();
  expect(await pause(1, new AbortController().signal)).toBeUndefined();
});
