/** Declares, on every route, who may call it, and hands the handler its caller. A route without it cannot be built. */
import { Elysia } from "elysia";
import { unauthorized } from "./authenticate.ts";
import type { Caller } from "./caller.ts";
import { requestContext } from "./request_context.ts";

/**
 * `public`: everyone, with or without a credential. `caller`: anybody with a valid credential. `session`: anybody who
 * signed in.
 */
export type Access = "public" | "caller" | "session";

/** Where a route's access stands, for the checks before a handler runs, the tests and the OpenAPI document. */
export const ACCESS_FIELD = "x-access";

/** Where a route says that it looks past the session cookie. */
export const PAST_COOKIE_FIELD = "x-past-cookie";

/**
 * Goes into a route's `detail`: browsers send a cookie whether it is still good or not, and who signs in anew must not
 * be refused for the old one.
 */
export function looksPastCookie(): object {
  return { [PAST_COOKIE_FIELD]: true };
}

/** Where a route says that it only reads, whatever its method. */
export const READS_FIELD = "x-reads";

/** Goes into a route's `detail`: a POST that asks a question too long for a URL writes nothing. */
export function onlyReads(): object {
  return { [READS_FIELD]: true };
}

/** Where a route says that its response holds a secret. */
export const SECRET_FIELD = "x-secret";

/** Goes into a route's `detail`: the response holds a secret that is shown once, so it is never kept. */
export function holdsSecret(): object {
  return { [SECRET_FIELD]: true };
}

/** Where a route outside of /api/v1 says that its requests are not limited. */
export const NOT_COUNTED_FIELD = "x-not-counted";

/**
 * Goes into a route's `detail`: what is sent from memory costs no more than a refusal, and probes must never be refused.
 */
export function notCounted(): object {
  return { [NOT_COUNTED_FIELD]: true };
}

/** Where a route says that it is a page for people. */
export const PAGE_FIELD = "x-page";

/** Room for some texts; pages that take documents need more. */
const FORM_MAX_BYTES = 64 * 1024;

/**
 * Goes into a route's `detail`: a page for people. Its caller is the session of the cookie, or nobody; its bodies are
 * forms of our own pages; it calls the API and may read no more than that gives.
 */
export function isPage({ maxFormBytes = FORM_MAX_BYTES } = {}): object {
  return { hide: true, [PAGE_FIELD]: { maxFormBytes } };
}

/** `object`, as Elysia types `detail` as OpenAPI's fields and nothing else. */
function declare(level: Access): object {
  return { [ACCESS_FIELD]: level };
}

/** Who is calling; refuses anonymous callers, which app.ts has done before when the route says so. */
function callerOf(request: Request): Caller {
  const { caller } = requestContext(request);
  if (!caller) throw unauthorized();
  return caller;
}

/**
 * One of the two on every route: `access: "caller"` or `"session"` puts `caller: Caller` into the handler's context,
 * `publicAccess: true` puts `visitor: Caller | null`.
 */
export const access = new Elysia({ name: "access" }).macro({
  access: (level: Exclude<Access, "public">) => ({
    detail: declare(level),
    resolve: ({ request }: { request: Request }) => ({ caller: callerOf(request) }),
  }),
  publicAccess: (_: true) => ({
    detail: declare("public"),
    resolve: ({ request }: { request: Request }) => ({ visitor: requestContext(request).caller }),
  }),
});
