/** Waiting in tests: for a condition, with a bound, never for a length of time. */

const PAUSE_MS = 5;

/** Polls until `check` gives something true, and returns that; rejects after `timeoutMs`. */
export async function waitFor<Value>(
  check: () => Value | Promise<Value>,
  timeoutMs = 60_000,
): Promise<NonNullable<Value>> {
  const deadline = performance.now() + timeoutMs;
  while (true) {
    const value = await check();
    if (value) return value;
    if (performance.now() > deadline) {
      throw new Error(`Cannot go on: the condition did not hold in ${timeoutMs} ms`);
    }
    await Bun.sleep(PAUSE_MS);
  }
}
