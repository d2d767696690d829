/** Waits with a limit: a time, a signal or a condition. */
import { setTimeout as delay } from "node:timers/promises";

/** Thrown when a time limit ends before the work has finished. */
export class DeadlineExceeded extends Error {
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`No result within ${timeoutMs} ms`);
    this.name = "DeadlineExceeded";
    this.timeoutMs = timeoutMs;
  }
}

/**
 * Returns the result of `work`, or rejects with `DeadlineExceeded` after `timeoutMs`. The work itself is not stopped. If it
 * fails after the deadline, the failure is ignored.
 */
export function withTimeout<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => reject(new DeadlineExceeded(timeoutMs)), timeoutMs);
  void work.then(resolve, reject).then(() => clearTimeout(timer));
  return promise;
}

/** Returns whether `promise` settles within `timeoutMs`. Does not cancel its work. */
export function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const hasSettled = () => true;
  return Promise.race([promise.then(hasSettled, hasSettled), delay(timeoutMs, false, { ref: false })]);
}

/** Settles like `promise`, or rejects with the signal's reason if `signal` is aborted first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", onAbort));
}

/** Resolves after `ms` milliseconds, or immediately when `signal` is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
}

/** Calls `check` until it returns true. Returns false if this takes longer than `timeoutMs`. */
export async function pollUntil(
  check: () => boolean | Promise<boolean>,
  options: { timeoutMs: number; intervalMs: number },
): Promise<boolean> {
  const deadline = performance.now() + options.timeoutMs;
  while (!(await check())) {
    if (performance.now() >= deadline) return false;
    await delay(options.intervalMs);
  }
  return true;
}
