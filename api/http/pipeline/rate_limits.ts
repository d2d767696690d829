/**
 * The rate limits: whose requests are counted, and against which of the numbers RATE_LIMIT_USER_PER_MINUTE and
 * RATE_LIMIT_ANONYMOUS_PER_MINUTE (shared/process/config_variables.ts). A request is authenticated here too, before anything
 * else, because the limit depends on the caller. The login limit is in api/accounts/sign_in/.
 */
import { LRUCache } from "lru-cache";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import { type Authenticate, unauthorized } from "../authenticate.ts";
import { hashSecret } from "../credentials.ts";
import {
  createRateCounter,
  type RateLimitState,
  rateLimited,
  rateLimitHeaders,
} from "../limits/rate_counter.ts";
import type { Metrics, RateLimitKind } from "../metrics.ts";
import type { RequestContext } from "../request_context.ts";
import { clearedSessionCookie, readSessionTokens } from "../session_cookie.ts";

/** Some 1 MB of hashes. */
const MAX_PROVEN = 10_000;

export interface RateLimits {
  /**
   * Sets the context's caller and rate limit headers. Throws `UNAUTHORIZED` or `RATE_LIMITED`. The session cookie is a
   * credential if there is no Authorization header, unless the route ignores it.
   */
  admitCaller(headers: Headers, context: RequestContext, options: { ignoresCookie: boolean }): Promise<void>;
  /**
   * Sets the context's caller for a page from the session cookie, and from nothing else. A cookie without a valid session is
   * cleared. Throws `RATE_LIMITED`.
   */
  admitVisitor(headers: Headers, context: RequestContext): Promise<void>;
  /**
   * Looks up the caller's credential once more and updates the context's caller. Counts nothing. Throws `UNAUTHORIZED` if the
   * credential has ended.
   */
  confirmCaller(context: RequestContext): Promise<void>;
  /** Counts a request outside the API, which needs no credential. Throws `RATE_LIMITED`. */
  admitAddress(context: RequestContext): void;
}

interface RateLimitsDeps {
  config: Config;
  authenticate: Authenticate;
  metrics: Pick<Metrics, "rateLimited">;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Returns the token of the cookie as an Authorization header; null without one. Throws `UNAUTHORIZED` for two. */
function toAuthorization([token, ...others]: readonly string[]): string | null {
  if (token === undefined) return null;
  // Someone else has set one of them; taking either would let them choose the session.
  if (others.length > 0) throw unauthorized(TEXTS.UNAUTHORIZED.cookies);
  return `Bearer ${token}`;
}

/** Users, addresses and pages have separate counters, so that a flood of one cannot evict the others. */
export function createRateLimits(deps: RateLimitsDeps): RateLimits {
  const { authenticate, config, metrics, now } = deps;
  const users = createRateCounter({ limit: config.rateLimitUserPerMinute, now });
  const addresses = createRateCounter({ limit: config.rateLimitAnonymousPerMinute, now });
  const pageAddresses = createRateCounter({ limit: config.rateLimitAnonymousPerMinute, now });
  /** Hashes of credentials that have worked in this process. Over an address's limit, all others count as guesses. */
  const proven = new LRUCache<string, true>({ max: MAX_PROVEN });

  function apply(context: RequestContext, kind: RateLimitKind, state: RateLimitState): void {
    Object.assign(context.responseHeaders, rateLimitHeaders(state, { policy: kind, now: now() }));
    if (state.allowed) return;
    metrics.rateLimited.inc({ kind });
    throw rateLimited(state, now());
  }

  /** As `authenticate`, but without a query for guesses from an address over its limit. */
  async function authenticateWithin(authorization: string | null, context: RequestContext): Promise<void> {
    if (authorization === null) return;
    const hash = hashSecret(authorization).toString("latin1");
    if (!proven.has(hash)) apply(context, "address", addresses.peek(context.network));
    try {
      context.caller = await authenticate(authorization);
      context.authorization = authorization;
      proven.set(hash, true);
    } catch (error) {
      if (error instanceof ApiError) proven.delete(hash);
      throw error;
    }
  }

  /** Scripts cannot see this cookie, so only the service can delete it. */
  function clearCookie(context: RequestContext, { code }: ApiError): void {
    if (!context.usesCookie || code !== "UNAUTHORIZED") return;
    context.responseHeaders["Set-Cookie"] = clearedSessionCookie(config);
  }

  async function identify(headers: Headers, context: RequestContext, readsCookie: boolean): Promise<void> {
    const authorization = headers.get("authorization");
    const tokens = authorization === null && readsCookie ? readSessionTokens(headers, config) : [];
    context.usesCookie = tokens.length === 1;
    try {
      await authenticateWithin(authorization ?? toAuthorization(tokens), context);
    } catch (error) {
      // Guesses count against their address, except those that were rejected for its limit.
      if (error instanceof ApiError) {
        clearCookie(context, error);
        if (error.code !== "RATE_LIMITED") apply(context, "address", addresses.take(context.network));
      }
      throw error;
    }
  }

  return {
    async admitCaller(headers, context, { ignoresCookie }) {
      // While the caller is unknown, nothing is counted: an unavailable database must not use up anyone's requests.
      Object.assign(
        context.responseHeaders,
        rateLimitHeaders(addresses.peek(context.network), { policy: "address", now: now() }),
      );
      await identify(headers, context, !ignoresCookie);
      const { caller } = context;
      if (caller) apply(context, "user", users.take(caller.userId));
      else apply(context, "address", addresses.take(context.network));
    },
    async admitVisitor(headers, context) {
      const cookie = headers.get("cookie");
      try {
        if (cookie !== null) await identify(new Headers({ cookie }), context, true);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "UNAUTHORIZED") throw error;
        context.usesCookie = false;
      }
      const { caller } = context;
      if (caller) apply(context, "user", users.take(caller.userId));
      else apply(context, "page", pageAddresses.take(context.network));
    },
    async confirmCaller(context) {
      const { authorization } = context;
      if (authorization === null) return;
      try {
        context.caller = await authenticate(authorization);
      } catch (error) {
        if (error instanceof ApiError) {
          context.caller = null;
          clearCookie(context, error);
        }
        throw error;
      }
    },
    admitAddress: (context) => apply(context, "page", pageAddresses.take(context.network)),
  };
}
