/**
 * Applies the rate limits: RATE_LIMIT_USER_PER_MINUTE to users, RATE_LIMIT_ANONYMOUS_PER_MINUTE to addresses
 * (shared/process/config_variables.ts). It authenticates a request first, because the limit depends on the caller. The login
 * limit is in api/accounts/sign_in/.
 */
import { LRUCache } from "lru-cache";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import { type Authenticate, readCredential, unauthorized } from "../authenticate.ts";
import { SITE_SHARE, siteOf } from "../client_address.ts";
import type { SentCredential } from "../credentials.ts";
import type { Metrics, RateLimitKind } from "../metrics.ts";
import { RateCounter, type RateLimitState, rateLimited } from "../rate_counter.ts";
import type { RequestContext } from "../request_context.ts";
import { clearedSessionCookie, readSessionTokens } from "../session_cookie.ts";

/** Takes about 1 MB. */
const MAX_PROVEN = 10_000;

interface RateLimitsDeps {
  config: Config;
  authenticate: Authenticate;
  metrics: Pick<Metrics, "rateLimited">;
  /** Returns milliseconds since the epoch. */
  now: () => number;
}

/** Returns the cookie's token as an Authorization header; null without a token. Throws `UNAUTHORIZED` for several tokens. */
function toAuthorization([token, ...others]: readonly string[]): string | null {
  if (token === undefined) return null;
  // Someone else has set one of the cookies. Accepting either cookie would let them choose the session.
  if (others.length > 0) throw unauthorized(TEXTS.UNAUTHORIZED.cookies);
  return `Bearer ${token}`;
}

/** Applies `count` to the client's network, then to its /48. Returns the state with fewer requests left. */
function countNetworks(
  { address, network }: RequestContext,
  count: (key: string, share: number) => RateLimitState,
): RateLimitState {
  const state = count(network, 1);
  const site = siteOf(address);
  if (!state.allowed || site === null) return state;
  const shared = count(site, SITE_SHARE);
  return !shared.allowed || shared.remaining < state.remaining ? shared : state;
}

export type RateLimits = ReturnType<typeof createRateLimits>;

/** Counts users, addresses and pages separately, so that a flood of one kind cannot evict counters of another. */
export function createRateLimits({ authenticate, config, metrics, now }: RateLimitsDeps) {
  const users = new RateCounter({ limit: config.rateLimitUserPerMinute, now });
  const addresses = new RateCounter({ limit: config.rateLimitAnonymousPerMinute, now });
  const pageAddresses = new RateCounter({ limit: config.rateLimitAnonymousPerMinute, now });
  /** Hashes of credentials that were valid in this process. Over an address's limit, all other credentials count as guesses. */
  const proven = new LRUCache<string, true>({ max: MAX_PROVEN });

  const peekAddress = (context: RequestContext) =>
    countNetworks(context, (key, share) => addresses.peek(key, share));
  const takeAddress = (context: RequestContext, counter = addresses) =>
    countNetworks(context, (key, share) => counter.take(key, share));

  function apply(context: RequestContext, policy: RateLimitKind, state: RateLimitState): void {
    context.rateLimit = { policy, ...state };
    if (state.allowed) return;
    metrics.rateLimited.inc({ kind: policy });
    throw rateLimited(state, now());
  }

  /** Sets the context's caller. Rejects guesses from an address over its limit, without a database query. */
  async function authenticateWithin(context: RequestContext, sent: SentCredential): Promise<void> {
    const key = sent.hash.toString("latin1");
    if (!proven.has(key)) apply(context, "address", peekAddress(context));
    try {
      context.caller = await authenticate(sent);
      context.sentCredential = sent;
      proven.set(key, true);
    } catch (error) {
      if (error instanceof ApiError) proven.delete(key);
      throw error;
    }
  }

  /** Clears an invalid session cookie. Scripts cannot see the cookie, so only the service can delete it. */
  function clearCookie(context: RequestContext, { code }: ApiError): void {
    if (!context.usesCookie || code !== "UNAUTHORIZED") return;
    context.responseHeaders["Set-Cookie"] = clearedSessionCookie(config);
  }

  async function identify(
    context: RequestContext,
    { authorization, readsCookie }: { authorization: string | null; readsCookie: boolean },
  ): Promise<void> {
    const isCookie = authorization === null && readsCookie;
    const tokens = isCookie ? readSessionTokens(context.request.headers, config) : [];
    context.usesCookie = tokens.length === 1;
    try {
      const given = authorization ?? toAuthorization(tokens);
      if (given !== null) await authenticateWithin(context, readCredential(given));
    } catch (error) {
      // A guess counts against its address, unless the limit of the address rejected it.
      if (error instanceof ApiError) {
        clearCookie(context, error);
        if (error.code !== "RATE_LIMITED") apply(context, "address", takeAddress(context));
      }
      throw error;
    }
  }

  /** Counts a request outside the API, which needs no credential. Throws `RATE_LIMITED`. */
  function admitAddress(context: RequestContext): void {
    apply(context, "page", takeAddress(context, pageAddresses));
  }

  return {
    /**
     * Sets the context's caller and rate limit. Throws `UNAUTHORIZED` or `RATE_LIMITED`. The session cookie is the credential
     * if there is no Authorization header and the route does not ignore the cookie.
     */
    async admitCaller(context: RequestContext, { ignoresCookie }: { ignoresCookie: boolean }): Promise<void> {
      const { request } = context;
      // Nothing is counted before authentication, so that a database outage does not use up a caller's limit.
      context.rateLimit = { policy: "address", ...peekAddress(context) };
      const authorization = request.headers.get("authorization");
      await identify(context, { authorization, readsCookie: !ignoresCookie });
      const { caller } = context;
      if (caller) apply(context, "user", users.take(caller.userId));
      else apply(context, "address", takeAddress(context));
    },
    /**
     * Sets the context's caller and rate limit for a page. Only the session cookie is used. A cookie without a valid session is
     * cleared. Throws `RATE_LIMITED`.
     */
    async admitVisitor(context: RequestContext): Promise<void> {
      try {
        await identify(context, { authorization: null, readsCookie: true });
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "UNAUTHORIZED") throw error;
        context.usesCookie = false;
      }
      const { caller } = context;
      if (caller) apply(context, "user", users.take(caller.userId));
      else admitAddress(context);
    },
    admitAddress,
    /**
     * Authenticates the caller again and updates the context. Counts no request. Throws `UNAUTHORIZED` if the credential has
     * ended.
     */
    async confirmCaller(context: RequestContext): Promise<void> {
      if (context.sentCredential === null) return;
      try {
        context.caller = await authenticate(context.sentCredential);
      } catch (error) {
        if (error instanceof ApiError) {
          context.caller = null;
          clearCookie(context, error);
        }
        throw error;
      }
    },
  };
}
