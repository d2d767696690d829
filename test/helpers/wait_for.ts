/** Waits for a condition with a time limit, never for a fixed time. */

const PAUSE_MS = { min: 5, max: 200 };
/** Each pause is this share of the time waited so far, so that long waits cost little CPU. */
const PAUSE_SHARE = 1 / 20;

/** Polls until `check` returns something truthy, and returns it; rejects after `timeoutMs`. */
export async function waitFor<Value>(
  check: () => Value | Promise<Value>,
  timeoutMs = 60_000,
): Promise<NonNullable<Value>> {
  const begun = performance.now();
  while (true) {
    const value = await check();
    if (value) return value;
    const waitedMs = performance.now() - begun;
    if (waitedMs > timeoutMs) {
      throw new Error(`Cannot go on: the condition did not hold in ${timeoutMs} ms`);
    }
    await Bun.sleep(Math.min(Math.max(PAUSE_MS.min, waitedMs * PAUSE_SHARE), PAUSE_MS.max));
  }
}
