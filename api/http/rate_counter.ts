/**
 * Counts requests per user or address and minute in this process; pipeline/rate_limits.ts decides whose and how many.
 * Windows are fixed and begin with a key's first request: one counter per key, constant time, and an exact
 * `X-RateLimit-Reset`. A client can send up to twice the limit around the end of a window; that is acceptable, because
 * this limit shares load and protects no secret.
 */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";

const WINDOW_MS = 60_000;
/** Some 20 MB of counters at most; the oldest window is evicted. */
const MAX_KEYS = 100_000;

/** A limit that a request counted against, and what is left of it. */
export interface RateLimit {
  /** The kind of subject that is counted: `user`, `address`, `page` or `sign_in`. */
  policy: string;
  limit: number;
  /** Requests left in the window; 0 after the last allowed request and for rejected ones. */
  remaining: number;
  /** The end of the window, in milliseconds since the epoch. */
  resetAt: number;
}

/** The state of a key after a request. */
export interface RateLimitState extends Omit<RateLimit, "policy"> {
  allowed: boolean;
}

interface Window {
  used: number;
  resetAt: number;
}

export class RateCounter {
  readonly #limit: number;
  readonly #maxKeys: number;
  readonly #now: () => number;
  /** Ordered by the start of the window: the first entry ends first. */
  readonly #windows = new Map<string, Window>();

  /** `limit` is the number of requests per window; `now` returns milliseconds since the epoch. */
  constructor({ limit, maxKeys = MAX_KEYS, now }: { limit: number; maxKeys?: number; now: () => number }) {
    this.#limit = limit;
    this.#maxKeys = maxKeys;
    this.#now = now;
  }

  /** Counts a request of a key that has `share` times the limit. */
  take(key: string, share = 1): RateLimitState {
    const time = this.#now();
    const limit = this.#limit * share;
    const window = this.#findOpen(key, time) ?? this.#open(key, time);
    const allowed = window.used < limit;
    if (allowed) window.used += 1;
    return { limit, remaining: limit - window.used, resetAt: window.resetAt, allowed };
  }

  /** Returns the state without counting. */
  peek(key: string, share = 1): RateLimitState {
    const time = this.#now();
    const { used, resetAt } = this.#findOpen(key, time) ?? { used: 0, resetAt: time + WINDOW_MS };
    const limit = this.#limit * share;
    const remaining = limit - used;
    return { limit, remaining, resetAt, allowed: remaining > 0 };
  }

  #findOpen(key: string, time: number): Window | null {
    const window = this.#windows.get(key);
    return window && isOpen(window, time) ? window : null;
  }

  #open(key: string, time: number): Window {
    const window = { used: 0, resetAt: time + WINDOW_MS };
    // Setting an existing key would keep its old position.
    this.#windows.delete(key);
    this.#dropEnded(time);
    this.#windows.set(key, window);
    return window;
  }

  /** Two steps a request: the map shrinks faster than it can grow. */
  #dropEnded(time: number): void {
    for (let step = 0; step < 2; step += 1) {
      const [oldest] = this.#windows;
      if (!oldest || (isOpen(oldest[1], time) && this.#windows.size < this.#maxKeys)) return;
      this.#windows.delete(oldest[0]);
    }
  }
}

/** A window that would last longer than it can was opened before the machine's clock was set back. */
function isOpen({ resetAt }: Window, time: number): boolean {
  return resetAt > time && resetAt <= time + WINDOW_MS;
}

/**
 * Returns the headers of every response under /api/v1: the three `X-RateLimit` headers, and the two of the IETF draft
 * "RateLimit header fields for HTTP".
 */
export function rateLimitHeaders(
  { policy, limit, remaining, resetAt }: RateLimit,
  now: number,
): Record<string, string> {
  const seconds = Math.max(0, Math.ceil((resetAt - now) / 1000));
  return {
    "RateLimit-Policy": `"${policy}";q=${limit};w=${WINDOW_MS / 1000}`,
    RateLimit: `"${policy}";r=${remaining};t=${seconds}`,
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(Math.ceil(resetAt / 1000)),
  };
}

/** Returns the error for a request over the limit. */
export function rateLimited({ limit, resetAt }: Pick<RateLimit, "limit" | "resetAt">, now: number): ApiError {
  const seconds = Math.max(1, Math.ceil((resetAt - now) / 1000));
  const message = TEXTS.RATE_LIMITED.requests({ limit, seconds });
  return new ApiError("RATE_LIMITED", { message, retryAfter: seconds });
}
