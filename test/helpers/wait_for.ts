/** Waits for a condition with a time limit, never for a fixed time. */

const PAUSE_MS = { min: 5, max: 200 };
/** Each pause is this share of the time waited so far, so that long waits cost little CPU. */
const PAUSE_SHARE = 1 / 10;

/** Waiting this long means a hang on any machine: some are ten times slower than others in everything. */
const HANG_MS = 300_000;

/** Polls until `check` returns something truthy, and returns it; rejects after `timeoutMs`, which is given only if it is a promise of ours. */
export async function waitFor<Value>(
  check: () => Value | Promise<Value>,
  timeoutMs = HANG_MS,
): Promise<NonNullable<Value>> {
  // Made here, so that its stack names the line that waits.
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
