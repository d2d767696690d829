/** Who is calling, and whether they may call now: the first thing that happens to every request under /api/v1. */
import type { Config } from "../shared/config.ts";
import { ApiError } from "../shared/errors.ts";
import { type Authenticate, unauthorized } from "./authenticate.ts";
import { createRateLimiter, type RateLimitState, rateLimited, rateLimitHeaders } from "./rate_limit.ts";
import type { RequestContext } from "./request_context.ts";
import { clearedSessionCookie, readSessionCookie, type SessionCookie } from "./session_cookie.ts";

/**
 * Sets the context's caller and rate limit headers. Throws `UNAUTHORIZED` or `RATE_LIMITED`. The session cookie is a
 * credential where there is no Authorization header, unless the route looks past it.
 */
export type Admit = (
  headers: Headers,
  context: RequestContext,
  options: { looksPastCookie: boolean },
) => Promise<void>;

export interface AdmissionDeps {
  config: Config;
  authenticate: Authenticate;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The same as others send in the header. Throws `UNAUTHORIZED` when the cookie is none of ours. */
function toAuthorization({ token }: SessionCookie): string {
  if (token === null) throw unauthorized("the session cookie holds no session");
  return `Bearer ${token}`;
}

/** Users are counted apart from addresses, so that a flood of one cannot push out the other's counters. */
export function createAdmit(deps: AdmissionDeps): Admit {
  const { authenticate, config, now } = deps;
  const users = createRateLimiter({ limit: config.rateLimitUserPerMinute, now });
  const addresses = createRateLimiter({ limit: config.rateLimitAnonymousPerMinute, now });

  function apply(context: RequestContext, state: RateLimitState): void {
    Object.assign(context.answerHeaders, rateLimitHeaders(state));
    if (!state.allowed) throw rateLimited(state, now());
  }

  async function identify(headers: Headers, context: RequestContext, readsCookie: boolean): Promise<void> {
    const authorization = headers.get("authorization");
    const cookie = authorization === null && readsCookie ? readSessionCookie(headers) : null;
    context.usesCookie = typeof cookie?.token === "string";
    try {
      context.caller = await authenticate(cookie ? toAuthorization(cookie) : authorization);
    } catch (error) {
      // A guess counts for the address it comes from.
      if (error instanceof ApiError) {
        // Nobody but us can make a browser forget a cookie that scripts do not see; another program's is its own.
        if (context.usesCookie) context.answerHeaders["Set-Cookie"] = clearedSessionCookie(config);
        apply(context, addresses.take(context.network));
      }
      throw error;
    }
  }

  return async (headers, context, { looksPastCookie }) => {
    // Until the caller is known: a database that is away uses up nobody's requests.
    Object.assign(context.answerHeaders, rateLimitHeaders(addresses.peek(context.network)));
    await identify(headers, context, !looksPastCookie);
    const { caller } = context;
    apply(context, caller ? users.take(caller.userId) : addresses.take(context.network));
  };
}
