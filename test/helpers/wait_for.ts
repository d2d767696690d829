/** Waits for a condition, up to a time limit, instead of sleeping for a fixed time. */

const PAUSE_MS = { min: 5, max: 200 };
/** Each pause is this share of the time waited so far, so that long waits cost little CPU. */
const PAUSE_SHARE = 1 / 10;

/** A wait this long counts as a hang on any machine. Some machines are ten times slower than others. */
const HANG_MS = 300_000;

/**
 * Polls until `check` returns a truthy value, and returns that value. Rejects after `timeoutMs`. Set `timeoutMs` only
 * if the service promises that time.
 */
export async function waitFor<Value>(
  check: () => Value | Promise<Value>,
  timeoutMs = HANG_MS,
): Promise<NonNullable<Value>> {
  // Created before the first `await`, so that its stack trace includes the caller.
  const failure = new Error(`Cannot go on: the condition did not hold in ${timeoutMs} ms`);
  const begun = performance.now();
  while (true) {
    const value = await check();
    if (value) return value;
    const waitedMs = performance.now() - begun;
    if (waitedMs > timeoutMs) throw failure;
    await Bun.sleep(Math.min(Math.max(PAUSE_MS.min, waitedMs * PAUSE_SHARE), PAUSE_MS.max));
  }
}
