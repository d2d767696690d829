/**
 * Counts requests per user or address and minute in this process; pipeline/rate_limits.ts decides whose and how many.
 * Windows are fixed and begin with a key's first request: one counter per key, constant time, and an exact
 * `X-RateLimit-Reset`. A client can send up to twice the limit around the end of a window; that is acceptable, because
 * this limit shares load and protects no secret.
 */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";

const WINDOW_MS = 60_000;
/** Some 20 MB of counters at most; the oldest window is evicted. */
const MAX_KEYS = 100_000;

/** The state of a key after a request. */
export interface RateLimitState {
  limit: number;
  /** Requests left in the window; 0 after the last allowed request and for rejected ones. */
  remaining: number;
  /** Milliseconds since the epoch. */
  resetAt: number;
  allowed: boolean;
}

interface RateCounter {
  /** Counts a request. */
  take(key: string): RateLimitState;
  /** Returns the state without counting. */
  peek(key: string): RateLimitState;
  /** Reverses a `take` that was allowed, if its window has not ended. */
  giveBack(key: string): void;
}

interface RateCounterOptions {
  /** Requests per window. */
  limit: number;
  maxKeys?: number;
  /** Milliseconds since the epoch; replaced in tests. */
  now?: () => number;
}

interface Window {
  used: number;
  resetAt: number;
}

/** A window that would last longer than it can was opened before the machine's clock was set back. */
function isOpen({ resetAt }: Window, time: number): boolean {
  return resetAt > time && resetAt <= time + WINDOW_MS;
}

export function createRateCounter(options: RateCounterOptions): RateCounter {
  const { limit, maxKeys = MAX_KEYS, now = Date.now } = options;
  /** Ordered by the start of the window: the first entry ends first. */
  const windows = new Map<string, Window>();

  /** Two steps a request: the map shrinks faster than it can grow. */
  function dropEnded(time: number): void {
    for (let step = 0; step < 2; step += 1) {
      const [oldest] = windows;
      if (!oldest || (isOpen(oldest[1], time) && windows.size < maxKeys)) return;
      windows.delete(oldest[0]);
    }
  }

  function take(key: string): RateLimitState {
    const time = now();
    const current = windows.get(key);
    if (current && isOpen(current, time)) {
      const allowed = current.used < limit;
      if (allowed) current.used += 1;
      return { limit, remaining: limit - current.used, resetAt: current.resetAt, allowed };
    }
    // Setting an existing key would keep its old position.
    windows.delete(key);
    dropEnded(time);
    windows.set(key, { used: 1, resetAt: time + WINDOW_MS });
    return { limit, remaining: limit - 1, resetAt: time + WINDOW_MS, allowed: true };
  }

  function peek(key: string): RateLimitState {
    const time = now();
    const current = windows.get(key);
    if (!current || !isOpen(current, time)) {
      return { limit, remaining: limit, resetAt: time + WINDOW_MS, allowed: true };
    }
    const remaining = limit - current.used;
    return { limit, remaining, resetAt: current.resetAt, allowed: remaining > 0 };
  }

  function giveBack(key: string): void {
    const current = windows.get(key);
    if (current && isOpen(current, now()) && current.used > 0) current.used -= 1;
  }

  return { take, peek, giveBack };
}

/**
 * Returns the headers of every response under /api/v1: the three `X-RateLimit` headers, and the two of the IETF draft
 * "RateLimit header fields for HTTP". `policy` says what is counted: `user`, `address`, `page` or `sign_in`.
 */
export function rateLimitHeaders(
  state: RateLimitState,
  { policy, now }: { policy: string; now: number },
): Record<string, string> {
  const seconds = Math.max(0, Math.ceil((state.resetAt - now) / 1000));
  return {
    "RateLimit-Policy": `"${policy}";q=${state.limit};w=${WINDOW_MS / 1000}`,
    RateLimit: `"${policy}";r=${state.remaining};t=${seconds}`,
    "X-RateLimit-Limit": String(state.limit),
    "X-RateLimit-Remaining": String(state.remaining),
    "X-RateLimit-Reset": String(Math.ceil(state.resetAt / 1000)),
  };
}

/** Returns the error for a request over the limit. */
export function rateLimited(state: RateLimitState, now: number): ApiError {
  const seconds = Math.max(1, Math.ceil((state.resetAt - now) / 1000));
  return new ApiError("RATE_LIMITED", {
    message: TEXTS.RATE_LIMITED.requests({ limit: state.limit, seconds }),
    retryAfter: seconds,
  });
}
