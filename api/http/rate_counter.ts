/**
 * Counts requests per key and minute in this process. pipeline/rate_limits.ts chooses the keys and limits. Windows are fixed
 * and begin with a key's first request. Such a window needs one counter per key and constant time, and makes
 * `X-RateLimit-Reset` exact. A client can send up to twice the limit around the end of a window. That is acceptable, because
 * this limit shares load and protects no secret.
 */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";

const WINDOW_MS = 60_000;
/** Takes at most about 20 MB. At this number, the oldest window is evicted. */
const MAX_KEYS = 100_000;

/** The limit that a request counted against, and the remaining requests. */
export interface RateLimit {
  /** The kind of key that is counted: `user`, `address`, `page` or `sign_in`. */
  policy: string;
  limit: number;
  /** Requests left in the window; 0 after the last allowed request and for a rejected request. */
  remaining: number;
  /** The end of the window, in milliseconds since the epoch. */
  resetAt: number;
}

/** The state of a key's window, and whether it allows the request. */
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
  /** Ordered by the start of the window, so the first entry ends first. */
  readonly #windows = new Map<string, Window>();

  /** `limit` is the number of requests per window. `now` returns milliseconds since the epoch. */
  constructor({ limit, maxKeys = MAX_KEYS, now }: { limit: number; maxKeys?: number; now: () => number }) {
    this.#limit = limit;
    this.#maxKeys = maxKeys;
    this.#now = now;
  }

  /** Counts a request. The key's limit is `share` times the counter's limit. */
  take(key: string, share = 1): RateLimitState {
    const time = this.#now();
    const limit = this.#limit * share;
    const window = this.#findOpen(key, time) ?? this.#open(key, time);
    const allowed = window.used < limit;
    if (allowed) window.used += 1;
    return { limit, remaining: limit - window.used, resetAt: window.resetAt, allowed };
  }

  /** Returns the state of a key without counting a request. */
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
    // `Map.set` would keep the position of an existing key.
    this.#windows.delete(key);
    this.#dropEnded(time);
    this.#windows.set(key, window);
    return window;
  }

  /** Drops up to two windows per request, so that the map shrinks faster than it can grow. */
  #dropEnded(time: number): void {
    for (let step = 0; step < 2; step += 1) {
      const [oldest] = this.#windows;
      if (!oldest || (isOpen(oldest[1], time) && this.#windows.size < this.#maxKeys)) return;
      this.#windows.delete(oldest[0]);
    }
  }
}

/** Returns whether a window is open. A window that ends too late began before the system clock was set back. */
function isOpen({ resetAt }: Window, time: number): boolean {
  return resetAt > time && resetAt <= time + WINDOW_MS;
}

/**
 * Returns the headers of responses under /api/v1: the three `X-RateLimit` headers, and the two headers of the IETF draft
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
